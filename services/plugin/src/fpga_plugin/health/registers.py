"""Error registers of FME and port: any bit set is an error. Pure."""

from collections.abc import Mapping

from fpga_plugin.health.checks import CheckName
from fpga_plugin.health.observation import Observation, Outcome
from fpga_plugin.host.failures import Unreadable

Register = int | Unreadable


def observe_registers(
    check: CheckName, registers: Mapping[str, Register], *, region: str | None = None
) -> tuple[Observation, ...]:
    """Judge the registers that the card has, by name; nothing for none."""
    if not registers:
        return ()
    errors = {name: bits for name, bits in registers.items() if isinstance(bits, int) and bits}
    if errors:
        observed = ", ".join(f"{name}={bits:#x}" for name, bits in errors.items())
        message = f"errors are recorded: {observed}"
        outcome = Outcome.FAILED
        return (Observation(check.value, outcome, message, observed, "0x0", region),)
    unreadable = [bits for bits in registers.values() if isinstance(bits, Unreadable)]
    if unreadable:
        message = unreadable[0].message
        return (Observation(check.value, Outcome.UNREADABLE, message, None, "0x0", region),)
    return (Observation(check.value, Outcome.OK, region=region),)
