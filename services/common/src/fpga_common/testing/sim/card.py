"""One simulated card: what it shows now, and what can happen to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from fpga_common.domain.errors import Permanent
from fpga_common.domain.ids import normalise_uuid, region_id
from fpga_common.domain.operation import FailureCode
from fpga_common.domain.simulation import read_behaviour, write_behaviour
from fpga_common.testing.sim import presence
from fpga_common.testing.sim.faults import Originals
from fpga_common.testing.sim.files import locked, make_hanging, make_unreadable, replace_file
from fpga_common.testing.sim.placement import Placement
from fpga_common.testing.sim.tree import Layout, NoSuchAttribute

ABOVE_LIMIT = 5000  # m°C


class Fault(StrEnum):
    """Everything that can happen to a card, as ``fpga-sim break`` names it."""

    UNPLUG = "unplug"
    OVERHEAT = "overheat"
    LOSE_LINK_WIDTH = "lose-link-width"
    FAIL_PROGRAMMING = "fail-programming"
    HANG_READ = "hang-read"
    BREAK_ATTRIBUTE = "break-attribute"
    REMOVE_DEVICE_NODE = "remove-device-node"


class CardAbsent(Permanent):
    """The card is unplugged: nothing else can happen to it."""

    code = "card_absent"


class SimulatedCard:
    """A card of a simulated host. Every action is seen by readers at once and undone by heal()."""

    def __init__(self, root: Path, placement: Placement) -> None:
        self._root = root
        self._placement = placement
        self._layout = Layout(placement)
        self._originals = Originals(root, placement.card_id)

    def __repr__(self) -> str:
        return f"SimulatedCard({self.id}, {self.profile})"

    @property
    def id(self) -> str:
        """The card's id: ``0000:3b:00.0``."""
        return self._placement.card_id

    @property
    def profile(self) -> str:
        """The name of its profile."""
        return self._placement.profile

    @property
    def region_id(self) -> str:
        """The id of the region that takes AFUs."""
        return region_id(self.id, 0)

    @property
    def plugged(self) -> bool:
        """Whether the host shows it."""
        return presence.is_plugged(self._root, self._placement)

    @property
    def interface_id(self) -> str:
        """The interface id in the tree, 32 lower-case hex digits."""
        return normalise_uuid(self._read("compat_id"))

    @property
    def afu_id(self) -> str | None:
        """The AFU in the tree, None where the card does not tell."""
        if self._placement.card_profile.afu_id is None:
            return None
        return normalise_uuid(self._read("afu_id"))

    @property
    def device_node(self) -> str:
        """The node a container gets, as the host names it: ``/dev/dfl-port.0``."""
        return self._layout.port_node

    @property
    def control_node(self) -> str:
        """The node that programs it: ``/dev/dfl-fme.0``."""
        return self._layout.fme_node

    def path_of(self, attribute: str) -> Path:
        """Where ``afu_id``, ``compat_id`` or a path below the first PCI function is."""
        return self._root / self._layout.attribute(attribute)

    # faults

    def unplug(self) -> None:
        """Take the card out: everything it shows is gone at once."""
        with locked(self._root):
            presence.unplug(self._root, self._placement)

    def replug(self) -> None:
        """Put the card back as it was."""
        with locked(self._root):
            presence.plug(self._root, self._placement)

    def overheat(self) -> None:
        """Raise a temperature 5 °C above that sensor's own critical limit. Raises CardAbsent."""
        name, channel = self._placement.card_profile.overheats
        sensor = f"{self._hwmon(name)}/{channel}"
        with self._present():
            limit = int((self._root / f"{sensor}_crit").read_text())
            self._change(f"{sensor}_input", str(limit + ABOVE_LIMIT))
            for alarm in (f"{sensor}_max_alarm", f"{sensor}_crit_alarm"):
                if (self._root / alarm).exists():
                    self._change(alarm, "1")

    def lose_link_width(self) -> None:
        """Train the link with half its lanes, on every function. Raises CardAbsent."""
        with self._present():
            for function in self._placement.card_profile.functions:
                path = f"{self._layout.function(function.number)}/current_link_width"
                lanes = int(self._originals.keep(path))
                self._change(path, str(max(1, lanes // 2)))

    def hang_read(self, attribute: str = "compat_id") -> None:
        """Let whoever opens ``attribute`` (see path_of) block until heal().

        Raises CardAbsent and NoSuchAttribute.
        """
        with self._present():
            make_hanging(self._root, self._keep(attribute))

    def break_attribute(self, attribute: str | None = None) -> None:
        """Make reading ``attribute`` fail; by default the AFU id, else the interface id.

        Raises CardAbsent and NoSuchAttribute.
        """
        default = "compat_id" if self._placement.card_profile.afu_id is None else "afu_id"
        with self._present():
            make_unreadable(self._root, self._keep(attribute or default))

    def remove_device_node(self) -> None:
        """Delete the port's device node."""
        (self._root / self.device_node.lstrip("/")).unlink(missing_ok=True)

    def heal(self) -> None:
        """Undo every fault; the AFU and the programming time stay as they are."""
        with locked(self._root):
            if self.plugged:
                self._restore_device_node()
            presence.plug(self._root, self._placement)
            self._originals.restore()
        self._behave(fail_programming=None, read_back=None)

    # programming

    def fail_programming(
        self, code: FailureCode | str | None = FailureCode.PROGRAMMING_REJECTED
    ) -> None:
        """Let every programming fail with ``code``; None lets it succeed."""
        self._behave(fail_programming=None if code is None else FailureCode(code).value)

    def set_programming_seconds(self, seconds: float) -> None:
        """How long a programming takes."""
        self._behave(programming_seconds=seconds)

    def read_back(self, afu_id: str | None) -> None:
        """Let ``afu_id`` show after a programming, whatever was written; None: what was written."""
        self._behave(read_back=None if afu_id is None else normalise_uuid(afu_id))

    def set_afu_id(self, afu_id: str) -> None:
        """Change the AFU behind everybody's back.

        Raises CardAbsent, and NoSuchAttribute where the card shows no AFU.
        """
        with self._present():
            path = self._keep("afu_id")
            self._originals.forget(self._layout.attribute("afu_id"))
            replace_file(self._root, path, f"{normalise_uuid(afu_id)}\n".encode())

    def _behave(self, **changes: float | str | None) -> None:
        with locked(self._root):
            behaviour = read_behaviour(self._root, self.id)
            changed = replace(behaviour, **changes)  # type: ignore[arg-type]
            write_behaviour(self._root, self.id, changed)

    @contextmanager
    def _present(self) -> Iterator[None]:
        with locked(self._root):
            if not self.plugged:
                raise CardAbsent(f"{self.id} is unplugged; replug or heal it first")
            yield

    def _hwmon(self, name: str) -> str:
        names = [hwmon.name for hwmon in self._placement.card_profile.hwmons]
        return self._layout.hwmon(names.index(name))

    def _change(self, path: str, text: str) -> None:
        self._originals.keep(path)
        replace_file(self._root, self._root / path, f"{text}\n".encode())

    def _keep(self, attribute: str) -> Path:
        path = self._layout.attribute(attribute)
        try:
            self._originals.keep(path)
        except OSError as error:
            raise NoSuchAttribute(f"{self.id} has no readable attribute {attribute}") from error
        return self._root / path

    def _read(self, attribute: str) -> str:
        path = self._layout.attribute(attribute)
        content = self._originals.kept(path)
        if content is None:
            content = self._current_place(path).read_bytes()
        return content.decode()

    def _current_place(self, path: str) -> Path:
        if self.plugged:
            return self._root / path
        storage = presence.storage_path(self._root, self._placement)
        return storage / path.removeprefix(f"{self._placement.bridge}/")

    def _restore_device_node(self) -> None:
        node = self._root / self.device_node.lstrip("/")
        if not node.exists():
            replace_file(self._root, node, b"")
