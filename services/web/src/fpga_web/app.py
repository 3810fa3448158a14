"""The Flask application. Made by ``server`` in the worker, and by tests."""

import time
from typing import Final

import structlog
from flask import Flask, Response, g, request
from werkzeug.wrappers import Response as AnyResponse

from fpga_common.observability.logging import get_logger
from fpga_web import failures, manager, metrics, security, session, static_files, templating
from fpga_web.presenters.problems import of_status
from fpga_web.rendering import set_now
from fpga_web.request_ids import request_id
from fpga_web.settings import WebSettings
from fpga_web.streams import StreamSlots
from fpga_web.views import PUBLIC_ENDPOINTS, register_views

FORM_OVERHEAD_BYTES: Final = 1024 * 1024
log = get_logger(__name__)


def create_app(settings: WebSettings) -> Flask:
    """Build the console. Raises InvalidConfiguration for files that cannot be used."""
    app = Flask("fpga_web")
    app.config.update(
        MAX_CONTENT_LENGTH=settings.max_upload_bytes + FORM_OVERHEAD_BYTES,
        MAX_FORM_MEMORY_SIZE=64 * 1024,
    )
    session.prepare(app, settings.secret_key_file)
    with app.app_context():
        manager.share(manager.connect(settings.manager))
    app.extensions["fpga_streams"] = StreamSlots(max(1, settings.threads // 2))
    templating.prepare(app)
    static_files.warn_of_missing_files()
    _register_hooks(app)
    failures.register(app)
    register_views(app)
    return app


def _register_hooks(app: Flask) -> None:
    app.before_request(_begin)
    app.before_request(_refuse_other_sites)
    app.before_request(_require_sign_in)
    app.after_request(_finish)


def _begin() -> None:
    set_now()
    g.started = time.monotonic()
    g.request_id = request_id(request.headers.get("X-Request-Id"))
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=g.request_id)


def _refuse_other_sites() -> AnyResponse | None:
    if not security.from_another_site(request):
        return None
    log.warning("cross_site_request_refused", path=request.path)
    return failures.error_page(of_status(403, "The request did not come from this console."))


def _require_sign_in() -> AnyResponse | None:
    public = request.endpoint is None or request.endpoint in PUBLIC_ENDPOINTS
    if public or session.current_session():
        return None
    return failures.ask_to_sign_in()


def _finish(response: Response) -> Response:
    if request.endpoint == "static":
        static_files.keep_in_browser(response)
    security.add_headers(response, secure=request.is_secure)
    response.headers["X-Request-Id"] = g.request_id
    _record(response, time.monotonic() - g.started)
    return response


def _record(response: Response, seconds: float) -> None:
    endpoint = request.endpoint or "unknown"
    metrics.REQUESTS.labels(endpoint, str(response.status_code)).inc()
    metrics.SECONDS.labels(endpoint).observe(seconds)
    if endpoint not in ("static", "health.healthz"):
        log.info(
            "page_served",
            method=request.method,
            path=request.path,
            status=response.status_code,
            milliseconds=round(seconds * 1000, 1),
        )
