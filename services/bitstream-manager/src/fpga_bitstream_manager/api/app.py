"""The Flask application. Called by ``api.server`` and by tests."""

from importlib import import_module
from importlib.util import find_spec
from typing import Final

from apiflask import APIFlask, HTTPError
from flask import Response, g
from gunicorn.http.errors import ParseException
from werkzeug.datastructures import Headers

from fpga_bitstream_manager import __version__
from fpga_bitstream_manager.api import guard, openapi
from fpga_bitstream_manager.api.bodies import BrokenBody, read_strictly
from fpga_bitstream_manager.api.context import EXTENSION
from fpga_bitstream_manager.api.problems import problem_of_failure, problem_of_http, render
from fpga_bitstream_manager.api.requests import RequestMetrics, surround
from fpga_bitstream_manager.cluster_metrics import ClusterCollector
from fpga_bitstream_manager.services import Services
from fpga_common.domain.errors import FpgaError
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

PACKAGE: Final = "fpga_bitstream_manager.api"

#: Modules with a ``blueprint``; a new subject is one line here.
SUBJECTS: Final = (
    "health",
    "access",
    "audit",
    "system",
    "nodes",
    "bitstreams",
    "loads",
    "internal",
)


def create_app(services: Services) -> APIFlask:
    """The whole API on ``services``."""
    app = APIFlask(
        PACKAGE,
        title="fpga-platform manager",
        version=__version__,
        spec_path=openapi.SPEC_PATH,
        docs_path=None,
        static_folder=None,  # type: ignore[arg-type]  # Flask serves none then
    )
    app.extensions[EXTENSION] = services
    app.config.update(MAX_CONTENT_LENGTH=services.settings.api.max_json_bytes)
    app.url_map.strict_slashes = True
    openapi.configure(app)
    surround(app, RequestMetrics(services.registry))
    read_strictly(app)
    services.registry.register(ClusterCollector(services))
    _answer_failures(app)
    _register_subjects(app)
    guard.require_guards(app)
    return app


def _register_subjects(app: APIFlask) -> None:
    for subject in SUBJECTS:
        if find_spec(f"{PACKAGE}.{subject}") is not None:
            app.register_blueprint(import_module(f"{PACKAGE}.{subject}").blueprint)


def _answer_failures(app: APIFlask) -> None:
    @app.errorhandler(FpgaError)
    def failed(error: FpgaError) -> Response:
        problem = problem_of_failure(error)
        if problem.status >= 500:
            log.warning("request_failed", code=error.code, reason=error.message)
        g.problem_code = problem.code
        return render(problem)

    @app.errorhandler(ParseException)
    def misframed(error: ParseException) -> Response:
        return failed(BrokenBody(f"the body cannot be read: {error}"))

    def refused(error: HTTPError) -> Response:
        problem = problem_of_http(error)
        g.problem_code = problem.code
        return render(problem, Headers(error.headers))

    app.error_processor(refused)

    @app.errorhandler(Exception)
    def broke(error: Exception) -> Response:
        # The last net: whatever a view let through is logged with its id and answered as a problem.
        log.error("request_broke", exc_info=error)
        return refused(HTTPError(500, message="the manager failed; its log has the request's id"))
