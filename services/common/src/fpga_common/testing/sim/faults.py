"""What a broken card had before: kept on disk, so that any process can heal it."""

import base64
import json
from pathlib import Path

from fpga_common.domain.simulation import CONTROL_FOLDER
from fpga_common.testing.sim.files import is_hidden, replace_file


class Originals:
    """The first content of every attribute that a fault replaced; paths below the host root."""

    def __init__(self, root: Path, card_id: str) -> None:
        self._root = root
        self._path = root / CONTROL_FOLDER / "faults" / f"{card_id}.json"

    def keep(self, path: str) -> bytes:
        """Remember the file's content unless a fault already replaced it; return the original."""
        kept = self._read()
        if path not in kept:
            kept[path] = base64.b64encode((self._root / path).read_bytes()).decode()
            self._write(kept)
        return base64.b64decode(kept[path])

    def kept(self, path: str) -> bytes | None:
        """The original of an attribute that a fault replaced."""
        text = self._read().get(path)
        return None if text is None else base64.b64decode(text)

    def forget(self, path: str) -> None:
        """Give up an original because the attribute has a new value."""
        kept = self._read()
        if kept.pop(path, None) is not None:
            self._write(kept)

    def restore(self) -> None:
        """Put everything back, except an AFU id that a programming has written meanwhile."""
        for path, content in self._read().items():
            place = self._root / path
            if is_hidden(place) or place.name != "afu_id":
                replace_file(self._root, place, base64.b64decode(content))
        self._path.unlink(missing_ok=True)

    def _read(self) -> dict[str, str]:
        try:
            kept: dict[str, str] = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return kept

    def _write(self, kept: dict[str, str]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_suffix(".tmp")
        temporary.write_text(json.dumps(kept, indent=2), encoding="utf-8")
        temporary.replace(self._path)
