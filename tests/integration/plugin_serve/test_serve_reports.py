"""What the plugin process tells the manager, and when."""

from collections.abc import Iterator
from http import HTTPStatus

import pytest

from fpga_common.contract.report import NodeReport
from fpga_common.testing.waiting import wait_for
from support.manager_double import ManagerDouble, is_full
from support.plugin_process import NODE, PluginProcess

TOKEN = "node-token"


@pytest.fixture
def reporting(plugin: PluginProcess) -> PluginProcess:
    token_file = plugin.root / "token"
    token_file.write_text(TOKEN)
    plugin.settings["manager"] = {"token_file": str(token_file)}
    return plugin


@pytest.fixture
def manager(reporting: PluginProcess) -> Iterator[ManagerDouble]:
    with ManagerDouble(token=TOKEN) as manager:
        reporting.settings["manager"]["url"] = manager.url
        yield manager


def test_the_first_report_tells_cards_agent_and_facts(
    reporting: PluginProcess, manager: ManagerDouble
) -> None:
    card = reporting.host.add_card("n3000")
    reporting.start()
    sent = manager.wait_for_report(is_full)
    report = NodeReport.model_validate(sent)
    assert sent["path"] == f"/internal/v1/nodes/{NODE}/report"
    assert report.node == NODE
    assert [entry.id for entry in report.inventory.cards] == [card.id]
    assert report.agent is not None
    assert report.agent.address == f"127.0.0.1:{reporting.agent_port}"
    assert report.agent.certificate_pem.startswith("-----BEGIN CERTIFICATE-----")
    assert report.facts.plugin_version
    assert report.facts.drivers == ["dfl-pci"]


def test_a_change_is_told_at_once(reporting: PluginProcess, manager: ManagerDouble) -> None:
    card = reporting.host.add_card("n3000")
    reporting.start()
    manager.wait_for_report(is_full)
    card.remove_device_node()
    manager.wait_for_report(
        lambda report: (
            is_full(report) and report["inventory"]["cards"][0]["health"]["status"] == "unhealthy"
        )
    )


def test_a_manager_that_comes_late_gets_a_report_and_one_line_is_logged(
    reporting: PluginProcess,
) -> None:
    with ManagerDouble(token=TOKEN) as gone:
        reporting.settings["manager"]["url"] = gone.url
        port = gone.port
    reporting.start()
    wait_for(lambda: "manager_not_reached" in reporting.events())
    with ManagerDouble(token=TOKEN, port=port) as manager:
        manager.wait_for_report(is_full, timeout=30.0)
        wait_for(lambda: "manager_reached" in reporting.events())
    assert reporting.events().count("manager_reached") == 1


def test_a_manager_that_refuses_is_asked_again(
    reporting: PluginProcess, manager: ManagerDouble
) -> None:
    manager.status = HTTPStatus.SERVICE_UNAVAILABLE
    reporting.start()
    wait_for(lambda: "manager_not_reached" in reporting.events())
    manager.status = HTTPStatus.OK
    manager.wait_for_report(is_full, timeout=30.0)


def test_no_token_appears_in_the_log(reporting: PluginProcess, manager: ManagerDouble) -> None:
    manager.status = HTTPStatus.UNAUTHORIZED
    reporting.start()
    wait_for(lambda: "manager_not_reached" in reporting.events())
    assert TOKEN not in (reporting.root / "plugin.log").read_text()
