"""What the demo tells: a load, a pod, a fault, a recovery."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demo.narrator import Narrator
from fpga_common.contract.loads import Load
from fpga_common.domain.names import DEFAULT_RESOURCE
from fpga_common.testing.kubelet import RunningPod
from fpga_common.testing.platform import LocalPlatform, SimulatedNode
from fpga_common.testing.platform.layout import console_script
from fpga_common.testing.sim import SimulatedCard, make_gbs
from fpga_common.testing.waiting import wait_for

AFU_ID = "7bab9a86c2f24d3ea9bd9d2d6c4c0f10"


@dataclass
class Story:
    """Tells the story on a running platform and collects the figures of its last line."""

    platform: LocalPlatform
    narrator: Narrator
    folder: Path
    result: dict[str, Any] = field(default_factory=dict)

    def tell(self) -> None:
        """Tell it; any step that does not end as it should raises."""
        node = self.platform.nodes["sim-a"]
        card = node.host.cards[0]
        self._inventory()
        self._load(node, card)
        pod = self._pod(node)
        self._fault(node, self._card_of(node, pod))
        self.result["console"] = self.platform.console_url

    def _inventory(self) -> None:
        self.narrator.chapter("Two nodes with two simulated cards each, found and registered")
        self._fpgactl("devices")

    def _load(self, node: SimulatedNode, card: SimulatedCard) -> None:
        self.narrator.chapter("Upload a bitstream and load it into one card")
        path = self.folder / "checksum.gbs"
        path.write_bytes(make_gbs(card.interface_id, AFU_ID, name="checksum"))
        self._fpgactl("bitstreams", "upload", str(path), "--name", "checksum")
        self._fpgactl("load", "checksum", f"{node.name}/{card.region_id}")
        load = self._last_load()
        self.narrator.good(
            f"the card shows AFU {card.afu_id}, read back after {load.seconds:.1f} s"
        )
        self.result["load"] = {"id": load.id, "state": load.state.value, "seconds": load.seconds}

    def _last_load(self) -> Load:
        with self.platform.client() as client:
            return next(iter(client.loads()))

    def _pod(self, node: SimulatedNode) -> RunningPod:
        self.narrator.chapter("Run a pod that asks for one FPGA")
        self.narrator.say(f"limits: {{{DEFAULT_RESOURCE}: 1}}")
        pod = node.kubelet.run_pod("checksum-1", limits={DEFAULT_RESOURCE: 1})
        container = next(iter(pod.containers.values()))
        devices = [device.container_path for device in container.devices]
        for name, value in sorted(container.envs.items()):
            self.narrator.say(f"{name}={value}")
        self.narrator.good(f"the container sees {', '.join(devices)} and no other card")
        self.result["pod"] = {"env": dict(container.envs), "devices": devices}
        return pod

    def _fault(self, node: SimulatedNode, card: SimulatedCard) -> None:
        self.narrator.chapter("Break that card, and heal it")
        node.kubelet.delete_pod("checksum-1")
        seconds = _timed(card.overheat, lambda: self._health(node, card) == "Unhealthy")
        self.result["fault"] = {"detected_seconds": seconds}
        self.narrator.bad(f"{card.id} overheats: Unhealthy at the kubelet after {seconds} s")
        self._show_reason(node, card)
        pod = node.kubelet.run_pod("checksum-2", limits={DEFAULT_RESOURCE: 1})
        other = self._card_of(node, pod)
        self.narrator.good(f"the next pod is put on {other.id}")
        seconds = _timed(card.heal, lambda: self._health(node, card) == "Healthy")
        self.result["recovered_seconds"] = seconds
        self.narrator.good(f"{card.id} cools down: Healthy again after {seconds} s")

    def _show_reason(self, node: SimulatedNode, card: SimulatedCard) -> None:
        with self.platform.client() as client:
            device = wait_for(
                lambda: next(
                    (
                        found
                        for found in [client.device(node.name, card.region_id)]
                        if found.health.status.value == "unhealthy"
                    ),
                    None,
                ),
                timeout=30,
                what="the manager showing the fault",
            )
        for reason in device.health.reasons:
            self.narrator.say(f"the console says: {reason.message}")

    def _card_of(self, node: SimulatedNode, pod: RunningPod) -> SimulatedCard:
        container = next(iter(pod.containers.values()))
        held = container.envs["FPGA_DEVICE_IDS"]
        return next(card for card in node.host.cards if card.region_id == held)

    def _health(self, node: SimulatedNode, card: SimulatedCard) -> str | None:
        resource = node.kubelet.resources().get(DEFAULT_RESOURCE)
        device = resource.devices.get(card.region_id) if resource else None
        return device.health if device else None

    def _fpgactl(self, *arguments: str) -> None:
        environment = os.environ | {
            "FPGACTL_URL": self.platform.api_url,
            "FPGACTL_TOKEN_FILE": str(self.platform.admin_token_file),
        }
        self.narrator.run([console_script("fpgactl"), *arguments], environment)


def _timed(action: Callable[[], None], holds: Callable[[], bool]) -> float:
    started = time.monotonic()
    action()
    wait_for(holds, timeout=30, what="the kubelet seeing the change")
    return round(time.monotonic() - started, 2)
