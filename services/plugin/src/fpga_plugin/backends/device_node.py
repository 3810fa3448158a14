"""Whether a device node is there and is the one that the driver made."""

from fpga_plugin.health.checks import CheckName
from fpga_plugin.health.observation import Observation, Outcome
from fpga_plugin.host.failures import Missing, Unreadable
from fpga_plugin.host.root import HostRoot


def observe_device_node(
    host: HostRoot, node: str, number_file: str, *, region: str
) -> tuple[Observation, ...]:
    """Check that ``node`` exists; on the real root also its type and number.

    ``number_file`` is the sysfs file with ``major:minor``.
    """
    try:
        found = host.device_number(node)
    except Missing:
        return (_failed(f"{node} does not exist", region, "nothing", "a character device"),)
    except Unreadable as error:
        check = CheckName.DEVICE_NODE.value
        return (Observation(check, Outcome.UNREADABLE, error.message, region=region),)
    if host.real:
        return _compare(host, node, number_file, found, region)
    return (Observation(CheckName.DEVICE_NODE.value, Outcome.OK, region=region),)


def _compare(
    host: HostRoot, node: str, number_file: str, found: tuple[int, int] | None, region: str
) -> tuple[Observation, ...]:
    if found is None:
        message = f"{node} is not a character device"
        return (_failed(message, region, "another kind of file", "a character device"),)
    observed = f"{found[0]}:{found[1]}"
    try:
        expected = host.text(number_file)
    except Unreadable:
        expected = observed
    if observed != expected:
        return (_failed(f"{node} belongs to another device", region, observed, expected),)
    return (Observation(CheckName.DEVICE_NODE.value, Outcome.OK, region=region),)


def _failed(message: str, region: str, observed: str, expected: str) -> Observation:
    check = CheckName.DEVICE_NODE.value
    return Observation(check, Outcome.FAILED, message, observed, expected, region)
