"""Who may call the agent: the manager's certificate and nobody else's.

TLS has already required a certificate of the platform's own authority; this looks at its name.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import grpc

from fpga_common.observability.logging import get_logger

MANAGER_NAME: Final = "fpga-bitstream-manager"
"""Common name of the manager's client certificate, as the bootstrap makes it."""

_COMMON_NAME: Final = "x509_common_name"

if TYPE_CHECKING:
    _Handler = grpc.RpcMethodHandler[Any, Any]

log = get_logger(__name__)


def common_names(context: Mapping[str, Any]) -> tuple[str, ...]:
    """The common names of a verified client certificate, from gRPC's authentication context."""
    return tuple(name.decode(errors="replace") for name in context.get(_COMMON_NAME) or ())


class ManagerOnly(grpc.ServerInterceptor):
    """Answers PERMISSION_DENIED to every client certificate that is not the manager's."""

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], "_Handler | None"],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "_Handler | None":
        """Put the check before the handler of the call."""
        handler = continuation(handler_call_details)
        if handler is None:
            return None
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(
                _checked(handler.unary_stream),
                handler.request_deserializer,
                handler.response_serializer,
            )
        return grpc.unary_unary_rpc_method_handler(
            _checked(handler.unary_unary),
            handler.request_deserializer,
            handler.response_serializer,
        )


def _checked(behaviour: Any) -> Any:
    def check(request: Any, context: grpc.ServicerContext) -> Any:
        names = common_names(context.auth_context())
        if names != (MANAGER_NAME,):
            log.warning("agent_client_refused", client=list(names))
            context.abort(
                grpc.StatusCode.PERMISSION_DENIED,
                f"the agent answers {MANAGER_NAME} only, not {', '.join(names) or 'nobody'}",
            )
        return behaviour(request, context)

    return check
