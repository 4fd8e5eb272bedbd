"""Writes plain values as YAML: each text in double quotes, so that none is read as another type."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from provision.errors import PaddockError
from provision.words import text

# What YAML 1.2 counts as printable, chapter 5.1; the rest has to be escaped.
_UNPRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*")
# Words that YAML 1.1 reads as no text.
_OTHER = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


def dump(value: Mapping[str, object]) -> str:
    """The value as one YAML document.

    Raises PaddockError `bad-option` for a text with what no YAML can hold.
    """
    return "".join(f"{line}\n" for line in _lines(value))


def _lines(value: object) -> Iterator[str]:
    """The lines of a mapping, a sequence or a scalar."""
    if isinstance(value, Mapping) and value:
        for key, one in value.items():
            yield from _under(f"{_key(key)}:", one, " " * 2)
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        for one in value:
            first, *rest = _lines(one)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _scalar(value)


def _under(head: str, value: object, indent: str) -> Iterator[str]:
    """A key with its value: a scalar beside it, the rest below."""
    first, *rest = _lines(value)
    if isinstance(value, Mapping | list | tuple) and value:
        yield head
        yield from (indent + line for line in (first, *rest))
    else:
        yield f"{head} {first}"


def _key(key: str) -> str:
    return key if _PLAIN.fullmatch(key) and key.lower() not in _OTHER else _scalar(key)


def _scalar(value: object) -> str:
    """A scalar, or something empty."""
    if not isinstance(value, str):
        return json.dumps(value)
    if any("\ud800" <= sign <= "\udfff" for sign in value):
        raise PaddockError(
            "bad-option", option="YAML", value=ascii(value), wanted=text("wanted.utf8")
        )
    return _UNPRINTABLE.sub(_escaped, json.dumps(value, ensure_ascii=False))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004
