"""The kubelet's rules for a Register call, pure. Rules as of Kubernetes 1.34."""

import re
from typing import Final

from fpga_common.testing.kubelet.failures import InvalidRegistration

API_VERSION: Final = "v1beta1"

_QUOTA_PREFIX: Final = "requests."
_DOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_DOMAIN_LIMIT: Final = 253
_NAME_LIMIT: Final = 63


def check_registration(version: str, resource_name: str) -> None:
    """Raise InvalidRegistration when the kubelet would refuse version or resource name."""
    if version != API_VERSION:
        raise InvalidRegistration(
            f"requested API version {version!r} is not supported by kubelet; "
            f"supported version is {API_VERSION!r}",
            expected=API_VERSION,
            actual=version,
        )
    if not is_extended_resource_name(resource_name):
        raise InvalidRegistration(f"the ResourceName {resource_name!r} is invalid")


def is_extended_resource_name(name: str) -> bool:
    """Whether Kubernetes takes ``name`` as an extended resource."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith(_QUOTA_PREFIX):
        return False
    return _is_qualified_name(_QUOTA_PREFIX + name)


def _is_qualified_name(name: str) -> bool:
    domain, _, rest = name.partition("/")
    return (
        len(domain) <= _DOMAIN_LIMIT
        and _DOMAIN.fullmatch(domain) is not None
        and len(rest) <= _NAME_LIMIT
        and _NAME.fullmatch(rest) is not None
    )
