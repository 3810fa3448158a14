"""Are there cards, and are they well? Reads the host root as the daemon does."""

from collections.abc import Iterator

from fpga_common.domain.card import Card, RegionState
from fpga_common.domain.health import HealthStatus
from fpga_common.domain.simulation import is_simulated
from fpga_plugin.doctor.finding import Finding, failed, ok, warning
from fpga_plugin.inventory.once import read_once
from fpga_plugin.settings import PluginSettings

_ROOT = "host root"
_CARDS = "cards"


def check_hardware(settings: PluginSettings) -> Iterator[Finding]:
    """The host root, then every card."""
    root = settings.host_root
    missing = [name for name in ("sys", "dev") if not (root / name).is_dir()]
    if missing:
        yield failed(
            _ROOT,
            f"{root} has no {' and no '.join(missing)}",
            "mount the host's /sys and /dev there, or set host_root",
        )
        return
    yield ok(_ROOT, f"{root}{' (simulated hardware)' if is_simulated(root) else ''}")
    cards = read_once(root)
    if not cards:
        yield failed(
            _CARDS,
            "no FPGA cards found",
            "lspci -d ::1200 lists accelerators; are the drivers (dfl-pci, dfl-fme) loaded?",
        )
    for card in cards:
        yield _card(card)


def _card(card: Card) -> Finding:
    name = f"card {card.id}"
    reasons = "; ".join(reason.message for reason in card.health.reasons)
    if card.health.status is HealthStatus.UNHEALTHY:
        return failed(name, f"{card.model}: {reasons or 'unhealthy'}")
    unusable = [region for region in card.regions if region.state is RegionState.UNUSABLE]
    if unusable:
        return failed(name, f"{card.model}: {unusable[0].id}: {unusable[0].reason}")
    if card.health.status is not HealthStatus.HEALTHY:
        return warning(name, f"{card.model}: {reasons or card.health.status}")
    return ok(name, f"{card.model}, {len(card.regions)} region(s)")
