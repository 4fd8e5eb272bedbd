"""What the name of a container image tells: the chip, the CANN, the TopsRider it is made for."""

from __future__ import annotations

import re

from provision.document import Table, tables
from provision.paths import IMAGES

_ASCEND = re.compile(r"npu|ascend|cann|mindie", re.IGNORECASE)
_CANN = re.compile(  # `cann:8.0.rc1-910b-...`, `cann8.5.0-...`
    r"\bcann[-_:]?(?P<version>\d{1,2}\.\d{1,2}\.(?:\d{1,3}|(?:rc|t)\d{1,3})(?:\.(?:alpha|beta)\d{1,3})?)(?![\w.])",
    re.IGNORECASE,
)
_SHORT = re.compile(r"\bcann(?P<a>\d)(?P<b>\d)(?P<c>\d|RC\d{1,2}|T\d{1,3})(?![\w.])", re.IGNORECASE)
_TOPS = re.compile(r"topsrider(?:_i3x)?[-_]?(?P<version>\d{1,2}\.\d{1,3}\.\d{1,8})", re.IGNORECASE)


class Row(Table, frozen=True):
    """A row of `images/image_tags.toml`."""

    words: list[str]
    generation: str
    source: str
    seen: str


def chip(image: str) -> tuple[str, Row] | None:
    """The word that names a chip, and its row; None where none or several chips are named."""
    name = _last(image)
    words = set(re.split(r"[-_.:]", name.lower())) if _ASCEND.search(name) else set()
    rows = tables(IMAGES / "image_tags.toml", "rows", Row)
    found = [(word, row) for row in rows for word in row.words if word in words]
    return found[0] if len({row.generation for _, row in found}) == 1 else None


def cann(image: str) -> str | None:
    """The version of CANN, also where Paddle writes it without dots (`cann80RC1`, `cann800`)."""
    name = _last(image)
    if found := _CANN.search(name):
        return found["version"]
    short = _SHORT.search(name)
    return f"{short['a']}.{short['b']}.{short['c'].upper()}" if short else None


def topsrider(image: str) -> str | None:
    """The version of TopsRider."""
    found = _TOPS.search(_last(image))
    return found["version"] if found else None


def _last(image: str) -> str:
    """The image's own name with its tag, without the registry and without a digest."""
    return image.partition("@")[0].rpartition("/")[2]
