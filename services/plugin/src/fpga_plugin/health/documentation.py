"""The table of checks as Markdown; a test holds ``docs/health-checks.md`` to it."""

from fpga_plugin.health.checks import CHECKS, CheckSpec


def checks_table() -> str:
    """One row a check."""
    heading = "| check | kind | reads | unit | source |"
    return "\n".join([heading, "|---|---|---|---|---|", *map(_row, CHECKS.values())])


def _row(spec: CheckSpec) -> str:
    kind = "essential" if spec.essential else spec.severity.value
    return f"| `{spec.name.value}` | {kind} | {spec.reads} | {spec.unit} | {spec.source} |"
