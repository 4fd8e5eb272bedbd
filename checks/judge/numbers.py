"""Numbers and times as programs write them into logs."""

from __future__ import annotations

import math
import re
from datetime import datetime, timezone
from typing import cast

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|nan|inf)", re.ASCII)
_WHOLE = re.compile(r"\d+|\d{1,3}(?:,\d{3})+", re.ASCII)
# PaddleNLP's logger and the launcher write 2024-08-16 01:55:24,753, CANN 2025-04-08-18:07:20.444,
# glog I0816 01:57:34.386860, which has no year.
_TIME = re.compile(
    rb"(?:(?P<year>20\d\d)-(?P<month>[01]\d)-(?P<day>[0-3]\d)[ T-]"
    rb"|[IWEF](?P<m>[01]\d)(?P<d>[0-3]\d) )"
    rb"(?P<hour>[0-2]\d):(?P<minute>[0-5]\d):(?P<second>[0-5]\d)(?:[.,](?P<part>\d{1,6}))?"
)
_LEAP = 2000  # a year in which every day exists: in one log times with and without a year are mixed


def number(text: str) -> float | None:
    """A figure as Python prints it, also `nan` and `inf`; None for anything else.

    A decimal comma is something else: the programs judged here never write one.
    """
    return float(text) if _NUMBER.fullmatch(text) else None


def whole(text: str) -> int | None:
    """A whole number with or without a comma between thousands; None for anything else."""
    return int(text.replace(",", "")) if _WHOLE.fullmatch(text) else None


def half_unit(text: str) -> float:
    """Half of the last digit of a figure as printed: how far rounding moved it."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    return 0.5 * math.pow(10.0, int(exponent or 0) - digits)


def clock(data: bytes) -> float | None:
    """The last time in these bytes, in seconds within a year; None without one."""
    found = None
    for match in _TIME.finditer(data):
        found = _seconds(match) or found
    return found


def first_clock(data: bytes) -> float | None:
    """The first time in these bytes."""
    return next((time for match in _TIME.finditer(data) if (time := _seconds(match))), None)


def _seconds(match: re.Match[bytes]) -> float | None:
    one = {name: int(value) for name, value in match.groupdict().items() if value}
    part = match["part"] or b"0"
    try:
        moment = datetime(
            _LEAP, one.get("month") or one.get("m") or 0, one.get("day") or one.get("d") or 0,
            one["hour"], one["minute"], one["second"], tzinfo=timezone.utc,
        )  # fmt: skip
    except ValueError:
        return None
    begin = datetime(_LEAP, 1, 1, tzinfo=timezone.utc)
    return (moment - begin).total_seconds() + 1 + int(part) / cast(int, 10 ** len(part))


def elapsed(begin: float | None, end: float | None) -> float | None:
    """Seconds from one time to another; None where one is missing or they are out of order."""
    if begin is None or end is None or end < begin:
        return None
    return end - begin
