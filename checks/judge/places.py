"""Parts of a window around a place in it."""

from __future__ import annotations

from checks.logs.colours import uncoloured
from checks.logs.telling import Spot
from checks.logs.window import Window, shown

ON = 640  # bytes: what belongs to a word stands so near after it


def text_at(window: Window, begin: int, end: int) -> str:
    """A part of a window without colours; what is no UTF-8 in it does not matter here."""
    part = bytes(window.data[max(begin, 0) : min(end, window.end)])
    return bytes(uncoloured(part)).decode("utf-8", "replace")


def spot_at(window: Window, place: int, log: int) -> Spot:
    """The line around a place."""
    begin, end = window.line(place)
    return Spot.at(log, window, begin, shown(bytes(window.data[begin:end])))


def stamp(window: Window, place: int) -> bytes:
    """What stands before a place, long enough for a logger's time with its colours."""
    return bytes(window.data[max(place - 96, 0) : place])
