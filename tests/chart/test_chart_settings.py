"""What the chart writes is read by the services' own settings loaders."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from fpga_bitstream_manager.settings import load_settings as load_manager
from fpga_plugin.settings import load_settings as load_plugin
from fpga_web.settings import load_settings as load_web
from support.chart_render import CI_VALUES, ci, objects, one

every_ci_file = pytest.mark.parametrize("values", CI_VALUES, ids=lambda path: path.stem)
ADDRESS = {"NODE_NAME": "node-a", "FPGA_PLUGIN_AGENT__ADDRESS": "192.0.2.7:9444"}


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("FPGA_"):
            monkeypatch.delenv(name)


def config_file(values: Path, component: str, folder: Path) -> Path:
    data: dict[str, str] = one(objects(values), "ConfigMap", component)["data"]
    (name,) = data
    path = folder / name
    path.write_text(data[name], encoding="utf-8")
    return path


def mounted(values: Path, component: str, kind: str) -> set[str]:
    """Folders that a component's main container mounts."""
    pod: dict[str, Any] = one(objects(values), kind, component)["spec"]["template"]["spec"]
    return {mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}


@every_ci_file
def test_the_plugin_reads_its_file(values: Path, tmp_path: Path) -> None:
    settings = load_plugin(config_file(values, "plugin", tmp_path), ADDRESS)
    assert settings.node == "node-a"
    assert settings.agent.address == "192.0.2.7:9444"
    assert settings.manager.url.startswith("https://")
    folders = mounted(values, "plugin", "DaemonSet")
    for path in (settings.agent.client_ca_file, settings.manager.ca_file):
        assert path is not None
        assert str(path.parent) in folders
    assert str(settings.kubelet.device_plugin_dir) in folders
    assert str(settings.kubelet.pod_resources_socket.parent) in folders
    assert str(settings.state_dir) in folders


def test_a_simulated_plugin_looks_below_the_simulated_root(tmp_path: Path) -> None:
    settings = load_plugin(config_file(ci("simulation"), "plugin", tmp_path), ADDRESS)
    assert settings.host_root == Path("/simulated")


@every_ci_file
def test_the_manager_reads_its_file(values: Path, tmp_path: Path) -> None:
    settings = load_manager(config_file(values, "manager", tmp_path))
    assert settings.api.tls
    assert settings.kubernetes.enabled
    folders = mounted(values, "manager", "Deployment")
    for name in (
        settings.api.tls_cert_file,
        settings.api.tls_key_file,
        settings.agent.client_cert_file,
        settings.agent.client_key_file,
        settings.access.admin_token_file,
        settings.redis.password_file,
    ):
        assert str(Path(name).parent) in folders
    data = "/var/lib/fpga-platform"
    assert data in folders
    assert settings.database.url == f"sqlite:///{data}/ledger.db"
    assert settings.store.url == f"file://{data}/bitstreams"


@every_ci_file
def test_the_manager_believes_node_tokens_of_the_plugins_own_account_only(
    values: Path, tmp_path: Path
) -> None:
    settings = load_manager(config_file(values, "manager", tmp_path))
    plugin = one(objects(values), "DaemonSet", "plugin")
    account = plugin["spec"]["template"]["spec"]["serviceAccountName"]
    namespace = plugin["metadata"]["namespace"]
    assert settings.kubernetes.plugin_account == f"{namespace}/{account}"


def test_the_manager_takes_an_external_redis(tmp_path: Path) -> None:
    settings = load_manager(config_file(ci("external-redis"), "manager", tmp_path))
    assert settings.redis.url == "rediss://redis.example:6380/0"


def test_numbers_of_the_values_arrive_as_they_are(tmp_path: Path) -> None:
    settings = load_manager(config_file(ci("default"), "manager", tmp_path))
    assert settings.bitstreams.max_bytes == 1024**3
    assert settings.access.session_seconds == 43200
    assert settings.worker.threads == 8


@pytest.mark.parametrize("name", ["default", "simulation", "published"])
def test_the_console_reads_its_file(name: str, tmp_path: Path) -> None:
    settings = load_web(config_file(ci(name), "web", tmp_path))
    folders = mounted(ci(name), "web", "Deployment")
    assert str(Path(settings.manager.ca_file).parent) in folders
    assert str(Path(settings.secret_key_file).parent) in folders
    assert settings.trusted_proxies == ("*" if name == "published" else "127.0.0.1,::1")


@every_ci_file
def test_everyone_calls_the_manager_by_a_name_of_its_certificate(
    values: Path, tmp_path: Path
) -> None:
    settings = load_plugin(config_file(values, "plugin", tmp_path), ADDRESS)
    service = one(objects(values), "Service", "manager")
    host = f"{service['metadata']['name']}.{service['metadata']['namespace']}.svc"
    (port,) = service["spec"]["ports"]
    assert settings.manager.url == f"https://{host}:{port['port']}"
    plans = [
        item["data"]["plan.json"]
        for item in objects(values)
        if item["kind"] == "ConfigMap" and "plan.json" in item["data"]
    ]
    for plan in plans:
        assert host in yaml.safe_load(plan)["hosts"]
