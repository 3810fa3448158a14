"""The plugin's kubelet side against a FakeKubelet, over real sockets in a short folder."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from fpga_common.testing.kubelet import FakeKubelet, KubeletOptions
from fpga_plugin.kubelet import KubeletSide
from fpga_plugin.settings import KubeletSettings, PluginSettings
from support.fixed_inventory import FixedInventory
from support.plugin_cards import make_card

MakeSide = Callable[..., KubeletSide]


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder whose path leaves room for socket names; a simulated host."""
    folder = Path(tempfile.mkdtemp(prefix="fp"))
    (folder / "host" / ".fpga-sim").mkdir(parents=True)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def kubelet(root: Path) -> Iterator[FakeKubelet]:
    """A kubelet that is not started yet."""
    kubelet = FakeKubelet(root, KubeletOptions(prestart_retry=0.01))
    yield kubelet
    kubelet.close()


@pytest.fixture
def settings(root: Path, kubelet: FakeKubelet) -> PluginSettings:
    """The plugin's settings on that node."""
    return PluginSettings(
        node="node-a",
        host_root=root / "host",
        state_dir=root / "state",
        kubelet=KubeletSettings(
            device_plugin_dir=kubelet.device_plugin_dir,
            pod_resources_socket=kubelet.pod_resources_socket,
        ),
    )


@pytest.fixture
def inventory() -> FixedInventory:
    """Two ready cards."""
    return FixedInventory(make_card(1), make_card(2))


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Ends everything that a test started, the last first."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def make_side(settings: PluginSettings, inventory: FixedInventory, stack: ExitStack) -> MakeSide:
    """A started kubelet side; keyword arguments replace settings."""

    def make(**changes: object) -> KubeletSide:
        side = KubeletSide(replace(settings, **changes), inventory)  # type: ignore[arg-type]
        side.start()
        stack.callback(side.stop)
        return side

    return make
