"""Who may do what: one privileged container, narrow rights, no secret where it can be read."""

from pathlib import Path
from typing import Any

import pytest

from support.chart_render import CI_VALUES, ci, containers, objects, one, pod_templates

every_ci_file = pytest.mark.parametrize("values", CI_VALUES, ids=lambda path: path.stem)
TALKS_TO_THE_API = {"manager", "bootstrap"}
RUNS_AS_ROOT = {"plugin"}


def privileged(values: Path) -> list[tuple[str, str]]:
    return [
        (component, container["name"])
        for component, template in pod_templates(objects(values))
        for container in containers(template)
        if container["securityContext"].get("privileged")
    ]


@every_ci_file
def test_the_plugin_is_the_only_privileged_container(values: Path) -> None:
    simulated = values == ci("simulation")
    assert privileged(values) == ([] if simulated else [("plugin", "plugin")])


@every_ci_file
def test_every_other_container_is_restricted(values: Path) -> None:
    for component, template in pod_templates(objects(values)):
        for container in containers(template):
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True, container["name"]
            if not context.get("privileged"):
                assert context["allowPrivilegeEscalation"] is False
                assert context["capabilities"] == {"drop": ["ALL"]}
        pod = template["spec"]["securityContext"]
        assert pod["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod.get("runAsNonRoot", False) is (component not in RUNS_AS_ROOT)


@every_ci_file
def test_only_manager_and_bootstrap_hold_a_token_of_the_kubernetes_api(values: Path) -> None:
    found = objects(values)
    for component, template in pod_templates(found):
        expected = component in TALKS_TO_THE_API
        assert template["spec"]["automountServiceAccountToken"] is expected, component
    for item in found:
        if item["kind"] == "ServiceAccount":
            assert item["automountServiceAccountToken"] is False


@every_ci_file
def test_the_plugin_has_no_rights_in_the_kubernetes_api(values: Path) -> None:
    found = objects(values)
    account = one(found, "ServiceAccount", "plugin")["metadata"]["name"]
    subjects = [subject["name"] for item in found for subject in item.get("subjects", [])]
    assert account not in subjects


def rules(item: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {
        (resource, verb, ",".join(rule.get("resourceNames", [])))
        for rule in item["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_the_managers_rights_are_the_calls_that_it_makes() -> None:
    assert rules(one(objects(), "ClusterRole", "manager")) == {
        ("nodes", "get", ""),
        ("nodes", "patch", ""),
        ("pods", "get", ""),
        ("events", "create", ""),
        ("tokenreviews", "create", ""),
        ("subjectaccessreviews", "create", ""),
    }


def test_the_bootstrap_reads_and_changes_its_own_objects_only() -> None:
    own = "fpga-platform-ca,fpga-platform-manager,fpga-platform-redis,fpga-platform-web"
    assert rules(one(objects(), "Role", "bootstrap")) == {
        ("secrets", "create", ""),
        ("configmaps", "create", ""),
        ("secrets", "get", own),
        ("secrets", "patch", own),
        ("configmaps", "get", "fpga-platform-authority"),
        ("configmaps", "patch", "fpga-platform-authority"),
    }


@every_ci_file
def test_no_secret_is_rendered(values: Path) -> None:
    assert "Secret" not in {item["kind"] for item in objects(values)}


@every_ci_file
def test_environments_hold_addresses_and_names_only(values: Path) -> None:
    allowed = {
        "NODE_NAME",
        "AGENT_IP",
        "FPGA_PLUGIN_AGENT__ADDRESS",
        "FPGA_MANAGER_METRICS__BIND",
    }
    for _, template in pod_templates(objects(values)):
        for container in containers(template):
            variables = container.get("env", [])
            assert {variable["name"] for variable in variables} <= allowed
            assert not [v for v in variables if "secretKeyRef" in v.get("valueFrom", {})]
            assert "envFrom" not in container


@every_ci_file
def test_no_service_links_so_that_no_service_reads_as_a_setting(values: Path) -> None:
    for _, template in pod_templates(objects(values)):
        assert template["spec"]["enableServiceLinks"] is False


def test_the_authoritys_key_reaches_no_pod() -> None:
    mounted = [
        volume["secret"]["secretName"]
        for _, template in pod_templates(objects())
        for volume in template["spec"]["volumes"]
        if "secret" in volume
    ]
    assert sorted(mounted) == [
        "fpga-platform-manager",
        "fpga-platform-redis",
        "fpga-platform-redis",
        "fpga-platform-web",
    ]


def test_each_component_has_a_network_policy_that_selects_its_pods() -> None:
    found = objects()
    for component in ("plugin", "manager", "redis", "web"):
        policy = one(found, "NetworkPolicy", component)
        selected = policy["spec"]["podSelector"]["matchLabels"]
        assert selected["app.kubernetes.io/component"] == component


def test_redis_answers_the_manager_alone_and_calls_nobody() -> None:
    policy = one(objects(), "NetworkPolicy", "redis")["spec"]
    (rule,) = policy["ingress"]
    (peer,) = rule["from"]
    assert peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "manager"
    assert policy["egress"] == []


def test_policies_name_ports_that_the_containers_have() -> None:
    found = objects()
    for component, template in pod_templates(found):
        if component == "bootstrap":
            continue
        names = {port["name"] for c in containers(template) for port in c.get("ports", [])}
        policy = one(found, "NetworkPolicy", component)["spec"]
        assert {port["port"] for rule in policy["ingress"] for port in rule["ports"]} <= names
