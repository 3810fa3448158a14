"""Renders the chart with the real helm, and picks from what comes out; used by tests/chart."""

import atexit
import functools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

import kube_tools

ROOT: Final = Path(__file__).resolve().parents[2]
CHART: Final = ROOT / "charts" / "fpga-platform"
CI_VALUES: Final = tuple(sorted((CHART / "ci").glob("*-values.yaml")))
RELEASE: Final = "fpga-platform"
NAMESPACE: Final = "fpga-system"
HELM_SECONDS: Final = 60

Object = dict[str, Any]


class Refused(Exception):
    """helm did not render; the message is what it said."""


@functools.cache
def _private_home() -> Path:
    """Helm's folders: nothing of the person who runs the tests is read or written."""
    folder = Path(tempfile.mkdtemp(prefix="fp-helm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def helm(*arguments: str) -> str:
    """Run helm and return its output. Raises Refused."""
    home = _private_home()
    folders = {f"HELM_{name}_HOME": str(home / name) for name in ("CACHE", "CONFIG", "DATA")}
    result = subprocess.run(
        [str(kube_tools.find("helm")), *arguments],
        env={**os.environ, **folders, "KUBECONFIG": os.devnull},
        capture_output=True,
        text=True,
        timeout=HELM_SECONDS,
        check=False,
    )
    if result.returncode != 0:
        raise Refused(result.stderr or result.stdout)
    return result.stdout


@functools.cache
def rendered(values: Path | None = None, *settings: str) -> str:
    """The manifests for a values file and ``--set`` pairs. Raises Refused."""
    arguments = ["template", RELEASE, str(CHART), "--namespace", NAMESPACE]
    if values:
        arguments += ["--values", str(values)]
    for setting in settings:
        arguments += ["--set", setting]
    return helm(*arguments)


def objects(values: Path | None = None, *settings: str) -> list[Object]:
    """The rendered objects, hooks included."""
    found: list[Object] = json.loads(_parsed(values, *settings))
    return found


@functools.cache
def _parsed(values: Path | None, *settings: str) -> str:
    """The objects as JSON: read a hundred times faster than YAML, and nobody's changes are kept."""
    documents = yaml.safe_load_all(rendered(values, *settings))
    return json.dumps([item for item in documents if item])


def ci(name: str) -> Path:
    """The values file ``ci/<name>-values.yaml``."""
    return CHART / "ci" / f"{name}-values.yaml"


def one(found: list[Object], kind: str, component: str) -> Object:
    """The only object of that kind and component."""
    return next(
        item
        for item in found
        if item["kind"] == kind
        and item["metadata"]["labels"]["app.kubernetes.io/component"] == component
    )


def pod_templates(found: list[Object]) -> Iterator[tuple[str, Object]]:
    """Component and pod template of every workload."""
    for item in found:
        if item["kind"] in ("DaemonSet", "Deployment", "Job"):
            template = item["spec"]["template"]
            yield template["metadata"]["labels"]["app.kubernetes.io/component"], template


def containers(template: Object) -> list[Object]:
    """Every container of a pod template, the initialising ones first."""
    spec = template["spec"]
    return [*spec.get("initContainers", []), *spec["containers"]]
