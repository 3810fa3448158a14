"""Every failure as an RFC 9457 document, and a help page for each code.

Called by the app for each exception that a view or a guard lets through.
"""

from collections.abc import Iterator
from http import HTTPStatus
from inspect import cleandoc
from typing import Any, Final

from apiflask import HTTPError
from flask import Response
from werkzeug.datastructures import Headers

from fpga_bitstream_manager import failures
from fpga_bitstream_manager.api.context import request_id
from fpga_common.contract.problem import Problem, ProblemError
from fpga_common.domain.errors import FpgaError, Temporary
from fpga_common.domain.operation import FailureCode

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_SECONDS: Final = "2"

STATUS: Final[tuple[tuple[type[FpgaError], HTTPStatus], ...]] = (
    (failures.BadRequest, HTTPStatus.BAD_REQUEST),
    (failures.NotSignedIn, HTTPStatus.UNAUTHORIZED),
    (failures.NotAllowed, HTTPStatus.FORBIDDEN),
    (failures.NotFound, HTTPStatus.NOT_FOUND),
    (failures.Conflict, HTTPStatus.CONFLICT),
    (failures.TooLarge, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    (failures.Invalid, HTTPStatus.UNPROCESSABLE_ENTITY),
    (failures.StorageFull, HTTPStatus.INSUFFICIENT_STORAGE),
    (Temporary, HTTPStatus.SERVICE_UNAVAILABLE),
)

HTTP_CODES: Final = {
    HTTPStatus.BAD_REQUEST: "bad_request",
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too_large",
    HTTPStatus.REQUEST_URI_TOO_LONG: "uri_too_long",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "unsupported_media_type",
    HTTPStatus.UNPROCESSABLE_ENTITY: "invalid",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: "headers_too_large",
    HTTPStatus.INTERNAL_SERVER_ERROR: "internal_error",
}

HTTP_HELP: Final = {
    "method_not_allowed": "The path exists, but not with this method.",
    "uri_too_long": "The request line with its query is longer than 4 KiB.",
    "headers_too_large": "A header is longer than 8 KiB, or there are more than 100.",
    "unsupported_media_type": "The body's Content-Type is not one that this path takes.",
    "internal_error": (
        "The manager failed. Its log has the reason under the request id that the problem's "
        "instance names."
    ),
    "invalid_parameter": "A query parameter is unknown or has a wrong value.",
}


def problem_of_failure(error: FpgaError) -> Problem:
    """A typed failure as a document."""
    findings = error.findings if isinstance(error, failures.Invalid) else ()
    return Problem(
        type=f"/problems/{error.code}",
        title=title_of(error.code),
        status=status_of(error),
        detail=error.message,
        instance=request_id() or None,
        code=error.code,
        expected=error.expected,
        actual=error.actual,
        errors=[
            ProblemError(
                detail=finding.detail,
                pointer=finding.pointer,
                field=finding.field,
                expected=finding.expected,
                actual=finding.actual,
            )
            for finding in findings
        ],
    )


def status_of(error: FpgaError) -> int:
    """The HTTP status of a failure's kind; a kind without one is the manager's own fault."""
    for kind, status in STATUS:
        if isinstance(error, kind):
            return status.value
    return HTTPStatus.INTERNAL_SERVER_ERROR.value


def problem_of_http(error: HTTPError) -> Problem:
    """What Flask, or the validation of a request, refused."""
    detail: dict[str, Any] = error.detail if isinstance(error.detail, dict) else {}
    if "query" in detail:
        return _problem(400, "invalid_parameter", "a query parameter is wrong", _in_query(detail))
    if "json" in detail:
        return _problem(422, "invalid", "the body is wrong", _in_body(detail))
    status = error.status_code
    code = HTTP_CODES.get(HTTPStatus(status), f"http_{status}")
    return _problem(status, code, error.message or HTTPStatus(status).phrase, [])


def render(problem: Problem, headers: Headers | None = None) -> Response:
    """The document as a response."""
    response = Response(problem.model_dump_json(), status=problem.status, mimetype=MEDIA_TYPE)
    response.headers.update(headers or Headers())
    if problem.status == HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = 'Bearer realm="fpga-platform"'
    if problem.status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
        response.headers.setdefault("Retry-After", RETRY_AFTER_SECONDS)
    return response


def title_of(code: str) -> str:
    """A code as words."""
    return code.replace("_", " ").capitalize()


def help_of(code: str) -> str | None:
    """What a code means and what to do, None for an unknown code."""
    if code in HTTP_HELP:
        return HTTP_HELP[code]
    for kind in _kinds(FpgaError):
        if kind.code == code and "code" in vars(kind):
            return cleandoc(kind.__doc__ or title_of(code))
    if code in {known.value for known in FailureCode}:
        return "A load failed, or waits, for this reason; the load's error names what was found."
    return None


def known_codes() -> list[str]:
    """Every code that has a help page."""
    classes = {kind.code for kind in _kinds(FpgaError) if "code" in vars(kind)}
    return sorted(classes | set(HTTP_HELP) | {code.value for code in FailureCode})


def _kinds(kind: type[FpgaError]) -> Iterator[type[FpgaError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _kinds(child)


def _problem(status: int, code: str, detail: str, errors: list[ProblemError]) -> Problem:
    return Problem(
        type=f"/problems/{code}",
        title=title_of(code),
        status=status,
        detail=f"{detail}: {errors[0].detail}" if errors else detail,
        instance=request_id() or None,
        code=code,
        errors=errors,
    )


def _in_query(detail: dict[str, Any]) -> list[ProblemError]:
    return [
        ProblemError(detail=f"{name}: {message}", field=name)
        for name, messages in detail["query"].items()
        for message in messages
    ]


def _in_body(detail: dict[str, Any]) -> list[ProblemError]:
    return [
        ProblemError(
            detail=f"{path}: {message}",
            field=path,
            pointer="" if path == "_schema" else "/" + path.replace(".", "/"),
        )
        for path, messages in detail["json"].items()
        for message in messages
    ]
