"""Each image's recipe, read as data: what it copies exists, what it installs is locked."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILES = tuple(sorted(ROOT.glob("services/*/Dockerfile")))
LOCKS = {path.parent.name for path in DOCKERFILES}
ROOT_USER = {"plugin"}
PINNED = re.compile(r"[a-z]+:[0-9]+(\.[0-9]+)*-[a-z-]+")

every_dockerfile = pytest.mark.parametrize(
    "path", DOCKERFILES, ids=[path.parent.name for path in DOCKERFILES]
)


@dataclass(frozen=True)
class Instruction:
    """One instruction of a Dockerfile, its lines joined."""

    name: str
    argument: str


def instructions(path: Path) -> list[Instruction]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    joined = "\n".join(lines).replace("\\\n", " ")
    split = (line.split(None, 1) for line in joined.splitlines() if line.strip())
    return [Instruction(name, " ".join(argument.split())) for name, argument in split]


def last_stage(path: Path) -> list[Instruction]:
    found = instructions(path)
    start = max(index for index, item in enumerate(found) if item.name == "FROM")
    return found[start:]


def test_every_service_has_a_dockerfile() -> None:
    services = {path.parent.name for path in ROOT.glob("services/*/pyproject.toml")}
    assert services == LOCKS


@every_dockerfile
def test_everything_copied_from_the_repository_exists(path: Path) -> None:
    for item in instructions(path):
        if item.name == "COPY" and "--from" not in item.argument:
            for source in item.argument.split()[:-1]:
                assert (ROOT / source).exists(), source


@every_dockerfile
def test_what_is_copied_is_not_kept_from_the_builder(path: Path) -> None:
    allowed = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    for item in instructions(path):
        if item.name == "COPY" and "--from" not in item.argument:
            for source in item.argument.split()[:-1]:
                assert any(source == kept or source.startswith(f"{kept}/") for kept in allowed)


@every_dockerfile
def test_only_locked_packages_are_installed_and_nothing_is_compiled(path: Path) -> None:
    service = path.parent.name
    runs = [item.argument for item in instructions(path) if item.name == "RUN"]
    installs = [part for run in runs for part in run.split("&&") if "/pip " in part]
    from_index = [part for part in installs if " -r " in part]
    assert {part.split(" -r ")[1].strip() for part in from_index} == {
        "requirements/build.txt",
        f"requirements/{service}.txt",
    }
    for part in from_index:
        assert {"--require-hashes", "--no-deps", "--only-binary=:all:"} <= set(part.split())
    for part in set(installs) - set(from_index):
        assert "--no-deps" in part
        assert "--no-index" in part or "--no-build-isolation" in part
    assert (ROOT / "requirements" / f"{service}.txt").is_file()


@every_dockerfile
def test_base_images_are_pinned_by_tag_and_name_no_host(path: Path) -> None:
    defaults = dict(
        item.argument.split("=", 1)
        for item in instructions(path)
        if item.name == "ARG" and item.argument.split("=")[0].endswith("_IMAGE")
    )
    for item in instructions(path):
        if item.name == "FROM":
            variable = re.fullmatch(r"\$\{(\w+)\}( AS \w+)?", item.argument)
            assert variable, item.argument
            assert PINNED.fullmatch(defaults[variable[1]])


@every_dockerfile
def test_the_image_does_not_run_as_root_but_for_the_plugin(path: Path) -> None:
    (user,) = [item.argument for item in last_stage(path) if item.name == "USER"]
    assert user == ("0:0" if path.parent.name in ROOT_USER else "65532:65532")


@every_dockerfile
def test_the_last_stage_installs_nothing(path: Path) -> None:
    for item in last_stage(path):
        if item.name == "RUN":
            assert "pip" not in item.argument
            assert "apt" not in item.argument


@every_dockerfile
def test_no_product_image_holds_the_fakes(path: Path) -> None:
    removes = "fpga_common/testing" in path.read_text(encoding="utf-8")
    assert removes is (path.parent.name != "common")


@every_dockerfile
def test_the_entry_point_is_a_console_script_of_the_service(path: Path) -> None:
    (entry,) = [item.argument for item in last_stage(path) if item.name == "ENTRYPOINT"]
    program = entry.strip('[]"')
    assert f"\n{program} = " in (path.parent / "pyproject.toml").read_text(encoding="utf-8")


@every_dockerfile
def test_the_image_says_what_it_is(path: Path) -> None:
    (label,) = [item.argument for item in last_stage(path) if item.name == "LABEL"]
    for key in ("title", "description", "version", "licenses"):
        assert f"org.opencontainers.image.{key}=" in label
