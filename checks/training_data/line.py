"""One line of a file of examples: fit to be learned from, or why not.

PaddleNLP's llm examples are JSON objects, one a line, with `src` and `tgt`: a string, or a list of
strings with one for each turn of a conversation, as many in both (PaddleNLP llm/utils/data.py).
Read as `read_local_dataset` of PaddleNLP's llm scripts reads it: `json.loads(line.strip())` of the
lines of `open(path, encoding="utf-8")`.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

import msgspec

BOMS = {
    codecs.BOM_UTF8: "utf-8-bom", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
"""What a file may begin with. The ones of UTF-32 come first: UTF-16's is their beginning."""


class Example(msgspec.Struct, frozen=True):
    """What is needed of a line; other fields are no matter."""

    src: str | list[str]
    tgt: str | list[str]


# Python refuses to read a whole number of so many digits (sys.get_int_max_str_digits); msgspec does
# not look at fields that nobody asked for.
_MANY_DIGITS = re.compile(r"[0-9]{4301}")
_decode = msgspec.json.Decoder(Example).decode


class Fault(msgspec.Struct, frozen=True):
    """Why a line cannot be used: the sentence `data.fault.NAME`, and what fills it.

    `broken` is False where training runs and this line teaches nothing.
    """

    name: str
    values: dict[str, str] = {}
    broken: bool = True


def fault_of(line: bytes) -> Fault | None:
    """What is wrong with a line (without its end); None where nothing is."""
    try:
        text = line.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        # In a text in GBK the first character that is not ASCII is no UTF-8 either.
        gbk = line[: error.start].isascii() and _is(line, "gb18030")
        return Fault("gbk" if gbk else "not-utf8", {"at": str(error.start + 1)})
    if not text:
        return Fault("blank")
    if _is_plain(text):
        try:
            return _turns(_decode(text))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            pass
    return _closely(text)


def _is_plain(text: str) -> bool:
    """Whether nothing in it asks for Python's own reading: it is the slower one."""
    if text.count('"src"') != 1 or text.count('"tgt"') != 1 or "\\u00" in text:
        return False
    return len(text) <= 4300 or not _MANY_DIGITS.search(text)  # noqa: PLR2004


def _turns(example: Example) -> Fault | None:
    """What is wrong with the turns of an example."""
    src, tgt = ([one] if isinstance(one, str) else one for one in (example.src, example.tgt))
    if not src or not tgt:
        return Fault("no-turns", {"field": "tgt" if src else "src"})
    if len(src) != len(tgt):
        return Fault("turns", {"src": str(len(src)), "tgt": str(len(tgt))})
    if not all(one.strip() for one in tgt):
        return Fault("empty", broken=False)
    return None


def _closely(text: str) -> Fault | None:
    """The same for a line that is wrong, or has names that may be there twice."""
    try:
        pairs = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError) as error:
        return Fault("json", {"reason": str(error)[:100]})
    if not isinstance(pairs, _Pairs):
        return Fault("array" if isinstance(pairs, list) else "no-object")
    return _fields(pairs)


class _Pairs(list[tuple[str, Any]]):
    """An object's fields, in order, each as often as it is there."""


def _fields(pairs: _Pairs) -> Fault | None:
    """What is wrong with the two fields of an object."""
    names = [name for name, _ in pairs]
    values = dict(pairs)
    for field in ("src", "tgt"):
        if field not in names:
            return Fault("missing", {"field": field})
        if names.count(field) > 1:
            return Fault("twice", {"field": field})
        if not _is_text(values[field]):
            return Fault("type", {"field": field})
        if _halved(values[field]):
            return Fault("surrogate", {"field": field})
    return _turns(Example(values["src"], values["tgt"]))


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and not isinstance(value, _Pairs)
        and all(isinstance(one, str) for one in value)
    )  # fmt: skip


def _halved(value: str | list[str]) -> bool:
    """Whether there is half of a character that UTF-16 writes in two: no tokenizer takes that."""
    whole = value if isinstance(value, str) else "".join(value)
    return any("\ud800" <= sign <= "\udfff" for sign in whole)


def _is(line: bytes, encoding: str) -> bool:
    try:
        line.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
