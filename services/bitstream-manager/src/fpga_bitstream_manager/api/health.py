"""``/healthz``, ``/readyz``, ``/metrics`` and the help pages of problems."""

from html import escape

from apiflask import APIBlueprint
from flask import Response
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from fpga_bitstream_manager.api.context import services
from fpga_bitstream_manager.api.guard import public
from fpga_bitstream_manager.api.problems import help_of, known_codes, title_of
from fpga_bitstream_manager.failures import NotFound
from fpga_bitstream_manager.ledger.migration import require_current

blueprint = APIBlueprint("health", __name__, enable_openapi=False)


@blueprint.get("/healthz")
@public
def healthz() -> Response:
    """Alive."""
    return Response("ok\n", mimetype="text/plain")


@blueprint.get("/readyz")
@public
def readyz() -> Response:
    """The ledger is migrated and answers."""
    require_current(services().ledger)
    return Response("ok\n", mimetype="text/plain")


@blueprint.get("/metrics")
@public
def metrics() -> Response:
    """Prometheus metrics."""
    return Response(generate_latest(services().registry), content_type=CONTENT_TYPE_LATEST)


@blueprint.get("/problems/<code>")
@public
def problem(code: str) -> Response:
    """What a problem's code means."""
    text = help_of(code)
    if text is None:
        raise NotFound(f"there is no problem {code!r}")
    paragraphs = "".join(f"<p>{escape(part)}</p>" for part in text.split("\n\n"))
    return _page(title_of(code), paragraphs)


@blueprint.get("/problems/")
@public
def problems() -> Response:
    """Every code."""
    items = "".join(
        f'<li><a href="/problems/{code}">{escape(title_of(code))}</a></li>'
        for code in known_codes()
    )
    return _page("Problems", f"<ul>{items}</ul>")


def _page(title: str, body: str) -> Response:
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
    return Response(f"{head}<h1>{escape(title)}</h1>{body}</html>\n", mimetype="text/html")
