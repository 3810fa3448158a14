"""What a FakeKubelet can be told to do otherwise than a real one, mostly to be quicker."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KubeletOptions:
    """Times in seconds; the defaults are the kubelet's own, except where noted.

    ``endpoint_stop_grace``: how long capacity outlives a plugin's stream.
    ``prestart_timeout``: limit of one PreStartContainer call. ``prestart_retry``: pause before a
    failed container start is tried again (the kubelet takes about 30 s).
    ``call_timeout``: limit of Allocate and GetPreferredAllocation; the kubelet has none, the fake
    has one so that no test hangs.
    ``stale_cleanup_bug``: when an old stream ends after a new registration for that name, the
    clean-up disconnects the new client, as Kubernetes 1.34 to 1.36 do.
    ``check_device_nodes``: refuse, as a container runtime does, a device whose host path is not a
    device node.
    """

    dial_timeout: float = 10.0
    endpoint_stop_grace: float = 300.0
    prestart_timeout: float = 30.0
    prestart_retry: float = 1.0
    call_timeout: float = 60.0
    stale_cleanup_bug: bool = False
    check_device_nodes: bool = True
    clock: Callable[[], float] = time.monotonic
