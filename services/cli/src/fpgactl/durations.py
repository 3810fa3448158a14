"""Durations on the command line: ``90``, ``90s``, ``15m``, ``2h``, ``1d``."""

import re

import click

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)([smhd]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def duration(context: click.Context, parameter: click.Parameter, text: str) -> float:
    """Seconds in ``text``. Raises BadParameter."""
    match = _DURATION.fullmatch(text)
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if seconds <= 0:
        raise click.BadParameter(
            f"{text!r} is no duration: expected 90s, 15m, 2h or 1d", ctx=context, param=parameter
        )
    return seconds
