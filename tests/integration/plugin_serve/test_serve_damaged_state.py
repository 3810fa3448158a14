"""What is wrong in the state folder never keeps the plugin from serving the node's cards."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.plugin_process import PluginProcess

NONSENSE = b"\xff nonsense\n{\n"


def test_the_plugin_starts_on_damaged_files_says_so_and_sets_them_aside(
    plugin: PluginProcess,
) -> None:
    plugin.host.add_card("pac-a10")
    files = ("reservations.json", "holders.jsonl", "operations/open/load-1.1.jsonl")
    for name in (*files, "agent/agent.key", "agent/agent.crt", "bitstreams"):
        path = plugin.state_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(NONSENSE)
    (plugin.state_dir / "agent" / "agent.json").write_text('{"node": "sim-a", "not_after": 9e9}')

    process = plugin.start()

    said = {entry["path"] for entry in plugin.log_entries() if entry["level"] == "error"}
    names = {Path(path).name for path in said}
    assert {"reservations.json", "load-1.1.jsonl", "agent.key", "bitstreams"} <= names
    assert 'fpga_region_state{device="0000:3b:00.0-r0",state="quarantined"} 1.0' in plugin.get(
        "/metrics"
    )
    assert process.stop() == 0
    plugin.start()
    assert len(list(plugin.state_dir.rglob("*.unreadable-*"))) == 5


def _file_in_its_place(state_dir: Path) -> None:
    state_dir.write_bytes(b"")


def _folder_as_lock(state_dir: Path) -> None:
    (state_dir / "lock").mkdir(parents=True)


@pytest.mark.parametrize("spoil", [_file_in_its_place, _folder_as_lock])
def test_a_state_folder_that_cannot_be_used_is_a_configuration_error(
    plugin: PluginProcess, spoil: Callable[[Path], None]
) -> None:
    spoil(plugin.state_dir)
    assert plugin.launch().wait(20.0) == 2
    assert "state_dir" in (plugin.root / "plugin.log").read_text()
