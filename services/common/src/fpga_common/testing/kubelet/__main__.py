"""``python -m fpga_common.testing.kubelet --root DIR``: one FakeKubelet until SIGTERM or Ctrl-C."""

import argparse
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from fpga_common.testing.kubelet.fake import FakeKubelet


def main() -> int:
    """Serve below ``--root``; prints the two paths a plugin needs."""
    parser = argparse.ArgumentParser(prog="fake-kubelet", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="a folder with a short path")
    root: Path = parser.parse_args().root
    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    with FakeKubelet(root.absolute()) as kubelet:
        print(f"device_plugin_dir={kubelet.device_plugin_dir}", flush=True)  # noqa: T201
        print(f"pod_resources_socket={kubelet.pod_resources_socket}", flush=True)  # noqa: T201
        ended.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
