"""One region of an Intel card: what it is, what it says now, and whether it can be used."""

from dataclasses import dataclass

from fpga_common.domain.card import Region, RegionState
from fpga_common.domain.ids import InvalidId, is_unset_uuid, normalise_uuid, region_id
from fpga_plugin.backends.device_node import observe_device_node
from fpga_plugin.backends.intel_layout import Layout
from fpga_plugin.backends.intel_plan import CardPlan, PortPlan
from fpga_plugin.backends.models import Model
from fpga_plugin.health.checks import CheckName
from fpga_plugin.health.observation import Observation, Outcome
from fpga_plugin.health.registers import Register, observe_registers
from fpga_plugin.host.failures import Busy, Garbled, Missing, Unreadable
from fpga_plugin.host.root import HostRoot


@dataclass(frozen=True, slots=True)
class RegionReading:
    """A region without a verdict, what the checks saw of it, and notes for the card."""

    region: Region
    observations: tuple[Observation, ...]
    notes: tuple[str, ...] = ()
    vanished: bool = False


@dataclass(frozen=True, slots=True)
class _Identity:
    """A UUID that was read, or why there is none; ``essential`` failures make a region unusable."""

    uuid: str | None = None
    failure: Unreadable | None = None
    problem: str = ""


def read_region(
    host: HostRoot, layout: Layout, card_id: str, plan: CardPlan, port: PortPlan, model: Model
) -> RegionReading:
    """Read a port and the interface id of the region behind it."""
    identifier = region_id(card_id, port.index)
    interface = _read_uuid(host, port.interface)
    afu = _read_afu(host, port)
    state, reason = _state(layout, plan, port, interface, model)
    region = Region(
        id=identifier,
        index=port.index,
        state=state,
        reason=reason,
        interface_id=interface.uuid,
        afu_id=afu.uuid,
        device_nodes=(port.node,),
        control_nodes=plan.control_nodes,
    )
    observations = (
        observe_usable(region),
        *observe_device_node(host, port.node, f"{port.folder}/dev", region=identifier),
        *_observe_afu(afu, identifier),
        *observe_registers(CheckName.PORT_ERRORS, _errors(host, port), region=identifier),
    )
    return RegionReading(
        region,
        observations,
        notes=(f"AFU id: {afu.problem}",) if afu.problem else (),
        vanished=_vanished(host, port, interface, afu),
    )


def absent_region(card_id: str, index: int, reason: str) -> RegionReading:
    """A region that the card should have and does not show."""
    region = Region(region_id(card_id, index), index, RegionState.UNUSABLE, reason)
    return RegionReading(region, (observe_usable(region),))


def observe_usable(region: Region) -> Observation:
    """The check that follows from a region's state."""
    check = CheckName.REGION_USABLE.value
    if region.state is RegionState.UNUSABLE:
        return Observation(check, Outcome.FAILED, region.reason, region=region.id)
    return Observation(check, Outcome.OK, region=region.id)


def _state(
    layout: Layout, plan: CardPlan, port: PortPlan, interface: _Identity, model: Model
) -> tuple[RegionState, str]:
    if port.interface is not None:
        if interface.uuid is not None:
            return RegionState.READY, ""
        return RegionState.UNUSABLE, f"no interface id: {interface.problem}"
    if plan.fme is None:
        return RegionState.STATIC, "the card's management function is not on this machine"
    if not (plan.pr_seen if model.reprogrammable is None else model.reprogrammable):
        return RegionState.STATIC, "the card has no partial reconfiguration"
    reason = f"no interface id: are the kernel modules {layout.pr_modules} loaded?"
    return RegionState.UNUSABLE, reason


def _read_uuid(host: HostRoot, path: str | None) -> _Identity:
    if path is None:
        return _Identity()
    try:
        uuid = normalise_uuid(host.text(path))
    except Unreadable as error:
        return _Identity(failure=error, problem=error.message)
    except InvalidId as error:
        return _Identity(problem=f"{path}: {error.message}")
    return _Identity() if is_unset_uuid(uuid) else _Identity(uuid)


def _read_afu(host: HostRoot, port: PortPlan) -> _Identity:
    afu = _read_uuid(host, port.afu_id)
    return _Identity(failure=afu.failure) if isinstance(afu.failure, Missing) else afu


def _vanished(host: HostRoot, port: PortPlan, interface: _Identity, afu: _Identity) -> bool:
    if isinstance(interface.failure, Missing):
        return True
    return isinstance(afu.failure, Missing) and not host.is_folder(port.folder)


def _observe_afu(afu: _Identity, region: str) -> tuple[Observation, ...]:
    check = CheckName.AFU_ID.value
    if afu.problem and not isinstance(afu.failure, Busy | Missing):
        return (Observation(check, Outcome.UNREADABLE, afu.problem, region=region),)
    return (Observation(check, Outcome.OK, region=region),)


def _errors(host: HostRoot, port: PortPlan) -> dict[str, Register]:
    return {} if port.errors is None else read_registers(host, (port.errors,))


def read_registers(host: HostRoot, paths: tuple[str, ...]) -> dict[str, Register]:
    """Error registers by the end of their path; hex with or without ``0x``."""
    found: dict[str, Register] = {}
    for path in paths:
        name = path.rpartition("/errors/")[2]
        try:
            text = host.text(path)
        except Missing:
            continue
        except Unreadable as error:
            found[name] = error
            continue
        if text:
            found[name] = _register(path, text)
    return found


def _register(path: str, text: str) -> Register:
    try:
        return int(text, 16)
    except ValueError:
        return Garbled(path, text)
