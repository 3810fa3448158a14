"""The plugin's settings: strict, and every refusal names its key."""

from pathlib import Path

import pytest

from fpga_common.domain.errors import InvalidConfiguration
from fpga_plugin.cli import main
from fpga_plugin.settings import PluginSettings, PoolSettings, load_settings

COMPLETE = """\
node: sim-a
host_root: /host
state_dir: /var/lib/other
kubelet:
  enabled: false
  device_plugin_dir: /k/plugins
  pod_resources_socket: /k/pods.sock
agent: {bind: "127.0.0.1:1", address: "[::1]:2", client_ca_file: /ca.crt}
manager: {url: "https://manager:8443", ca_file: /ca.crt, token_file: /token}
pools: [{name: one}, {name: two, unit: region}]
health: {interval_seconds: 2}
metrics: {bind: ""}
log: {level: debug, format: text}
"""


def load(tmp_path: Path, text: str, **environ: str) -> PluginSettings:
    file = tmp_path / "plugin.yaml"
    file.write_text(text)
    return load_settings(file, environ)


def test_a_node_name_alone_gives_the_defaults() -> None:
    settings = load_settings(None, {"NODE_NAME": "node-1"})
    assert settings == PluginSettings("node-1")
    assert settings.pools[0].resource == "fpga-platform.io/fpga"


def test_every_key_of_the_file_is_taken(tmp_path: Path) -> None:
    settings = load(tmp_path, COMPLETE, NODE_NAME="other")
    assert settings.node == "sim-a"
    assert settings.host_root == Path("/host")
    assert not settings.kubelet.enabled
    assert settings.agent.client_ca_file == Path("/ca.crt")
    assert settings.manager.token_file == Path("/token")
    assert settings.pools == (PoolSettings("one"), PoolSettings("two"))
    assert settings.health.interval_seconds == 2.0
    assert settings.metrics.bind == ""
    assert settings.log.format == "text"


def test_an_empty_file_and_empty_sections_are_defaults(tmp_path: Path) -> None:
    assert load(tmp_path, "", NODE_NAME="n") == PluginSettings("n")
    assert load(tmp_path, "kubelet:\nlog:\n", NODE_NAME="n") == PluginSettings("n")


def test_an_empty_file_name_means_no_file(tmp_path: Path) -> None:
    text = 'node: n\nagent: {client_ca_file: ""}\nmanager: {ca_file: "", token_file: ""}'
    assert load(tmp_path, text) == PluginSettings("n")


def test_variables_win_over_the_file(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        COMPLETE,
        FPGA_PLUGIN_NODE="from-variable",
        FPGA_PLUGIN_KUBELET__ENABLED="true",
        FPGA_PLUGIN_HEALTH__INTERVAL_SECONDS="0.5",
        FPGA_PLUGIN_POOLS="[{name: three}]",
    )
    assert settings.node == "from-variable"
    assert settings.kubelet.enabled
    assert settings.kubelet.device_plugin_dir == Path("/k/plugins")
    assert settings.health.interval_seconds == 0.5
    assert settings.pools == (PoolSettings("three"),)


def test_variables_that_kubernetes_gives_for_a_service_are_no_settings() -> None:
    environ = {
        "NODE_NAME": "n",
        "FPGA_PLUGIN_PORT": "tcp://10.0.0.1:9444",
        "FPGA_PLUGIN_SERVICE_HOST": "10.0.0.1",
        "FPGA_PLUGIN_METRICS_PORT_9100_TCP_ADDR": "10.0.0.1",
        "FPGA_PLUGIN_METRICS_SERVICE_PORT_HTTP": "9100",
    }
    assert load_settings(None, environ) == PluginSettings("n")


LONG_FOLDER = "/" + "d" * 90

