"""Can the kubelet be reached, does it know the plugin, and does it tell who holds what?"""

import http.client
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fpga_common.domain.errors import FpgaError
from fpga_plugin.doctor.addresses import local_address
from fpga_plugin.doctor.finding import Finding, Outcome, failed, ok
from fpga_plugin.kubelet.podresources import PodResourcesReader
from fpga_plugin.settings import PluginSettings, PoolSettings

CALL_SECONDS: Final = 3.0
METRICS_BYTES: Final = 1 << 20

_START = "is the kubelet running, and is its folder mounted into this container?"


def check_kubelet(settings: PluginSettings) -> Iterator[Finding]:
    """The kubelet's sockets and, for each pool, the plugin's own."""
    if not settings.kubelet.enabled:
        yield ok("kubelet", "kubelet.enabled is false: this node has none")
        return
    yield _listening("kubelet socket", settings.kubelet.device_plugin_dir / "kubelet.sock", _START)
    for pool in settings.pools:
        yield _registration(settings, pool)
    yield _pod_resources(settings)


def _registration(settings: PluginSettings, pool: PoolSettings) -> Finding:
    """The plugin's socket, and what the running plugin says of the registration itself."""
    path = settings.kubelet.plugin_socket(pool.name)
    check = f"registration {pool.resource}"
    found = _listening(check, path, "is fpga-plugin serve running?")
    if found.outcome is not Outcome.OK or registered(settings, pool) is not False:
        return found
    advice = "its log says why: look for registration_failed and kubelet_absent"
    return failed(check, "fpga-plugin serve runs, but the kubelet has not taken the pool", advice)


def registered(settings: PluginSettings, pool: PoolSettings) -> bool | None:
    """What the plugin's metrics say; None where they cannot be asked."""
    if not settings.metrics.bind:
        return None
    host, port = local_address(settings.metrics.bind)
    connection = http.client.HTTPConnection(host, port, timeout=CALL_SECONDS)
    try:
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read(METRICS_BYTES).decode(errors="replace").splitlines()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    start = f'fpga_plugin_registered{{resource="{pool.resource}"}} '
    values = [line.removeprefix(start) for line in lines if line.startswith(start)]
    return values == ["1.0"] if values else None


def _listening(check: str, path: Path, advice: str) -> Finding:
    try:
        if not stat.S_ISSOCK(path.stat().st_mode):
            return failed(check, f"{path} is not a socket", advice)
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(CALL_SECONDS)
            probe.connect(str(path))
    except OSError as error:
        return failed(check, f"{path}: {error.strerror or error}", advice)
    return ok(check, str(path))


def _pod_resources(settings: PluginSettings) -> Finding:
    check, path = "pod resources", settings.kubelet.pod_resources_socket
    reader = PodResourcesReader(path, [pool.resource for pool in settings.pools])
    try:
        count = len(reader.listing(time.monotonic() + CALL_SECONDS).devices)
    except FpgaError as error:
        return failed(check, error.message, _START)
    finally:
        reader.close()
    return ok(check, f"{path}: {count} device(s) held by pods")
