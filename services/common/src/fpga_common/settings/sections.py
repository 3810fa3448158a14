"""Parts of a settings file. Each field says its unit, its default and why it is what it is."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from fpga_common.settings.addresses import require_address

Address = Annotated[str, AfterValidator(require_address)]
OptionalAddress = Annotated[str, AfterValidator(lambda text: text and require_address(text))]


class Section(BaseModel):
    """A part of the file; unknown keys are errors, so that a typing mistake is not a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class MetricsSettings(Section):
    """Prometheus metrics on a port of their own."""

    bind: OptionalAddress = Field(default="", description="host:port; empty turns them off.")


class LogSettings(Section):
    """Logs, on stderr."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least level that is written."
    )
    format: Literal["json", "text"] = Field(
        default="json", description="json for collectors, text for people."
    )
