"""A FakeKubelet in a folder with a short path, and sample plugins that end with the test."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from fpga_common.testing.kubelet import FakeKubelet, KubeletOptions
from support.sample_plugin import SamplePlugin

MakePlugin = Callable[..., SamplePlugin]
MakeKubelet = Callable[..., FakeKubelet]


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder whose path leaves room for socket names."""
    folder = Path(tempfile.mkdtemp(prefix="fp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Ends everything that a test started, the last first."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def make_kubelet(root: Path, stack: ExitStack) -> MakeKubelet:
    """A started kubelet with the given KubeletOptions fields; retries quickly."""

    def make(**options: Any) -> FakeKubelet:
        quick = {"prestart_retry": 0.01, **options}
        return stack.enter_context(FakeKubelet(root, KubeletOptions(**quick)))

    return make


@pytest.fixture
def kubelet(make_kubelet: MakeKubelet) -> FakeKubelet:
    """A started kubelet."""
    return make_kubelet()


@pytest.fixture
def make_plugin(root: Path, stack: ExitStack) -> MakePlugin:
    """A serving, not yet registered sample plugin."""

    def make(**arguments: Any) -> SamplePlugin:
        return stack.enter_context(SamplePlugin(root / "device-plugins", **arguments))

    return make
