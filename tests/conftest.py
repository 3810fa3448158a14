"""Fixtures and rules for every test."""

import os

import pytest


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    prefixes = ("FPGA_PLUGIN_", "FPGA_MANAGER_", "FPGA_WEB_", "FPGACTL_")
    for name in list(os.environ):
        if name.startswith(prefixes) or name == "NODE_NAME":
            monkeypatch.delenv(name)
