"""The documentation of the checks is the table in the code."""

from pathlib import Path

from fpga_plugin.health.documentation import checks_table

PAGE = Path(__file__).parents[3] / "docs/health-checks.md"


def test_the_page_of_health_checks_has_the_table_of_the_code() -> None:
    assert checks_table() in PAGE.read_text(encoding="utf-8")
