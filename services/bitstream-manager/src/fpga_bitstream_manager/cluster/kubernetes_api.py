"""``Cluster`` over the official client. The only module that imports it."""

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from kubernetes import client, config
from urllib3.exceptions import HTTPError

from fpga_bitstream_manager.cluster.protocol import (
    Access,
    ClusterRefused,
    ClusterUnavailable,
    Notice,
    Pod,
    TokenOwner,
)
from fpga_bitstream_manager.settings import KubernetesSettings
from fpga_common.domain.errors import InvalidConfiguration

TIMEOUT_SECONDS: Final = 5.0
COMPONENT: Final = "fpga-platform"

#: Claims of bound service-account tokens, as TokenReview gives them (KEP-4193; node from 1.30).
NODE_CLAIM: Final = "authentication.kubernetes.io/node-name"
POD_CLAIM: Final = "authentication.kubernetes.io/pod-name"

_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_LONGEST_NAME: Final = 200
_LATER: Final = frozenset({408, 429, 500, 502, 503, 504})

Answer = TypeVar("Answer")


def api_client(settings: KubernetesSettings) -> client.ApiClient:
    """A client of ``api_url``, or of the cluster this process runs in.

    The token is read anew for each request, because the kubelet renews it. Raises
    InvalidConfiguration.
    """
    if not settings.api_url:
        return _in_cluster()
    configuration = client.Configuration(host=settings.api_url)
    configuration.ssl_ca_cert = settings.ca_file or None
    if settings.token_file:
        path = Path(settings.token_file)
        configuration.refresh_api_key_hook = partial(_use_token, path=path)  # type: ignore[assignment]
        _use_token(configuration, path)
    return _client_of(configuration)


def _client_of(configuration: client.Configuration) -> client.ApiClient:
    """Without the library's own retries: each would wait for the whole timeout again."""
    configuration.retries = 0
    return client.ApiClient(configuration)


def _in_cluster() -> client.ApiClient:
    configuration = client.Configuration()
    try:
        config.load_incluster_config(  # type: ignore[no-untyped-call]
            client_configuration=configuration
        )
    except config.ConfigException as error:
        raise InvalidConfiguration(
            "kubernetes.api_url", f"found nothing, and this is no pod: {error}"
        ) from error
    return _client_of(configuration)


def _use_token(configuration: client.Configuration, path: Path) -> None:
    try:
        token = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise InvalidConfiguration("kubernetes.token_file", str(error)) from error
    configuration.api_key["authorization"] = token
    configuration.api_key_prefix["authorization"] = "Bearer"


class KubernetesCluster:
    """A cluster behind the API server. Safe to use from several threads."""

    def __init__(self, api: client.ApiClient) -> None:
        self._core = client.CoreV1Api(api)
        self._authentication = client.AuthenticationV1Api(api)
        self._authorization = client.AuthorizationV1Api(api)

    def review_token(self, token: str, audience: str) -> TokenOwner | None:
        """TokenReview."""
        review = client.V1TokenReview(
            spec=client.V1TokenReviewSpec(token=token, audiences=[audience])
        )
        answer = _ask(
            lambda: self._authentication.create_token_review(
                review, _request_timeout=TIMEOUT_SECONDS
            )
        )
        status = answer.status
        if status is None or not status.authenticated or status.user is None:
            return None
        if audience not in (status.audiences or []):
            return None
        return _owner(status.user)

    def may(self, access: Access) -> bool:
        """SubjectAccessReview."""
        review = client.V1SubjectAccessReview(
            spec=client.V1SubjectAccessReviewSpec(
                user=access.user,
                groups=list(access.groups),
                resource_attributes=client.V1ResourceAttributes(
                    verb=access.verb,
                    group=access.group,
                    resource=access.resource,
                    namespace=access.namespace,
                    name=access.name,
                ),
            )
        )
        answer = _ask(
            lambda: self._authorization.create_subject_access_review(
                review, _request_timeout=TIMEOUT_SECONDS
            )
        )
        return bool(answer.status and answer.status.allowed)

    def node_labels(self, node: str) -> dict[str, str] | None:
        """GET node."""
        found = _find(lambda: self._core.read_node(node, _request_timeout=TIMEOUT_SECONDS))
        if found is None:
            return None
        return dict((found.metadata.labels if found.metadata else None) or {})

    def label_node(self, node: str, labels: Mapping[str, str | None]) -> None:
        """PATCH node."""
        patch = {"metadata": {"labels": dict(labels)}}
        _ask(lambda: self._core.patch_node(node, patch, _request_timeout=TIMEOUT_SECONDS))

    def pod(self, namespace: str, name: str) -> Pod | None:
        """GET pod."""
        found = _find(
            lambda: self._core.read_namespaced_pod(
                name, namespace, _request_timeout=TIMEOUT_SECONDS
            )
        )
        return _pod(found, namespace, name) if found is not None else None

    def notify(self, notice: Notice) -> None:
        """POST event."""
        event = _event(notice)
        try:
            _ask(
                lambda: self._core.create_namespaced_event(
                    notice.namespace, event, _request_timeout=TIMEOUT_SECONDS
                )
            )
        except ClusterRefused as refused:
            if notice.key is None or refused.actual != str(_CONFLICT):
                raise


def _owner(user: client.V1UserInfo) -> TokenOwner:
    extra = user.extra or {}
    return TokenOwner(
        username=user.username or "",
        groups=tuple(user.groups or ()),
        node=next(iter(extra.get(NODE_CLAIM, [])), None),
        pod=next(iter(extra.get(POD_CLAIM, [])), None),
    )


def _pod(found: client.V1Pod, namespace: str, name: str) -> Pod:
    metadata, spec, status = found.metadata, found.spec, found.status
    return Pod(
        namespace=namespace,
        name=name,
        uid=(metadata.uid if metadata else None) or "",
        node=spec.node_name if spec else None,
        service_account=(spec.service_account_name if spec else None) or "default",
        phase=(status.phase if status else None) or "Unknown",
        annotations=dict((metadata.annotations if metadata else None) or {}),
    )


def _event(notice: Notice) -> client.CoreV1Event:
    at = notice.at or datetime.now(UTC)
    return client.CoreV1Event(
        metadata=client.V1ObjectMeta(name=_event_name(notice)),
        involved_object=client.V1ObjectReference(
            api_version="v1",
            kind=notice.kind,
            name=notice.name,
            namespace=notice.namespace if notice.kind != "Node" else None,
            uid=notice.uid,
        ),
        reason=notice.reason,
        message=notice.message[:1024],
        type="Warning" if notice.warning else "Normal",
        first_timestamp=at,
        last_timestamp=at,
        count=1,
        source=client.V1EventSource(component=COMPONENT),
        reporting_component=COMPONENT,
    )


def _event_name(notice: Notice) -> str:
    """The object's name and a key, within the 253 characters of a name."""
    key = notice.key or secrets.token_hex(8)
    return f"{notice.name[:_LONGEST_NAME].rstrip('.-')}.{key}"


def _find(call: Callable[[], Answer]) -> Answer | None:
    try:
        return _ask(call)
    except ClusterRefused as refused:
        if refused.actual == str(_NOT_FOUND):
            return None
        raise


def _ask(call: Callable[[], Answer]) -> Answer:
    try:
        return call()
    except client.ApiException as error:
        words = f"the Kubernetes API answered {error.status} {error.reason}"
        if error.status in _LATER:
            raise ClusterUnavailable(words) from error
        raise ClusterRefused(words, actual=str(error.status)) from error
    except (HTTPError, OSError) as error:
        raise ClusterUnavailable(f"the Kubernetes API does not answer: {error}") from error
