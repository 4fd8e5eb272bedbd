"""One Jinja environment for every command the tool emits: each value shell-quoted by default."""

from __future__ import annotations

import functools
import json
import re
import shlex
import string
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING

from provision.paths import TEMPLATES

if TYPE_CHECKING:
    import jinja2


class Safe(str):
    """Text that goes into a template as it is: only for text that the tool itself wrote."""

    __slots__ = ()


def quote(value: object) -> str:
    """A value as one shell word; a list as several words.

    Raises TypeError for what has no obvious spelling (None, a mapping), ValueError for NUL.
    """
    if isinstance(value, Safe):
        return value
    if isinstance(value, bool) or not isinstance(
        value, str | int | float | PurePath | list | tuple
    ):
        raise TypeError(f"no shell spelling for {value!r}")
    if isinstance(value, list | tuple):
        return " ".join(quote(item) for item in value)
    if "\0" in str(value):
        raise ValueError("a shell word cannot hold a NUL character")
    return shlex.quote(str(value))


@functools.cache
def environment() -> jinja2.Environment:
    """The environment: undefined names are errors, every printed value passes `quote`."""
    import jinja2

    def finalize(value: object) -> object:
        # An undefined value must raise its own error, which names it.
        return value if isinstance(value, jinja2.Undefined) else quote(value)

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES, encoding="utf-8"),
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        autoescape=False,  # noqa: S701 - this is shell, not HTML: `finalize` is what escapes
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(json=as_json, label=label, line=line, document=document, pattern=pattern,
                        copied=copied)  # fmt: skip
    return made


def as_json(value: object) -> Safe:
    """A value as JSON: the exec form of an instruction in a Dockerfile."""
    return Safe(json.dumps(value, ensure_ascii=False))


def copied(paths: list[object]) -> Safe:
    """What an instruction COPY of a Dockerfile copies, and where to.

    It parts its words at blanks even within quotes, so paths that need any are a list in JSON;
    variables, quotes and backslashes mean something also there.
    """
    words = [str(path) for path in paths]
    if all(quote(word) == word for word in words):
        return Safe(" ".join(words))
    return as_json([re.sub(r"([\\\"'$])", r"\\\1", word) for word in words])


def line(value: object) -> Safe:
    """A value within one line, as it is: for comments. Raises ValueError for a line break."""
    text = str(value)
    if "\0" in text or text.splitlines() not in ([], [text]):
        raise ValueError(f"not one line: {text!r}")
    return Safe(text)


def label(value: object) -> Safe:
    """A value in double quotes of a Dockerfile, where nothing in it is expanded.

    Raises ValueError for a line break, which no instruction can hold.
    """
    return Safe('"' + re.sub(r'([\\"$])', r"\\\1", line(value)) + '"')


def pattern(value: str) -> Safe:
    """A path of our own in which the shell expands `$NAME` and `*`, and nothing else.

    Raises ValueError for any other sign that a shell might act upon.
    """
    if not re.fullmatch(r"[\w$*./+-]+", value, re.ASCII):
        raise ValueError(f"not a plain path: {value!r}")
    return Safe(value)


def document(value: str) -> Safe:
    """A text file as a here-document of a shell, which expands nothing in it.

    dash 0.5.12 loses a byte that is not ASCII after what could begin the word of the end, so that
    word begins as no line with such a byte does. Raises ValueError where there is none.
    """
    lines = value.split("\n")
    risky = {line[0] for line in lines if line and not line.isascii()}
    first = next((sign for sign in "E" + string.ascii_letters if sign not in risky), None)
    if first is None:
        raise ValueError("a line that is not ASCII begins with each letter")
    end = f"{first}ND_OF_FILE"
    while end in value:
        end += "_"
    return Safe(f"<<'{end}'\n{value.removesuffix(chr(10))}\n{end}")


def render(template: str, values: Mapping[str, object]) -> str:
    """The text of a template below `templates/`. Pure: same values, same bytes."""
    return environment().get_template(template).render(values)


def embed(template: str, values: Mapping[str, object]) -> Safe:
    """The same, to be a part of another template of a shell script."""
    return Safe(render(template, values))
