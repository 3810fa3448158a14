"""Figures as values: what was measured, and what is aimed at."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value; ``aim`` is an upper limit in the same unit, None where there is none."""

    name: str
    value: float
    unit: str
    aim: float | None
    samples: int

    @property
    def met(self) -> bool:
        """Whether the value is within its aim."""
        return self.aim is None or self.value <= self.aim

    def line(self) -> str:
        """The figure as a line of the report."""
        aim = "" if self.aim is None else f"aim {self.aim:g} {self.unit}"
        mark = "" if self.aim is None else ("ok" if self.met else "MISSED")
        value = f"{self.value:.4g} {self.unit}"
        return f"{self.name:<52} {value:>12}  {aim:<14} {mark:<7} n={self.samples}"


def median(name: str, samples: Sequence[float], unit: str, aim: float | None = None) -> Figure:
    """The median of the samples."""
    return Figure(name, statistics.median(samples), unit, aim, len(samples))


def percentile(
    name: str, samples: Sequence[float], share: float, unit: str, aim: float | None = None
) -> Figure:
    """The smallest sample that ``share`` (0 to 1) of the samples do not exceed."""
    index = max(0, math.ceil(share * len(samples)) - 1)
    return Figure(name, sorted(samples)[index], unit, aim, len(samples))
