"""Bitstreams: the list and the upload."""

from typing import BinaryIO, Final, cast

from flask import Blueprint, flash, request, url_for
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response

from fpga_common.client import ManagerProblem
from fpga_common.contract.bitstreams import Bitstream
from fpga_web.manager import UPLOAD_SECONDS, manager
from fpga_web.permissions import require_operator
from fpga_web.presenters.bitstreams import rows
from fpga_web.presenters.figures import bitstream_name
from fpga_web.presenters.problems import ErrorView, of_problem, of_status
from fpga_web.rendering import go, now, page

MOST: Final = 200
blueprint = Blueprint("bitstreams", __name__)


@blueprint.get("/bitstreams")
def index() -> Response:
    """Every bitstream."""
    return _list(None)


@blueprint.post("/bitstreams")
def upload() -> Response:
    """Pass a file on to the manager, which checks and stores it."""
    require_operator()
    file = request.files.get("file")
    if file is None or not file.filename:
        return _list(of_status(400, "Choose a file first."))
    try:
        stored = _send(file)
    except ManagerProblem as problem:
        if problem.status not in (400, 409, 413, 422):
            raise
        return _list(of_problem(problem.problem))
    flash(f"{bitstream_name(stored)} is stored.", "success")
    return go(url_for(".index", _anchor=stored.digest.removeprefix("sha256:")[:12]))


def _send(file: FileStorage) -> Bitstream:
    name = request.form.get("name", "").strip() or _stem(file.filename or "")
    version = request.form.get("version", "").strip() or None
    return manager(timeout=UPLOAD_SECONDS).upload_bitstream(
        cast("BinaryIO", file.stream), name=name, version=version, size=_size(file)
    )


def _stem(filename: str) -> str:
    return filename.replace("\\", "/").rpartition("/")[2].rpartition(".")[0] or filename


def _size(file: FileStorage) -> int:
    file.stream.seek(0, 2)
    number = file.stream.tell()
    file.stream.seek(0)
    return number


def _list(error: ErrorView | None) -> Response:
    response = page(
        "bitstreams",
        bitstreams=rows(manager().bitstreams(limit=MOST), now()),
        error=error,
        typed_name=request.form.get("name", ""),
        typed_version=request.form.get("version", ""),
    )
    response.status_code = error.status if error else 200
    return response
