"""Pool devices as the kubelet and a container see them."""

from fpga_common.domain.card import Card
from fpga_plugin.inventory.snapshot import Snapshot
from fpga_plugin.kubelet.messages import container_answer, environment, list_message
from fpga_plugin.pools import PoolDevice, members
from fpga_plugin.settings import PoolSettings
from support.plugin_cards import make_card


def devices(*cards: Card) -> tuple[PoolDevice, ...]:
    return members(PoolSettings(), Snapshot(cards, 1, 0.0))


def test_real_nodes_are_handed_out_under_their_own_path_for_reading_and_writing() -> None:
    answer = container_answer(devices(make_card(1)), simulated=False)
    (spec,) = answer.devices
    assert (spec.container_path, spec.host_path, spec.permissions) == (
        "/dev/dfl-port.1",
        "/dev/dfl-port.1",
        "rw",
    )


def test_simulated_nodes_are_dev_null_under_their_own_name() -> None:
    (spec,) = container_answer(devices(make_card(1)), simulated=True).devices
    assert (spec.container_path, spec.host_path) == ("/dev/dfl-port.1", "/dev/null")


def test_every_variable_has_an_element_a_device_whatever_is_unknown() -> None:
    known = make_card(1, nodes=("/dev/a", "/dev/b"))
    unknown = make_card(2, numa_node=None, afu_id=None, nodes=())
    values = environment(devices(known, unknown))
    assert {name: value.count(",") for name, value in values.items()} == dict.fromkeys(values, 1)
    assert values["FPGA_DEVICE_NODES"] == "/dev/a:/dev/b,"
    assert values["FPGA_NUMA_NODES"] == "0,"


def test_an_unknown_numa_node_has_no_topology_at_all() -> None:
    message = list_message(devices(make_card(1, numa_node=-1), make_card(2, numa_node=1)))
    assert [device.HasField("topology") for device in message.devices] == [False, True]
    assert [node.ID for node in message.devices[1].topology.nodes] == [1]