REFUSED = {
    "unknown key": ("nodes: n", "nodes"),
    "unknown nested key": ("node: n\nkubelet: {dir: /x}", "kubelet.dir"),
    "unknown key of a pool": ("node: n\npools: [{nam: x}]", "pools[0].nam"),
    "key given twice": ("node: n\nnode: m", "node"),
    "no node": ("{}", "node"),
    "node is null": ("node:", "node"),
    "node is a number": ("node: 5", "node"),
    "node in capitals": ("node: Node", "node"),
    "text for a section": ("node: n\nlog: info", "log"),
    "relative path": ("node: n\nhost_root: host", "host_root"),
    "flag in words": ("node: n\nkubelet: {enabled: perhaps}", "kubelet.enabled"),
    "number in words": ("node: n\nhealth: {interval_seconds: soon}", "health.interval_seconds"),
    "flag for a number": ("node: n\nhealth: {interval_seconds: true}", "health.interval_seconds"),
    "not a number": ("node: n\nhealth: {interval_seconds: .nan}", "health.interval_seconds"),
    "interval of 0": ("node: n\nhealth: {interval_seconds: 0}", "health.interval_seconds"),
    "unknown level": ("node: n\nlog: {level: loud}", "log.level"),
    "unknown unit": ("node: n\npools: [{unit: board}]", "pools[0].unit"),
    "list in words": ("node: n\npools: many", "pools"),
    "pool name of 64": (f"node: n\npools: [{{name: {'p' * 64}}}]", "pools[0].name"),
    "pool name with slash": ("node: n\npools: [{name: a/b}]", "pools[0].name"),
    "pool named twice": ("node: n\npools: [{name: a}, {name: a}]", "pools[1].name"),
    "socket path too long": (
        f"node: n\nkubelet: {{device_plugin_dir: {LONG_FOLDER}}}",
        "kubelet.device_plugin_dir",
    ),
    "bind without port": ("node: n\nagent: {bind: localhost}", "agent.bind"),
    "port too high": ("node: n\nmetrics: {bind: 'localhost:70000'}", "metrics.bind"),
    "bare IPv6": ("node: n\nagent: {address: '::1:80'}", "agent.address"),
    "url with a wrong port": ("node: n\nmanager: {url: 'http://m:99999'}", "manager.url"),
    "url with half an address": ("node: n\nmanager: {url: 'http://[::1'}", "manager.url"),
    "a list as a key": ("? [node]\n: n", "config"),
    "nested too deeply": ("[" * 5000, "config"),
    "a NUL in a path": ('node: n\nstate_dir: "/a\\0b"', "state_dir"),
    "url without scheme": ("node: n\nmanager: {url: manager}", "manager.url"),
    "not YAML": ("node: [", "config"),
    "not a mapping": ("- a", "config"),
}


@pytest.mark.parametrize(("text", "key"), REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_file_is_refused_with_the_key(tmp_path: Path, text: str, key: str) -> None:
    with pytest.raises(InvalidConfiguration) as refusal:
        load(tmp_path, text)
    assert refusal.value.key == key
    assert refusal.value.message.startswith(f"{key}: ")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match=r"^config: .*none\.yaml"):
        load_settings(tmp_path / "none.yaml", {})


@pytest.mark.parametrize(
    ("variable", "key"),
    [("FPGA_PLUGIN_NODES", "nodes"), ("FPGA_PLUGIN_LOG__LEVELS", "log.levels")],
)
def test_an_unknown_variable_is_refused_with_key_and_name(variable: str, key: str) -> None:
    with pytest.raises(InvalidConfiguration, match=variable) as refusal:
        load_settings(None, {"NODE_NAME": "n", variable: "x"})
    assert refusal.value.key == key


def test_a_socket_path_of_exactly_107_bytes_is_taken() -> None:
    name = "fpga-platform-fpga.sock"
    folder = "/" + "d" * (107 - len(name) - 2)
    environ = {"NODE_NAME": "n", "FPGA_PLUGIN_KUBELET__DEVICE_PLUGIN_DIR": folder}
    settings = load_settings(None, environ)
    assert len(str(settings.kubelet.plugin_socket("fpga"))) == 107
    environ["FPGA_PLUGIN_KUBELET__DEVICE_PLUGIN_DIR"] = folder + "d"
    with pytest.raises(InvalidConfiguration, match="108 bytes"):
        load_settings(None, environ)


@pytest.mark.parametrize("command", ["serve", "doctor"])
def test_a_broken_configuration_ends_with_code_2_and_one_line_that_names_the_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    file = tmp_path / "plugin.yaml"
    file.write_text("node: n\nhealth: {intervall: 1}")
    assert main([command, "--config", str(file)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "health.intervall" in lines[0]
    assert "interval_seconds" in lines[0]


@pytest.mark.parametrize("url", ["https://ada:hunter2@manager", "http://h/?token=hunter2"])
def test_a_secret_in_the_managers_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidConfiguration) as refused:
        load_settings(None, {"NODE_NAME": "n", "FPGA_PLUGIN_MANAGER__URL": url})
    assert refused.value.key == "manager.url"
    assert "hunter2" not in refused.value.message
