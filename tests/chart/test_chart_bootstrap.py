"""The bootstrap job's script against a real HTTP server and the real bootstrap command."""

import base64
import copy
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cryptography import x509

from support.chart_render import CHART, CI_VALUES, ci, containers, objects, one

SCRIPT = CHART / "files" / "make_secrets.py"
TOKEN = "job-token"
SECRETS = {"fpga-platform-ca", "fpga-platform-manager", "fpga-platform-redis", "fpga-platform-web"}


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_secrets", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_secrets"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


make_secrets = load_script()


class Cluster(ThreadingHTTPServer):
    """Secrets and ConfigMaps of one namespace, as the API server keeps them."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, dict[str, Any]] = {}
        self.changes: list[str] = []
        self.refuse_with = 0

    def api(self) -> Any:
        return make_secrets.Api(f"http://127.0.0.1:{self.server_port}", TOKEN)

    def data(self, path: str) -> dict[str, str]:
        content: dict[str, str] = self.objects[path]["data"]
        return content

    def file(self, secret: str, key: str) -> bytes:
        return base64.b64decode(self.data(f"/secrets/{secret}")[key])


class _Handler(BaseHTTPRequestHandler):
    server: Cluster

    def do_GET(self) -> None:
        found = self.server.objects.get(self.path)
        self._answer(200 if found else 404, found or {"reason": "NotFound"})

    def do_POST(self) -> None:
        body = self._body()
        path = f"{self.path}/{body['metadata']['name']}"
        if path in self.server.objects:
            self._answer(409, {"reason": "AlreadyExists"})
            return
        self.server.objects[path] = body
        self.server.changes.append(f"create {path}")
        self._answer(201, body)

    def do_PATCH(self) -> None:
        assert self.headers["Content-Type"] == "application/merge-patch+json"
        self.server.objects[self.path]["data"].update(self._body()["data"])
        self.server.changes.append(f"patch {self.path}")
        self._answer(200, self.server.objects[self.path])

    def _body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return body

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        if self.server.refuse_with:
            status = self.server.refuse_with
        elif self.headers["Authorization"] != f"Bearer {TOKEN}":
            status = 401
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Quiet."""


@contextmanager
def serving() -> Iterator[Cluster]:
    server = Cluster()
    thread = threading.Thread(target=server.serve_forever, name="cluster", daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)


@pytest.fixture(autouse=True, scope="module")
def _our_commands_are_found() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        yield


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """An empty namespace."""
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def first_install(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The objects that a first run makes in an empty namespace."""
    with serving() as server:
        run(server, tmp_path_factory.mktemp("install"))
        return server.objects


@pytest.fixture
def installed(cluster: Cluster, first_install: dict[str, Any]) -> Cluster:
    """A namespace after a first run."""
    cluster.objects = copy.deepcopy(first_install)
    return cluster


def plan(folder: Path, values: Path | None = None) -> Any:
    data = one(objects(values), "ConfigMap", "bootstrap")["data"]
    path = folder / "plan.json"
    path.write_text(data["plan.json"], encoding="utf-8")
    return make_secrets.Plan.read(path)


def run(cluster: Cluster, folder: Path, values: Path | None = None) -> None:
    files = folder / "files"
    files.mkdir()
    make_secrets.make_secrets(cluster.api(), plan(folder, values), files)


def test_an_empty_namespace_gets_every_secret_and_the_authority(installed: Cluster) -> None:
    made = {path.rpartition("/")[2] for path in installed.objects if path.startswith("/secrets/")}
    assert made == SECRETS
    shown = installed.data("/configmaps/fpga-platform-authority")["ca.crt"]
    assert shown.encode() == installed.file("fpga-platform-ca", "ca.crt")
    assert installed.file("fpga-platform-redis", "redis-password")
    assert len(installed.file("fpga-platform-web", "web-secret-key")) >= 32


def test_only_one_secret_holds_the_authoritys_key(installed: Cluster) -> None:
    holders = [path for path, item in installed.objects.items() if "ca.key" in item["data"]]
    assert holders == ["/secrets/fpga-platform-ca"]


def test_the_certificate_of_the_api_has_the_name_that_the_platform_calls(
    installed: Cluster,
) -> None:
    pem = installed.file("fpga-platform-manager", "manager-server.crt")
    certificate = x509.load_pem_x509_certificate(pem)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "fpga-platform-manager.fpga-system.svc" in names.get_values_for_type(x509.DNSName)


def test_a_second_run_changes_nothing(installed: Cluster, tmp_path: Path) -> None:
    before = copy.deepcopy(installed.objects)
    run(installed, tmp_path)
    assert installed.changes == []
    assert installed.objects == before


def test_what_is_lost_or_stale_is_made_anew_under_the_same_authority(
    installed: Cluster, tmp_path: Path
) -> None:
    authority = installed.file("fpga-platform-ca", "ca.crt")
    del installed.objects["/secrets/fpga-platform-manager"]
    del installed.data("/secrets/fpga-platform-web")["web-secret-key"]
    installed.data("/configmaps/fpga-platform-authority")["ca.crt"] = "stale"
    run(installed, tmp_path)
    assert installed.changes == [
        "create /secrets/fpga-platform-manager",
        "patch /secrets/fpga-platform-web",
        "patch /configmaps/fpga-platform-authority",
    ]
    assert installed.file("fpga-platform-manager", "ca.crt") == authority
    assert installed.file("fpga-platform-web", "web-secret-key")
    shown = installed.data("/configmaps/fpga-platform-authority")["ca.crt"]
    assert shown.encode() == authority


def test_secrets_that_the_values_name_are_left_to_their_owner(
    cluster: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run(cluster, tmp_path, ci("external-redis"))
    assert "/secrets/fpga-platform-redis" not in cluster.objects
    assert "/secrets/redis-login" not in cluster.objects
    _assert_no_secret_in("".join(capfd.readouterr()), cluster)


def _assert_no_secret_in(printed: str, cluster: Cluster) -> None:
    assert "created Secret fpga-platform-manager" in printed
    for path, item in cluster.objects.items():
        for key in item["data"] if path.startswith("/secrets/") else ():
            assert cluster.file(path.rpartition("/")[2], key).decode() not in printed


def test_a_refusing_api_server_ends_the_run_with_the_call_that_failed(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.refuse_with = 403
    with pytest.raises(make_secrets.BootstrapFailed, match="GET secrets/fpga-platform-ca: 403"):
        run(cluster, tmp_path)
    assert cluster.objects == {}


@pytest.mark.parametrize("values", CI_VALUES, ids=lambda path: path.stem)
def test_every_secret_that_a_pod_mounts_is_made_or_named_by_the_values(values: Path) -> None:
    found = objects(values)
    plans = [i["data"]["plan.json"] for i in found if "plan.json" in i.get("data", {})]
    made = {name for text in plans for name in json.loads(text)["secrets"]}
    named = {"redis-login", "fpga-manager-own", "fpga-redis-own"}
    for item in found:
        if item["kind"] in ("Deployment", "DaemonSet"):
            for volume in item["spec"]["template"]["spec"]["volumes"]:
                if "secret" in volume:
                    assert volume["secret"]["secretName"] in made | named


def test_the_job_runs_the_script_that_is_tested_here() -> None:
    found = objects()
    assert one(found, "ConfigMap", "bootstrap")["data"]["make_secrets.py"].strip() == (
        SCRIPT.read_text(encoding="utf-8").strip()
    )
    (container,) = containers(one(found, "Job", "bootstrap")["spec"]["template"])
    assert container["command"][1].endswith("/make_secrets.py")
