"""Labels of a Node, from what it reports. Pure. Called by the reconciler.

Keys obey the API server: a name of at most 63 letters, digits, ``-``, ``_`` and ``.`` that begins
and ends with a letter or digit, after the domain and a slash.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from fpga_bitstream_manager.cluster.devices import ReportedDevice
from fpga_common.domain.names import RESOURCE_DOMAIN

PRESENT: Final = f"{RESOURCE_DOMAIN}/present"
CARDS: Final = f"{RESOURCE_DOMAIN}/cards"
MODEL: Final = f"{RESOURCE_DOMAIN}/model."
INTERFACE: Final = f"{RESOURCE_DOMAIN}/interface."

TRUE: Final = "true"
LONGEST_NAME: Final = 63

_INTERFACE_ID: Final = re.compile(r"[0-9a-f]{32}")


def labels_of(devices: Sequence[ReportedDevice]) -> dict[str, str]:
    """The labels of a node with these devices; none where no card is there now."""
    there = [device for device in devices if not device.missing]
    if not there:
        return {}
    labels = {PRESENT: TRUE, CARDS: str(len({device.card for device in there}))}
    slugs = {model_slug(device.model) for device in there}
    labels |= {MODEL + slug: TRUE for slug in slugs if slug}
    interfaces = {device.interface_id or "" for device in there}
    labels |= {INTERFACE + one: TRUE for one in interfaces if _INTERFACE_ID.fullmatch(one)}
    return labels


def model_slug(model: str) -> str:
    """A model's name as the end of a label's key; empty where nothing of it can stand there."""
    longest = LONGEST_NAME - len(MODEL.partition("/")[2])
    return re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:longest].rstrip("-")


def is_ours(key: str) -> bool:
    """Whether the label is the manager's to change; an administrator may add others."""
    return key in (PRESENT, CARDS) or key.startswith((MODEL, INTERFACE))


def difference(present: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, str | None]:
    """The smallest patch that makes ``present`` say ``wanted``; None removes a label."""
    patch: dict[str, str | None] = {
        key: None for key in present if is_ours(key) and key not in wanted
    }
    return patch | {key: value for key, value in wanted.items() if present.get(key) != value}
