"""The agent's own key and certificate, which the manager pins.

Run as ``python -m fpga_plugin.agent.certificate`` by ``ensure_certificate``: the cryptography
library is loaded in that short-lived process and never in the plugin.
"""

import json
import os
import ssl
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fpga_common.domain.errors import Temporary
from fpga_plugin.state.durable import replace_durably
from fpga_plugin.state.unreadable import NONSENSE, folder_in, set_aside

VALID_DAYS: Final = 1825
RENEW_DAYS: Final = 90
CHILD_SECONDS: Final = 30.0

_DAY_SECONDS: Final = 86400.0


class CertificateNotMade(Temporary):
    """The child process failed; the message ends with what it said."""

    code = "certificate_not_made"


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """Where the agent's identity is kept."""

    folder: Path

    @property
    def key(self) -> Path:
        """The private key, PEM, readable by its owner alone."""
        return self.folder / "agent.key"

    @property
    def certificate(self) -> Path:
        """The certificate, PEM."""
        return self.folder / "agent.crt"

    @property
    def facts(self) -> Path:
        """For whom it is and until when, JSON: read without a certificate parser."""
        return self.folder / "agent.json"


def ensure_certificate(state_dir: Path, node: str) -> CertificateFiles:
    """Return the node's key and certificate; make them where absent, foreign or near their end.

    Damaged files are set aside. Raises CertificateNotMade.
    """
    try:
        files = CertificateFiles(folder_in(state_dir, "agent"))
        if not is_current(files, node, now=time.time()):
            _clear_way(files)
            _make_in_child(files, node)
    except OSError as error:
        raise CertificateNotMade(f"the agent's certificate: {error}") from error
    return files


def is_current(files: CertificateFiles, node: str, *, now: float) -> bool:
    """Whether the files are there, belong together, are for that node, and valid long enough."""
    try:
        facts = json.loads(files.facts.read_text(encoding="utf-8"))
        long_enough = facts["node"] == node and days_left(files, now) > RENEW_DAYS
    except (OSError, *NONSENSE):
        return False
    return long_enough and why_unusable(files) is None


def why_unusable(files: CertificateFiles) -> str | None:
    """Why the key and certificate that are there cannot be served, None where they can."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.certificate, files.key)
    except (OSError, ValueError) as error:
        return str(error)
    return None


def _clear_way(files: CertificateFiles) -> None:
    """Set aside what is damaged; a sound pair that is merely old or foreign is replaced."""
    reason = why_unusable(files)
    if reason is not None:
        for path in (files.key, files.certificate, files.facts):
            if os.path.lexists(path):
                set_aside(path, reason)


def days_left(files: CertificateFiles, now: float) -> float:
    """Days until the certificate ends. Raises OSError, ValueError, KeyError without facts."""
    facts = json.loads(files.facts.read_text(encoding="utf-8"))
    return (float(facts["not_after"]) - now) / _DAY_SECONDS


def _make_in_child(files: CertificateFiles, node: str) -> None:
    command = [sys.executable, "-m", __spec__.name, str(files.folder), node]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=CHILD_SECONDS)
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines()
        raise CertificateNotMade(f"the agent's certificate: {''.join(lines[-1:])}") from error
    except subprocess.TimeoutExpired as error:
        raise CertificateNotMade(f"not made within {CHILD_SECONDS:.0f} s") from error


def make_certificate(files: CertificateFiles, node: str) -> None:
    """Make an EC P-256 key and a self-signed certificate with the node's name. For the child."""
    from fpga_plugin.agent.selfsigned import self_signed

    key, certificate, not_after = self_signed(node, days=VALID_DAYS)
    files.facts.unlink(missing_ok=True)
    replace_durably(files.key, key)
    replace_durably(files.certificate, certificate, mode=0o644)
    facts = {"node": node, "not_after": not_after}
    replace_durably(files.facts, json.dumps(facts).encode(), mode=0o644)


if __name__ == "__main__":
    make_certificate(CertificateFiles(Path(sys.argv[1])), sys.argv[2])
