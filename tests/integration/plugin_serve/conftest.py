"""Fixtures of the tests of the whole plugin process."""

from collections.abc import Iterator

import pytest

from support.plugin_process import PluginProcess, plugin_process


@pytest.fixture
def plugin() -> Iterator[PluginProcess]:
    with plugin_process() as plugin:
        yield plugin
