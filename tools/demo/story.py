"""What the demo tells: a load, a pod, a fault, a recovery."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demo.narrator import Narrator
from fpga_common.contract.loads import Load
from fpga_common.contract.nodes import Device
from fpga_common.domain.health import HealthStatus
from fpga_common.domain.names import DEFAULT_RESOURCE
from fpga_common.testing.kubelet import RunningPod
from fpga_common.testing.platform import LocalPlatform, SimulatedNode
from fpga_common.testing.platform.layout import console_script
from fpga_common.testing.sim import SimulatedCard, make_gbs
from fpga_common.testing.waiting import Cancelled, wait_for

AFU_ID = "7bab9a86c2f24d3ea9bd9d2d6c4c0f10"
ANOTHER_AFU_ID = "c4a1e5d2703b4f8e96aa51b7d08e2f63"


@dataclass
class Story:
    """Tells the story on a running platform and collects the figures of its last line."""

    platform: LocalPlatform
    narrator: Narrator
    folder: Path
    cancelled: threading.Event
    result: dict[str, Any] = field(default_factory=dict)

    def tell(self) -> None:
        """Tell it; any step that does not end as it should raises.

        Raises:
            Cancelled: ``cancelled`` was set; between steps, never in the middle of one.
        """
        node = self.platform.nodes["sim-a"]
        card = node.host.cards[0]
        self._inventory()
        self._load(node, card)
        held = self._card_of(node, self._pod(node))
        self._show_holder(node, held)
        self._fault(node, held)
        self.result["console"] = self.platform.console_url

    def another_bitstream(self) -> Path:
        """A second file that fits the cards, for who looks around to upload and load."""
        card = self.platform.nodes["sim-a"].host.cards[0]
        path = self.folder / "encrypt.gbs"
        path.write_bytes(make_gbs(card.interface_id, ANOTHER_AFU_ID, name="encrypt"))
        return path

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
        seconds = self._timed(card.overheat, lambda: self._health(node, card) == "Unhealthy")
        self.result["fault"] = {"detected_seconds": seconds}
        self.narrator.bad(f"{card.id} overheats: Unhealthy at the kubelet after {seconds} s")
        self._show_reason(node, card)
        pod = node.kubelet.run_pod("checksum-2", limits={DEFAULT_RESOURCE: 1})
        other = self._card_of(node, pod)
        self.narrator.good(f"the next pod is put on {other.id}")
        seconds = self._timed(card.heal, lambda: self._health(node, card) == "Healthy")
        self.result["recovered_seconds"] = seconds
        self.narrator.good(f"{card.id} cools down: Healthy again after {seconds} s")

    def _show_holder(self, node: SimulatedNode, card: SimulatedCard) -> None:
        device = self._device_when(
            node,
            card,
            lambda device: device.holder is not None and device.holder.pod is not None,
            what="the manager naming the pod",
        )
        if device.holder is not None:
            holder = f"{device.holder.namespace}/{device.holder.pod}"
            self.narrator.good(f"the console says who holds {device.id}: {holder}")

    def _show_reason(self, node: SimulatedNode, card: SimulatedCard) -> None:
        device = self._device_when(
            node,
            card,
            lambda device: device.health.status is HealthStatus.UNHEALTHY,
            what="the manager showing the fault",
        )
        for reason in device.health.reasons:
            if reason.severity == "fatal":
                self.narrator.say(f"the console says: {reason.message}")

    def _device_when(
        self,
        node: SimulatedNode,
        card: SimulatedCard,
        holds: Callable[[Device], bool],
        *,
        what: str,
    ) -> Device:
        with self.platform.client() as client:
            return wait_for(
                lambda: next(
                    filter(holds, [client.device(node.name, card.region_id)]),
                    None,
                ),
                timeout=30,
                what=what,
                cancelled=self.cancelled,
            )

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
        try:
            self.narrator.run([console_script("fpgactl"), *arguments], environment)
        finally:
            if self.cancelled.is_set():
                raise Cancelled(" ".join(arguments))

    def _timed(self, action: Callable[[], None], holds: Callable[[], bool]) -> float:
        started = time.monotonic()
        action()
        wait_for(holds, timeout=30, what="the kubelet seeing the change", cancelled=self.cancelled)
        return round(time.monotonic() - started, 2)
