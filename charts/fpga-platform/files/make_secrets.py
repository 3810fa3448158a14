"""Makes the platform's Secrets where they are absent: the job before install and upgrade.

What exists in the cluster is laid into a folder, ``fpga-bitstream-manager bootstrap`` adds the
files that are absent, and only those go back. Knows three calls of the Kubernetes API and nothing
of what is in the files. Standard library only. Prints names, never contents.
"""

import argparse
import base64
import json
import os
import secrets
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
CALL_SECONDS = 10.0
BOOTSTRAP_SECONDS = 120.0
SIGNING_KEY = "web-secret-key"  # of the console's cookies
AUTHORITY = "ca.crt"


class BootstrapFailed(Exception):
    """A call or the command failed; the message says which."""


@dataclass(frozen=True)
class Api:
    """The core objects of one namespace."""

    url: str
    token: str
    tls: ssl.SSLContext | None = None

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        """An object, None where there is none."""
        return self._call("GET", f"{kind}/{name}", None, absent=True)

    def create(self, kind: str, body: Mapping[str, Any]) -> None:
        """Make an object; one that exists by now is an error, and the job's next try reads it."""
        self._call("POST", kind, body)

    def patch(self, kind: str, name: str, body: Mapping[str, Any]) -> None:
        """Merge ``body`` into an object."""
        self._call("PATCH", f"{kind}/{name}", body)

    def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None, *, absent: bool = False
    ) -> dict[str, Any] | None:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = urllib.request.Request(  # noqa: S310
            f"{self.url}/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": kind},
        )
        try:
            with urllib.request.urlopen(request, timeout=CALL_SECONDS, context=self.tls) as answer:  # noqa: S310
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            if absent and error.code == 404:
                return None
            raise BootstrapFailed(f"{method} {path}: {error.code} {error.reason}") from error
        except OSError as error:
            raise BootstrapFailed(f"{method} {path}: {error}") from error


@dataclass(frozen=True)
class Plan:
    """Which Secret holds which files, and the ConfigMap that shows the authority to everyone."""

    secrets: Mapping[str, tuple[str, ...]]
    authority: str
    labels: Mapping[str, str]
    hosts: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> "Plan":
        """Read the chart's JSON file."""
        values = json.loads(path.read_text(encoding="utf-8"))
        files = {name: tuple(keys) for name, keys in values["secrets"].items()}
        return cls(files, values["authority"], values["labels"], tuple(values["hosts"]))


def make_secrets(api: Api, plan: Plan, folder: Path) -> None:
    """Bring the cluster to the plan. Raises BootstrapFailed."""
    found = {name: api.get("secrets", name) for name in plan.secrets}
    for secret in found.values():
        _lay_out(secret, folder)
    _add_absent_files(plan, folder)
    for name, keys in plan.secrets.items():
        _publish(api, plan, name, _encoded(folder, keys), found[name])
    if plan.authority:
        _show_authority(api, plan, (folder / AUTHORITY).read_text(encoding="ascii"))


def _lay_out(secret: Mapping[str, Any] | None, folder: Path) -> None:
    for key, value in ((secret or {}).get("data") or {}).items():
        (folder / key).write_bytes(base64.b64decode(value))


def _add_absent_files(plan: Plan, folder: Path) -> None:
    command = ["fpga-bitstream-manager", "bootstrap", "--directory", str(folder)]
    for host in plan.hosts:
        command += ["--host", host]
    try:
        subprocess.run(command, check=True, timeout=BOOTSTRAP_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        raise BootstrapFailed(str(error)) from error
    signing_key = folder / SIGNING_KEY
    if not signing_key.exists():
        signing_key.write_text(secrets.token_urlsafe(32), encoding="ascii")


def _encoded(folder: Path, keys: tuple[str, ...]) -> dict[str, str]:
    return {key: base64.b64encode((folder / key).read_bytes()).decode() for key in keys}


def _publish(
    api: Api, plan: Plan, name: str, data: Mapping[str, str], found: Mapping[str, Any] | None
) -> None:
    if found is None:
        metadata = {"name": name, "labels": dict(plan.labels)}
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": dict(data)}
        api.create("secrets", body)
        print(f"created Secret {name}")
        return
    absent = {key: value for key, value in data.items() if key not in (found.get("data") or {})}
    if absent:
        api.patch("secrets", name, {"data": absent})
    print(f"kept Secret {name}" + (f", added {', '.join(sorted(absent))}" if absent else ""))


def _show_authority(api: Api, plan: Plan, certificate: str) -> None:
    found = api.get("configmaps", plan.authority)
    data = {AUTHORITY: certificate}
    if found is None:
        metadata = {"name": plan.authority, "labels": dict(plan.labels)}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        api.create("configmaps", body)
        print(f"created ConfigMap {plan.authority}")
    elif (found.get("data") or {}).get(AUTHORITY) != certificate:
        api.patch("configmaps", plan.authority, {"data": data})
        print(f"renewed ConfigMap {plan.authority}")


def _in_cluster(namespace: str) -> Api:
    host = os.environ["KUBERNETES_SERVICE_HOST"]
    address = f"[{host}]" if ":" in host else host
    port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    tls = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
    token = (ACCOUNT / "token").read_text(encoding="ascii").strip()
    return Api(f"https://{address}:{port}/api/v1/namespaces/{namespace}", token, tls)


def main() -> int:
    """Exit code 1 with one line on stderr when something failed."""
    parser = argparse.ArgumentParser(description="Make the platform's Secrets where absent.")
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--directory", type=Path, required=True)
    options = parser.parse_args()
    os.umask(0o077)
    options.directory.mkdir(parents=True, exist_ok=True)
    try:
        make_secrets(_in_cluster(options.namespace), Plan.read(options.plan), options.directory)
    except BootstrapFailed as error:
        print(f"make_secrets: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
