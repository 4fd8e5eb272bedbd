"""The catalogue of user texts, English and Chinese, in `templates/words.json`."""

from __future__ import annotations

import functools
import json
import os
from typing import cast

from provision.paths import TEMPLATES

LANGUAGES = ("en", "zh")


@functools.cache
def catalogue() -> dict[str, dict[str, str]]:
    """All texts: key -> language -> text with {placeholders}."""
    path = TEMPLATES / "words.json"
    return cast(dict[str, dict[str, str]], json.loads(path.read_text(encoding="utf-8")))


def language() -> str:
    """`zh` where PADDOCK_LANG or the locale says Chinese, else `en`."""
    for variable in ("PADDOCK_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(variable):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def has(key: str) -> bool:
    """Whether the catalogue knows this key."""
    return key in catalogue()


def text(key: str, **values: object) -> str:
    """The text of `key` in the user's language, its {placeholders} filled.

    Values are inserted as they are: a value with braces is not interpreted again.
    """
    return catalogue()[key][language()].format_map(values)
