"""What a check found, and how that is shown. Pure."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    """``failed`` makes the doctor's exit code 1."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor; ``advice`` says what to do about it."""

    check: str
    outcome: Outcome
    message: str
    advice: str = ""


MARKS: Final = {Outcome.OK: "ok  ", Outcome.WARNING: "warn", Outcome.FAILED: "FAIL"}


def as_table(findings: Sequence[Finding]) -> str:
    """One line a finding with its advice below, and a last line that sums up."""
    width = max((len(finding.check) for finding in findings), default=0)
    lines: list[str] = []
    for finding in findings:
        lines.append(f"{MARKS[finding.outcome]}  {finding.check:{width}}  {finding.message}")
        if finding.advice:
            lines.append(f"{'':{width + 6}}  → {finding.advice}")
    failed = sum(finding.outcome is Outcome.FAILED for finding in findings)
    lines.append(f"{failed} of {len(findings)} checks failed" if failed else "all checks passed")
    return "\n".join(lines)


def as_json(findings: Sequence[Finding]) -> str:
    """``{"ok": …, "checks": [{check, outcome, message, advice}]}``."""
    checks = [asdict(finding) for finding in findings]
    return json.dumps({"ok": all_passed(findings), "checks": checks}, indent=2)


def all_passed(findings: Sequence[Finding]) -> bool:
    """Whether nothing failed; warnings do not count."""
    return all(finding.outcome is not Outcome.FAILED for finding in findings)


def ok(check: str, message: str) -> Finding:
    """All is well."""
    return Finding(check, Outcome.OK, message)


def warning(check: str, message: str, advice: str = "") -> Finding:
    """Worth knowing."""
    return Finding(check, Outcome.WARNING, message, advice)


def failed(check: str, message: str, advice: str = "") -> Finding:
    """Something does not work."""
    return Finding(check, Outcome.FAILED, message, advice)
