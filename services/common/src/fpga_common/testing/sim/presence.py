"""Plugging and unplugging: a card's whole tree appears and vanishes by one rename.

All functions of a card are below one bridge folder, which is moved into or out of ``/sys`` at
once; links that lead to it are added after it is there and removed after it is gone.
"""

from pathlib import Path

from fpga_common.domain.simulation import CONTROL_FOLDER
from fpga_common.testing.sim.files import replace_file, replace_link
from fpga_common.testing.sim.placement import Placement
from fpga_common.testing.sim.tree import Tree, card_tree


def storage_path(root: Path, placement: Placement) -> Path:
    """Where the tree of an unplugged card lies."""
    return root / CONTROL_FOLDER / "unplugged" / placement.card_id


def is_plugged(root: Path, placement: Placement) -> bool:
    """Whether the host shows the card."""
    return (root / placement.bridge).is_dir()


def build(root: Path, placement: Placement) -> None:
    """Write a new card's tree where an unplugged one lies."""
    tree, storage = card_tree(placement), storage_path(root, placement)
    inside = f"{placement.bridge}/"
    for path, content in tree.files.items():
        if path.startswith(inside):
            file = storage / path.removeprefix(inside)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    for path, target in tree.links.items():
        if path.startswith(inside):
            link = storage / path.removeprefix(inside)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)


def plug(root: Path, placement: Placement) -> None:
    """Show the card; nothing happens if it is there."""
    if is_plugged(root, placement):
        return
    tree = card_tree(placement)
    for node in _nodes(tree):
        (root / node).parent.mkdir(parents=True, exist_ok=True)
        replace_file(root, root / node, b"")
    bridge = root / placement.bridge
    bridge.parent.mkdir(parents=True, exist_ok=True)
    storage_path(root, placement).rename(bridge)
    for path in _outside_links(tree, placement):
        replace_link(root, root / path, tree.links[path])


def unplug(root: Path, placement: Placement) -> None:
    """Hide the card; nothing happens if it is gone."""
    if not is_plugged(root, placement):
        return
    tree, storage = card_tree(placement), storage_path(root, placement)
    storage.parent.mkdir(parents=True, exist_ok=True)
    (root / placement.bridge).rename(storage)
    for path in (*_outside_links(tree, placement), *_nodes(tree)):
        (root / path).unlink(missing_ok=True)


def _nodes(tree: Tree) -> list[str]:
    return [path for path in tree.files if path.startswith("dev/")]


def _outside_links(tree: Tree, placement: Placement) -> list[str]:
    """Class entries first, PCI entries last, so that who finds the function finds the rest."""
    outside = [path for path in tree.links if not path.startswith(f"{placement.bridge}/")]
    return sorted(outside, key=lambda path: (path.startswith("sys/bus/pci/devices"), path))
