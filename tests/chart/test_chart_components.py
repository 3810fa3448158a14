"""The shape of each component, asserted on the rendered objects as data."""

from typing import Any

import pytest

from support.chart_render import ci, containers, objects, one, pod_templates


def plugin(*settings: str, values: str = "default") -> dict[str, Any]:
    daemon_set = one(objects(ci(values), *settings), "DaemonSet", "plugin")
    spec: dict[str, Any] = daemon_set["spec"]
    return spec


def volumes(pod: dict[str, Any]) -> dict[str, Any]:
    return {volume["name"]: volume for volume in pod["volumes"]}


def environment(container: dict[str, Any]) -> dict[str, Any]:
    return {variable["name"]: variable for variable in container["env"]}


def test_an_update_never_runs_two_plugins_on_a_node() -> None:
    assert plugin()["updateStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
    }


def test_the_plugin_sees_the_nodes_folders_at_their_own_paths() -> None:
    pod = plugin()["template"]["spec"]
    (container,) = pod["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    paths = {
        name: volume["hostPath"]["path"]
        for name, volume in volumes(pod).items()
        if "hostPath" in volume
    }
    assert paths == {
        "sys": "/sys",
        "dev": "/dev",
        "device-plugins": "/var/lib/kubelet/device-plugins",
        "pod-resources": "/var/lib/kubelet/pod-resources",
        "state": "/var/lib/fpga-platform",
    }
    assert {name: mounts[name] for name in paths} == paths


def test_the_plugin_shows_a_short_lived_token_that_only_the_manager_takes() -> None:
    token = volumes(plugin()["template"]["spec"])["token"]["projected"]["sources"]
    assert token == [
        {
            "serviceAccountToken": {
                "audience": "fpga-platform",
                "expirationSeconds": 3600,
                "path": "token",
            }
        }
    ]


@pytest.mark.parametrize(
    ("settings", "field", "address"),
    [
        ((), "status.hostIP", "$(AGENT_IP):9444"),
        (("plugin.agent.hostPort=19444",), "status.hostIP", "$(AGENT_IP):19444"),
        (("plugin.agent.hostPort=0",), "status.podIP", "$(AGENT_IP):9444"),
    ],
)
def test_the_agent_advertises_an_address_that_the_manager_can_reach(
    settings: tuple[str, ...], field: str, address: str
) -> None:
    (container,) = plugin(*settings)["template"]["spec"]["containers"]
    variables = environment(container)
    assert variables["AGENT_IP"]["valueFrom"]["fieldRef"]["fieldPath"] == field
    assert variables["FPGA_PLUGIN_AGENT__ADDRESS"]["value"] == address
    assert variables["NODE_NAME"]["valueFrom"]["fieldRef"]["fieldPath"] == "spec.nodeName"


