"""The catalogue of user texts, English and Chinese, in `templates/words.json`."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Mapping
from typing import cast

from provision.paths import TEMPLATES

LANGUAGES = ("en", "zh")
_QUOTED = re.compile(r"`\{(\w+)\}`")


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


def speak(name: str) -> None:
    """Answer in this language from here on, in this process and in those that it starts."""
    os.environ["PADDOCK_LANG"] = name


def text(key: str, **values: object) -> str:
    """The text of `key` in the user's language, its {placeholders} filled.

    Values are inserted as they are: a value with braces is not interpreted again. Where one is
    quoted and there is none, a word says so: nobody sees that nothing stands between two backticks.
    """
    said = catalogue()[key][language()]
    if "`{" in said:
        said = _QUOTED.sub(lambda one: one[0] if _is_given(values, one[1]) else text("empty"), said)
    return said.format_map(values)


def _is_given(values: Mapping[str, object], name: str) -> bool:
    value = values.get(name)
    return value is not None and str(value) != ""
