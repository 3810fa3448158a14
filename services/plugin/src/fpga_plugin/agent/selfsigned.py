"""Makes a self-signed certificate. Imported by the short-lived child process only."""

from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

COMMON_NAME_LENGTH = 64
"""Upper bound of X.520 for a common name; the full name is always in the SAN."""


def self_signed(node: str, *, days: int) -> tuple[bytes, bytes, float]:
    """A key and a certificate, both PEM, and the certificate's end in seconds since the epoch."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, node[:COMMON_NAME_LENGTH])])
    now = datetime.now(UTC)
    not_after = now + timedelta(days=days)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # A day of slack for nodes whose clocks differ.
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(not_after)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(node)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    public = certificate.public_bytes(serialization.Encoding.PEM)
    return private, public, not_after.timestamp()
