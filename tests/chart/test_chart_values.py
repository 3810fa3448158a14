"""values.yaml, its schema, the templates and the document say the same."""

import json
import re

import jsonschema
import pytest
import yaml

import chart_values
from chart_values import Undocumented, read_values
from support.chart_render import CHART, Refused, rendered

TEMPLATES = tuple((CHART / "templates").rglob("*.*"))
USED = re.compile(r"\.Values\.([A-Za-z0-9]+(?:\.[A-Za-z0-9]+)*)")


def used_paths() -> set[str]:
    text = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES)
    return set(USED.findall(text))


def documented_paths() -> set[str]:
    return {value.name for value in read_values(chart_values.VALUES.read_text(encoding="utf-8"))}


def test_schema_and_table_are_generated_from_the_values_as_they_are() -> None:
    assert chart_values.stale() == []


def test_every_value_is_used_by_a_template() -> None:
    used = used_paths()
    unused = {
        name
        for name in documented_paths()
        if not any(name == path or name.startswith(f"{path}.") for path in used)
    }
    assert unused == set()


def test_every_value_that_a_template_uses_exists() -> None:
    documented = documented_paths()
    unknown = {
        path
        for path in used_paths()
        if path not in documented and not any(name.startswith(f"{path}.") for name in documented)
    }
    assert unknown == set()


def test_the_schema_is_a_json_schema_that_takes_the_defaults() -> None:
    schema = json.loads(chart_values.SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(yaml.safe_load(chart_values.VALUES.read_text(encoding="utf-8")), schema)


def test_a_value_without_a_comment_is_refused() -> None:
    with pytest.raises(Undocumented, match=r"web\.port"):
        read_values("web:\n  port: 1\n")


def test_an_open_map_without_a_schema_is_refused() -> None:
    with pytest.raises(Undocumented, match="labels"):
        read_values("# Labels.\nlabels: {}\n")


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("plugin.typo=1", "typo"),
        ("nonsense=1", "nonsense"),
        ("log.level=loud", "/log/level"),
        ("plugin.agent.hostPort=70000", "/plugin/agent/hostPort"),
        ("kubelet.devicePluginDir=relative", "/kubelet/devicePluginDir"),
        ("pools[0].unit=card", "/pools/0/unit"),
        ("pools=null", "pools"),
        ("simulation.cards={unknown}", "/simulation/cards/0"),
        ("redis.url=http://redis", "/redis/url"),
        ("redis.url=redis://user:word@redis:6379", "/redis/url"),
        ("fullnameOverride=Upper", "/fullnameOverride"),
    ],
)
def test_a_wrong_value_is_refused_by_name(setting: str, named: str) -> None:
    with pytest.raises(Refused, match=re.escape(named)):
        rendered(None, setting)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["manager.replicas=2"], "the ledger is SQLite on one volume"),
        (["redis.url=redis://other:6379/0"], "set redis.enabled to false"),
        (["redis.enabled=false"], "set redis.url to the Redis or Valkey"),
        (
            ["redis.enabled=false", "redis.url=redis://other:6379/0"],
            "put the password of redis.url under the key redis-password",
        ),
        (["bootstrap.enabled=false"], "secrets.manager is empty"),
        (["secrets.manager=own"], "name both or neither"),
        (["secrets.authority=own"], "name both or neither"),
        (["web.enabled=false", "web.ingress.enabled=true"], "there is no console to publish"),
        (["web.ingress.enabled=true"], "web.ingress.host is empty"),
        (
            ["manager.persistence.enabled=false", "manager.persistence.existingClaim=kept"],
            "manager.persistence.existingClaim is set",
        ),
        (
            ["pools[0].name=a", "pools[0].unit=region", "pools[1].name=a", "pools[1].unit=region"],
            "pools names a twice",
        ),
    ],
)
def test_contradicting_values_end_with_a_sentence_that_says_what_to_change(
    settings: list[str], sentence: str
) -> None:
    with pytest.raises(Refused, match=re.escape(sentence)):
        rendered(None, *settings)
