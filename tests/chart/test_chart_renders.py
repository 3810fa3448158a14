"""Every set of values that we promise renders, validates, repeats and names its objects alike."""

import functools
import json
from pathlib import Path

import kubernetes_validate
import pytest

from support.chart_render import (
    CHART,
    CI_VALUES,
    NAMESPACE,
    RELEASE,
    helm,
    objects,
    pod_templates,
    rendered,
)

STANDARD_LABELS = {
    "app.kubernetes.io/name": "fpga-platform",
    "app.kubernetes.io/instance": RELEASE,
    "app.kubernetes.io/part-of": "fpga-platform",
    "app.kubernetes.io/managed-by": "Helm",
}
CLUSTER_WIDE = {"ClusterRole", "ClusterRoleBinding"}
VERSIONS = ("1.28", kubernetes_validate.latest_version())

every_ci_file = pytest.mark.parametrize("values", CI_VALUES, ids=lambda path: path.stem)


@every_ci_file
def test_helm_lint_finds_nothing(values: Path) -> None:
    assert "0 chart(s) failed" in helm("lint", "--strict", str(CHART), "--values", str(values))


@every_ci_file
@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_fits_the_schemas_of_the_oldest_and_the_newest_kubernetes(
    values: Path, version: str
) -> None:
    found = objects(values)
    assert found
    for item in found:
        validate(json.dumps(item), version)


@functools.cache
def validate(item: str, version: str) -> None:
    """Raise ValidationError; each object once, since most are alike in all renders."""
    kubernetes_validate.validate(json.loads(item), version, strict=True)


@every_ci_file
def test_two_renders_of_the_same_values_are_identical(values: Path) -> None:
    again = helm("template", RELEASE, str(CHART), "--namespace", NAMESPACE, "--values", str(values))
    assert again == rendered(values)


@every_ci_file
def test_every_object_carries_the_standard_labels(values: Path) -> None:
    for item in objects(values):
        labels = item["metadata"]["labels"]
        assert labels.items() >= STANDARD_LABELS.items(), item["metadata"]["name"]
        assert labels["app.kubernetes.io/component"]
        assert labels["helm.sh/chart"].startswith("fpga-platform-")


@every_ci_file
def test_every_pod_carries_the_labels_that_its_workload_selects(values: Path) -> None:
    for item in objects(values):
        selected = item.get("spec", {}).get("selector", {}).get("matchLabels")
        if selected and "template" in item["spec"]:
            assert "helm.sh/chart" not in selected
            assert item["spec"]["template"]["metadata"]["labels"].items() >= selected.items()


@every_ci_file
def test_every_object_is_in_the_releases_namespace_or_of_the_whole_cluster(values: Path) -> None:
    for item in objects(values):
        if item["kind"] in CLUSTER_WIDE:
            assert item["metadata"]["name"].startswith(f"{NAMESPACE}-")
        else:
            assert item["metadata"]["namespace"] == NAMESPACE


@every_ci_file
def test_what_an_object_refers_to_is_rendered_or_made_by_the_bootstrap(values: Path) -> None:
    found = objects(values)
    there = {(item["kind"], item["metadata"]["name"]) for item in found}
    for component, template in pod_templates(found):
        assert ("ServiceAccount", template["spec"]["serviceAccountName"]) in there, component
    for item in found:
        for subject in item.get("subjects", []):
            assert (subject["kind"], subject["name"]) in there


@every_ci_file
def test_each_kind_and_name_is_rendered_once(values: Path) -> None:
    names = [(item["kind"], item["metadata"]["name"]) for item in objects(values)]
    assert len(names) == len(set(names))


def test_a_long_release_name_still_gives_names_that_kubernetes_takes() -> None:
    output = helm("template", "r" * 53, str(CHART), "--namespace", NAMESPACE)
    names = [line.split()[1] for line in output.splitlines() if line.startswith("  name: ")]
    assert names
    assert all(len(name) <= 63 or name.startswith(NAMESPACE) for name in names)
