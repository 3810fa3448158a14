"""What every template can use. Called by ``app``."""

from dataclasses import dataclass
from typing import Any, Final

from flask import Flask, g, request, url_for
from flask import session as cookie

from fpga_web import __version__
from fpga_web.presenters.figures import plural, sentence, short
from fpga_web.presenters.moments import moment
from fpga_web.presenters.status import ROLE_WORDS
from fpga_web.rendering import now
from fpga_web.session import current_session
from fpga_web.static_files import static_url


@dataclass(frozen=True, slots=True)
class NavigationItem:
    """An entry of the main navigation; ``section`` is the blueprint's name."""

    word: str
    endpoint: str
    icon: str

    @property
    def section(self) -> str:
        """What the current page is compared with."""
        return self.endpoint.partition(".")[0]


NAVIGATION: Final = (
    NavigationItem("Overview", "overview.show", "gauge"),
    NavigationItem("Devices", "devices.index", "chip"),
    NavigationItem("Loads", "loads.index", "bolt"),
    NavigationItem("Bitstreams", "bitstreams.index", "layers"),
    NavigationItem("Nodes", "nodes.index", "server"),
)


def prepare(app: Flask) -> None:
    """Add filters and context."""
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True
    app.jinja_env.filters.update(short=short, sentence=sentence)
    app.jinja_env.globals.update(static_url=static_url, plural=plural)
    app.context_processor(_context)


def _context() -> dict[str, Any]:
    user = current_session()
    return {
        "user": user,
        "role": ROLE_WORDS[user.role] if user else "",
        "may_change": bool(user and user.may_change),
        "navigation": NAVIGATION,
        "section": request.blueprint,
        "theme": cookie.get("theme", "auto"),
        "read_at": moment(now(), now()),
        "request_id": g.request_id,
        "here": request.full_path.rstrip("?")
        if request.method == "GET"
        else url_for("overview.show"),
        "version": __version__,
    }
