"""What the fake cluster knows, and how it answers each call. Knows no HTTP."""

import threading
import uuid
from dataclasses import dataclass, field
from typing import Any

from fpga_common.domain.names import TOKEN_AUDIENCE

Json = dict[str, Any]

NODE_CLAIM = "authentication.kubernetes.io/node-name"
POD_CLAIM = "authentication.kubernetes.io/pod-name"


@dataclass
class FakeNode:
    """A node."""

    name: str
    labels: dict[str, str] = field(default_factory=dict)


@dataclass
class FakePod:
    """A pod."""

    name: str
    namespace: str = "default"
    node: str | None = None
    service_account: str = "default"
    annotations: dict[str, str] = field(default_factory=dict)
    phase: str = "Running"
    uid: str = field(default_factory=lambda: str(uuid.uuid4()))


@dataclass
class FakeToken:
    """A service account's token, bound to a pod. ``node`` None as before Kubernetes 1.30."""

    username: str
    audiences: tuple[str, ...] = (TOKEN_AUDIENCE,)
    node: str | None = None
    pod: str | None = None


class Refusal(Exception):
    """An answer of the API server that is not success."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message


class ClusterState:
    """Nodes, pods, tokens, rules and events; every method is one API call."""

    def __init__(self) -> None:
        self.nodes: dict[str, FakeNode] = {}
        self.pods: dict[tuple[str, str], FakePod] = {}
        self.tokens: dict[str, FakeToken] = {}
        self.allowed: set[tuple[str, str, str, str | None]] = set()
        self.events: list[Json] = []
        self.lock = threading.Lock()

    def review_token(self, review: Json) -> Json:
        """POST tokenreviews."""
        spec = _spec(review)
        token = self.tokens.get(spec.get("token", ""))
        wanted = set(spec.get("audiences") or ["https://kubernetes.default.svc"])
        audiences = sorted(wanted & set(token.audiences)) if token else []
        if token is None or not audiences:
            return review | {"status": {"authenticated": False, "error": "invalid bearer token"}}
        user = {
            "username": token.username,
            "groups": ["system:serviceaccounts", "system:authenticated"],
            "extra": {
                claim: [value]
                for claim, value in ((NODE_CLAIM, token.node), (POD_CLAIM, token.pod))
                if value
            },
        }
        status = {"authenticated": True, "user": user, "audiences": audiences}
        return review | {"status": status}

    def review_access(self, review: Json) -> Json:
        """POST subjectaccessreviews."""
        spec = _spec(review)
        asked = spec.get("resourceAttributes") or {}
        resource = f"{asked.get('resource')}.{asked.get('group', '')}".rstrip(".")
        user, verb = spec.get("user", ""), asked.get("verb", "")
        names = (None, asked.get("name"))
        allowed = any((user, verb, resource, name) in self.allowed for name in names)
        return review | {"status": {"allowed": allowed}}

    def read_node(self, name: str) -> Json:
        """GET node."""
        node = self.nodes.get(name)
        if node is None:
            raise Refusal(404, "NotFound", f'nodes "{name}" not found')
        metadata = {"name": node.name, "labels": dict(node.labels)}
        return {"apiVersion": "v1", "kind": "Node", "metadata": metadata}

    def patch_node(self, name: str, patch: Json) -> Json:
        """PATCH node (merge patch: null removes)."""
        self.read_node(name)
        labels = self.nodes[name].labels
        with self.lock:
            for key, value in ((patch.get("metadata") or {}).get("labels") or {}).items():
                if value is None:
                    labels.pop(key, None)
                else:
                    labels[key] = str(value)
        return self.read_node(name)

    def read_pod(self, namespace: str, name: str) -> Json:
        """GET pod."""
        pod = self.pods.get((namespace, name))
        if pod is None:
            raise Refusal(404, "NotFound", f'pods "{name}" not found')
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": pod.name,
                "namespace": pod.namespace,
                "uid": pod.uid,
                "annotations": dict(pod.annotations),
            },
            "spec": {
                "nodeName": pod.node,
                "serviceAccountName": pod.service_account,
                "containers": [{"name": "main", "image": "example"}],
            },
            "status": {"phase": pod.phase},
        }

    def create_event(self, namespace: str, event: Json) -> Json:
        """POST event."""
        involved = event.get("involvedObject") or {}
        if not (event.get("metadata") or {}).get("name"):
            raise Refusal(422, "Invalid", "metadata.name: Required value")
        if involved.get("namespace", namespace) != namespace:
            raise Refusal(422, "Invalid", "involvedObject.namespace: does not match")
        name = event["metadata"]["name"]
        with self.lock:
            if any(known["metadata"]["name"] == name for known in self.events):
                raise Refusal(409, "AlreadyExists", f'events "{name}" already exists')
            self.events.append(event)
        return event


def _spec(review: Json) -> Json:
    spec = review.get("spec")
    if not isinstance(spec, dict):
        raise Refusal(422, "Invalid", "spec: Required value")
    return spec