def test_the_plugin_has_time_to_finish_a_write_and_comes_before_other_pods() -> None:
    pod = plugin()["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] == 600
    assert pod["priorityClassName"] == "system-node-critical"
    assert pod["tolerations"] == [{"operator": "Exists"}]
    assert "nodeSelector" not in pod
    assert "affinity" not in pod


def test_any_of_the_named_labels_selects_a_node() -> None:
    pod = plugin(values="selected-nodes")["template"]["spec"]
    terms = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    keys = [term["matchExpressions"][0]["key"] for term in terms["nodeSelectorTerms"]]
    assert keys == [
        "feature.node.kubernetes.io/pci-1200_8086.present",
        "feature.node.kubernetes.io/pci-1200_10ee.present",
    ]
    assert "priorityClassName" not in pod
    assert "tolerations" not in pod


def test_host_folders_reach_the_plugin() -> None:
    pod = plugin(values="selected-nodes")["template"]["spec"]
    (container,) = pod["containers"]
    mount = next(m for m in container["volumeMounts"] if m["name"] == "host-xrt")
    assert mount == {"name": "host-xrt", "mountPath": "/opt/xilinx", "readOnly": True}
    assert volumes(pod)["host-xrt"]["hostPath"]["path"] == "/opt/xilinx"


def test_a_simulation_makes_cards_first_and_touches_no_hardware() -> None:
    pod = plugin(values="simulation")["template"]["spec"]
    (cards,) = pod["initContainers"]
    assert cards["image"].startswith("fpga-platform/simulation:")
    assert cards["args"] == ["write", "--root=/simulated", "--card=pac-a10", "--card=n3000"]
    assert not {"sys", "dev"} & volumes(pod).keys()


def test_a_simulation_asks_for_no_volume_claim() -> None:
    found = objects(ci("simulation"))
    assert "PersistentVolumeClaim" not in {item["kind"] for item in found}
    pod = one(found, "Deployment", "manager")["spec"]["template"]["spec"]
    assert volumes(pod)["data"] == {"name": "data", "emptyDir": {}}


def test_a_simulation_can_keep_its_ledger_in_an_existing_claim() -> None:
    found = objects(ci("simulation"), "manager.persistence.existingClaim=kept")
    pod = one(found, "Deployment", "manager")["spec"]["template"]["spec"]
    assert volumes(pod)["data"]["persistentVolumeClaim"] == {"claimName": "kept"}


def test_the_manager_is_one_pod_at_a_time_with_migrated_ledger() -> None:
    deployment = one(objects(), "Deployment", "manager")["spec"]
    pod = deployment["template"]["spec"]
    assert deployment["strategy"] == {"type": "Recreate"}
    assert deployment["replicas"] == 1
    assert [c["name"] for c in pod["initContainers"]] == ["migrate"]
    assert [c["name"] for c in pod["containers"]] == ["api", "worker", "reconciler"]


def test_the_managers_processes_have_metrics_ports_of_their_own() -> None:
    pod = one(objects(), "Deployment", "manager")["spec"]["template"]["spec"]
    for container in pod["containers"]:
        bind = environment(container)["FPGA_MANAGER_METRICS__BIND"]["value"]
        ports = {port["containerPort"] for port in container["ports"]}
        assert int(bind.rpartition(":")[2]) in ports
    all_ports = [port["containerPort"] for c in pod["containers"] for port in c["ports"]]
    assert len(all_ports) == len(set(all_ports))


def test_ledger_and_bitstreams_outlive_an_uninstall() -> None:
    claim = one(objects(), "PersistentVolumeClaim", "manager")
    assert claim["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"


def test_redis_has_no_volume_and_reads_its_password_from_a_file() -> None:
    pod = one(objects(), "Deployment", "redis")["spec"]["template"]["spec"]
    assert {"secret", "emptyDir"} == {
        key for volume in pod["volumes"] for key in volume if key != "name"
    }
    (container,) = pod["containers"]
    assert "env" not in container


def test_the_bootstrap_runs_before_install_and_upgrade_after_what_it_needs() -> None:
    found = objects()
    hooks = {
        item["kind"]: item["metadata"]["annotations"]
        for item in found
        if item["metadata"]["labels"]["app.kubernetes.io/component"] == "bootstrap"
    }
    assert set(hooks) == {"ConfigMap", "ServiceAccount", "Role", "RoleBinding", "Job"}
    assert {hook["helm.sh/hook"] for hook in hooks.values()} == {"pre-install,pre-upgrade"}
    weights = {kind: int(hook["helm.sh/hook-weight"]) for kind, hook in hooks.items()}
    assert max(weight for kind, weight in weights.items() if kind != "Job") < weights["Job"]


def test_without_the_bootstrap_nothing_of_it_is_left() -> None:
    components = {
        item["metadata"]["labels"]["app.kubernetes.io/component"]
        for item in objects(ci("own-secrets"))
    }
    assert components == {"plugin", "manager", "redis"}


@pytest.mark.parametrize("component", ["plugin", "manager", "web"])
def test_a_changed_configuration_restarts_the_pods(component: str) -> None:
    before = dict(pod_templates(objects()))[component]
    after = dict(pod_templates(objects(None, "log.level=debug")))[component]
    assert before["metadata"]["annotations"] != after["metadata"]["annotations"]


def test_every_long_running_container_has_resources_and_a_way_to_be_seen_alive() -> None:
    for component, template in pod_templates(objects()):
        for container in containers(template):
            assert container["resources"]["requests"]
            assert container["resources"]["limits"]["memory"]
        if component != "bootstrap":
            for container in template["spec"]["containers"]:
                assert container.get("livenessProbe"), container["name"]


def test_images_take_registry_digest_and_pull_secrets() -> None:
    found = objects(ci("published"))
    images = {
        component: template["spec"]["containers"][0]["image"]
        for component, template in pod_templates(found)
    }
    assert images["plugin"] == "registry.example:5000/fpga-platform/plugin:0.1.0"
    assert images["redis"].startswith("registry.example:5000/valkey/valkey:")
    assert images["web"] == f"registry.example:5000/fpga-platform/web@sha256:{'0' * 64}"
    for _, template in pod_templates(found):
        assert template["spec"]["imagePullSecrets"] == [{"name": "registry-login"}]


def test_by_default_no_image_names_a_registry() -> None:
    for _, template in pod_templates(objects()):
        for container in containers(template):
            first = container["image"].partition("/")[0]
            assert "." not in first
            assert ":" not in first


def test_the_ingress_points_at_the_consoles_service() -> None:
    found = objects(ci("published"))
    (rule,) = one(found, "Ingress", "web")["spec"]["rules"]
    assert rule["host"] == "fpga.example"
    service = rule["http"]["paths"][0]["backend"]["service"]
    assert service["name"] == one(found, "Service", "web")["metadata"]["name"]


def test_several_consoles_have_a_disruption_budget() -> None:
    assert one(objects(ci("published")), "PodDisruptionBudget", "web")
    assert "PodDisruptionBudget" not in {item["kind"] for item in objects()}


@pytest.mark.parametrize("component", ["manager", "web", "redis"])
def test_services_point_at_named_ports_of_their_pods(component: str) -> None:
    found = objects()
    template = dict(pod_templates(found))[component]
    names = {port["name"] for c in containers(template) for port in c.get("ports", [])}
    for port in one(found, "Service", component)["spec"]["ports"]:
        assert port["targetPort"] in names
