"""Valid GBS files for tests and demo."""

import json
import random
import uuid

from fpga_common.domain.ids import normalise_uuid

MAGIC = b"XeonFPGA\xb7GBSv001"
METADATA_MAGIC = 488605312


def make_gbs(
    interface_id: str, afu_id: str, payload_bytes: int = 65536, name: str = "simulated_afu"
) -> bytes:
    """A GBS for ``interface_id`` whose payload of ``payload_bytes`` depends on ``afu_id`` alone.

    Metadata is laid out as Intel's packager writes it: dashed UUIDs, ``magic-no``, clocks in MHz.
    """
    metadata = json.dumps(_metadata(interface_id, afu_id, name)).encode() + b"\n"
    payload = random.Random(normalise_uuid(afu_id)).randbytes(payload_bytes)  # noqa: S311
    return MAGIC + len(metadata).to_bytes(4, "little") + metadata + payload


def _metadata(interface_id: str, afu_id: str, name: str) -> dict[str, object]:
    return {
        "version": 1,
        "platform-name": "simulated",
        "afu-image": {
            "interface-uuid": _dashed(interface_id),
            "magic-no": METADATA_MAGIC,
            "power": 0,
            "clock-frequency-high": 400,
            "clock-frequency-low": 200,
            "afu-top-interface": {"class": "ccip_std_afu"},
            "accelerator-clusters": [
                {
                    "name": name,
                    "total-contexts": 1,
                    "accelerator-type-uuid": _dashed(afu_id),
                }
            ],
        },
    }


def _dashed(text: str) -> str:
    return str(uuid.UUID(normalise_uuid(text)))
