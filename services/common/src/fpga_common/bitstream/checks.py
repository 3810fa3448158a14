"""Checks of a bitstream that parses: what must not be stored or programmed all the same."""

from typing import Final

from fpga_common.domain.bitstream import Check, CheckOutcome

# Linux's Arria 10 driver (drivers/fpga/socfpga-a10.c) looks at word 229 of a raw bitstream and
# refuses anything shorter than 920 bytes. No family's partial bitstream is smaller; real ones have
# megabytes. What is shorter is a cut file or a placeholder, and would leave the region unusable.
MIN_PAYLOAD_BYTES: Final = 920


def check_payload(payload_size: int) -> Check:
    """Whether a payload of ``payload_size`` bytes can be a partial bitstream."""
    expected = f"at least {MIN_PAYLOAD_BYTES} bytes"
    actual = f"{payload_size} byte" if payload_size == 1 else f"{payload_size} bytes"
    if payload_size < MIN_PAYLOAD_BYTES:
        message = "the payload is too short to be a partial bitstream"
        return Check("payload", CheckOutcome.ERROR, message, expected, actual)
    return Check("payload", CheckOutcome.OK, "the payload has a plausible length", expected, actual)
