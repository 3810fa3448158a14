"""Handlers: read the request, ask the manager once or twice, hand the answer to a presenter."""

from typing import Final

from flask import Flask

from fpga_web.views import bitstreams, devices, health, loads, nodes, overview, preferences, sign_in

PUBLIC_ENDPOINTS: Final = frozenset(
    {"static", "health.healthz", "sign_in.form", "sign_in.submit", "preferences.theme"}
)


def register_views(app: Flask) -> None:
    """Let the application answer every address of the console."""
    for module in (overview, devices, loads, bitstreams, nodes, sign_in, preferences, health):
        app.register_blueprint(module.blueprint)
