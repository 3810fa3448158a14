"""Who may call which view. Every view says it with one decorator; the app refuses one without.

The order of a view's decorators: route, guard, input, output. The guard stands before the input, so
that nobody learns from a validation error what he may not see.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar, cast

from flask import Flask, g, request

from fpga_bitstream_manager.access.audit import current_scope
from fpga_bitstream_manager.access.principal import Principal
from fpga_bitstream_manager.api.context import services
from fpga_bitstream_manager.failures import NotAllowed, NotSignedIn
from fpga_common.contract.access import Role

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")
View = Callable[Parameters, Answer]

SCHEME: Final = "bearer"
SCHEMES: Final = {
    SCHEME: {
        "type": "http",
        "scheme": "bearer",
        "description": "A token, or a session made with one.",
    }
}
_MARK: Final = "_guard"


class RoleTooLow(NotAllowed):
    """The caller's role does not include what this needs: viewers look, operators load and upload,
    administrators give out tokens and force. An administrator can make a token with another role.
    """

    code = "role_too_low"


class WrongNode(NotAllowed):
    """A node's token speaks for its own node alone."""

    code = "wrong_node"


class NodesOnly(NotAllowed):
    """Only a node's own token may do this."""

    code = "nodes_only"


def public(view: View[Parameters, Answer]) -> View[Parameters, Answer]:
    """Anybody may call the view."""
    return _marked(view, "public")


def requires(
    role: Role,
) -> Callable[[View[Parameters, Answer]], View[Parameters, Answer]]:
    """Only callers with ``role`` may call the view."""

    def decorate(view: View[Parameters, Answer]) -> View[Parameters, Answer]:
        @wraps(view)
        def guarded(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
            _remember(require_role(services().authenticator.user(bearer()), role))
            return view(*args, **kwargs)

        return _marked(_secured(guarded), f"role:{role.value}")

    return decorate


def for_nodes(
    *, admin_too: bool = False
) -> Callable[[View[Parameters, Answer]], View[Parameters, Answer]]:
    """Only nodes may call the view; where it has a ``node``, only that node."""

    def decorate(view: View[Parameters, Answer]) -> View[Parameters, Answer]:
        @wraps(view)
        def guarded(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
            node = cast("str | None", kwargs.get("node"))
            _remember(_node_or_admin(bearer(), node, admin_too=admin_too))
            return view(*args, **kwargs)

        return _marked(_secured(guarded), "node")

    return decorate


def bearer() -> str:
    """The request's token. Raises NotSignedIn."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise NotSignedIn("send Authorization: Bearer <token>")
    return token.strip()


def require_role(caller: Principal, role: Role) -> Principal:
    """Return ``caller`` if it has ``role``. Raises RoleTooLow."""
    if not caller.has(role):
        actual = caller.role.value if caller.role else "none"
        _remember(caller)
        raise RoleTooLow(f"this needs the role {role.value}", expected=role.value, actual=actual)
    return caller


def require_guards(app: Flask) -> None:
    """Raise RuntimeError for a view that does not say who may call it."""
    for endpoint, view in app.view_functions.items():
        if not hasattr(view, _MARK) and endpoint not in ("static", "openapi.spec"):
            raise RuntimeError(f"{endpoint} does not say who may call it")


def _node_or_admin(token: str, node: str | None, *, admin_too: bool) -> Principal:
    caller = services().authenticator.node(token)
    if caller is None:
        user = services().authenticator.user(token)
        _remember(user)
        if admin_too:
            return require_role(user, Role.ADMIN)
        raise NodesOnly("this needs a node's own token", actual=user.source.value)
    if node is not None and caller.name != node:
        _remember(caller)
        raise WrongNode(
            f"the token of {caller.name} does not speak for {node}",
            expected=node,
            actual=caller.name,
        )
    return caller


def _remember(caller: Principal) -> None:
    g.principal = caller
    current_scope().actor = caller.actor


def _marked(view: View[Parameters, Answer], guard: str) -> View[Parameters, Answer]:
    setattr(view, _MARK, guard)
    return view


def _secured(view: View[Parameters, Answer]) -> View[Parameters, Answer]:
    spec: dict[str, Any] = getattr(view, "_spec", {})
    view._spec = {**spec, "security": [{SCHEME: []}]}  # type: ignore[attr-defined]  # noqa: SLF001
    return view
