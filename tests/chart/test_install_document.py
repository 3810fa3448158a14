"""What docs/install.md tells people to type and to set works."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from support.chart_render import ROOT, helm, objects

TEXT = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(language: str) -> list[str]:
    return [content for found, content in BLOCK.findall(TEXT) if found == language]


def commands(program: str) -> list[list[str]]:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [shlex.split(line) for line in lines if line.startswith(program)]


@pytest.mark.parametrize("words", commands("helm install"), ids=" ".join)
def test_every_install_renders(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    arguments = [word for word in words[2:] if word != "--create-namespace"]
    assert "kind: DaemonSet" in helm("template", *arguments)


@pytest.mark.parametrize("values", blocks("yaml"))
def test_every_example_of_values_renders(values: str, tmp_path: Path) -> None:
    path = tmp_path / "values.yaml"
    path.write_text(values, encoding="utf-8")
    assert yaml.safe_load(values)
    assert objects(path)


def test_every_image_that_the_chart_pulls_and_we_build_has_its_command() -> None:
    built = {words[words.index("-t") + 1]: words[3] for words in commands("docker build")}
    for image, dockerfile in built.items():
        assert (ROOT / dockerfile).is_file(), image
    values = yaml.safe_load((ROOT / "charts/fpga-platform/values.yaml").read_text())
    ours = {values[part]["image"]["repository"] for part in ("plugin", "manager", "web")}
    ours.add(values["simulation"]["image"]["repository"])
    assert {image.partition(":")[0] for image in built} == ours


def test_every_compose_service_that_is_named_exists() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    named = {words[3] for words in commands("docker compose exec")}
    named |= {words[4] for words in commands("docker compose run --rm")}
    assert named
    assert named <= services.keys()


def test_the_secrets_of_the_document_are_those_of_the_bootstrap() -> None:
    config = next(i for i in objects() if "plan.json" in i.get("data", {}))
    plan = yaml.safe_load(config["data"]["plan.json"])
    for name, keys in plan["secrets"].items():
        row = next(
            line
            for line in TEXT.splitlines()
            if line.startswith(f"| Secret `…-{name.removeprefix('fpga-platform-')}`")
        )
        assert re.findall(r"`([^`]+)`", row.split("|")[2]) == keys
