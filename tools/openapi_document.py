"""Writes docs/openapi.json from the manager's own routes: ``python tools/openapi_document.py``."""

import json
from pathlib import Path
from typing import Any, cast

from fpga_bitstream_manager.api.app import create_app
from fpga_bitstream_manager.services import Services
from fpga_bitstream_manager.settings import ManagerSettings

PATH = Path(__file__).resolve().parent.parent / "docs" / "openapi.json"


def document() -> dict[str, Any]:
    """The document of this version; nothing is connected to."""
    services = Services.open(ManagerSettings())
    try:
        app = create_app(services)
        with app.app_context():
            return cast("dict[str, Any]", app.spec)
    finally:
        services.close()


def text() -> str:
    """The document as it is committed."""
    return json.dumps(document(), indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
