"""Settings: the file, the environment, and what is said of mistakes."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from fpga_bitstream_manager.settings import ManagerSettings, load_settings
from fpga_common.domain.errors import InvalidConfiguration


def written(folder: Path, text: str) -> Path:
    path = folder / "manager.yaml"
    path.write_text(text)
    return path


def mistake(folder: Path, text: str) -> InvalidConfiguration:
    with pytest.raises(InvalidConfiguration) as raised:
        load_settings(written(folder, text))
    return raised.value


def test_an_empty_file_gives_the_defaults(tmp_path: Path) -> None:
    assert load_settings(written(tmp_path, "")) == load_settings(None)


def test_the_environment_wins_over_the_file_key_by_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FPGA_MANAGER_API__BIND", "127.0.0.1:9")
    path = written(tmp_path, "api: {bind: '127.0.0.1:8', threads: 7}")

    settings = load_settings(path)

    assert (settings.api.bind, settings.api.threads) == ("127.0.0.1:9", 7)


def test_what_kubernetes_puts_into_the_environment_does_no_harm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FPGA_MANAGER_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("FPGA_MANAGER_PORT", "tcp://10.0.0.1:8443")

    assert load_settings(None).api.bind == "127.0.0.1:8080"


@pytest.mark.parametrize(
    ("text", "key", "found"),
    [
        ("api: {bind: here}", "api.bind", "'here'"),
        ("api: {bind: 'h:99999'}", "api.bind", "h:99999"),
        ("api: {tls_cert_file: /x}", "api", "tls_key_file"),
        ("worker: {threads: 0}", "worker.threads", "0"),
        ("log: {level: loud}", "log.level", "'loud'"),
        ("store: {url: 's3://x'}", "store.url", "'s3://x'"),
        ("colour: red", "colour", "unknown key"),
        ("- a list", "--config", "list"),
    ],
)
def test_a_wrong_value_is_named_with_what_was_found(
    tmp_path: Path, text: str, key: str, found: str
) -> None:
    error = mistake(tmp_path, text)

    assert error.key == key
    assert found in str(error)


def test_an_absent_file_is_a_mistake_in_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration):
        load_settings(tmp_path / "nothing.yaml")


def test_a_password_in_a_url_is_never_repeated(tmp_path: Path) -> None:
    assert "hunter2" not in str(mistake(tmp_path, "redis: {url: 'http://:hunter2@h/0'}"))


def test_a_password_file_is_read_without_its_newline(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret\n")
    path = written(tmp_path, f"redis: {{password_file: {tmp_path}/password}}")

    assert load_settings(path).redis.password() == "secret"


def test_event_streams_never_take_every_thread() -> None:
    settings = ManagerSettings.model_validate({"api": {"threads": 4, "streams": 24}})

    assert settings.api.streams < settings.api.threads


def every_field(model: type[BaseModel], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found += every_field(kind, f"{prefix}{name}.")
        else:
            found.append((prefix + name, field))
    return found


@pytest.mark.parametrize(("key", "field"), every_field(ManagerSettings))
def test_every_setting_has_a_default_and_says_why(key: str, field: Any) -> None:
    assert not field.is_required(), key
    assert field.description, key
