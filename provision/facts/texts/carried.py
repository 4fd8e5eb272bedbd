"""The lines of a text without what carried it here: HTML, JSON strings, mail quotes, time stamps of
logs, numbers of lines, a frame that is broken or drawn with other characters, doubled line ends.
"""

from __future__ import annotations

import html
import re

from provision.facts.texts import frames, prefixes

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)?|[@-Z\\^_])")
_PLAIN = (
    {ord(mark): "|" for mark in "│┃║｜"}
    | {ord(mark): "-" for mark in "─━┄┈–—−"}
    | {ord(mark): "+" for mark in "┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬╞╡╪╒╕╘╛"}
    | {ord("═"): "=", 0xA0: " ", 0x202F: " ", 0x2007: " ", 0x3000: " ", 0x200B: None, 0xFEFF: None}
)
_ENTITY = re.compile(r"&(?:nbsp|lt|gt|quot|amp|#x?[0-9a-fA-F]{1,6});")
_TAG = re.compile(r"</?(?:pre|code|span|div|p|samp|tt|kbd|font|b)(?: [^<>]{0,300})?>", re.I)
_BREAK = re.compile(r"<br ?/?>\n?", re.I)
_TABLE = re.compile(r"\\n[+|-]")  # a line of a table as a JSON string has it
_FEW = 3  # lines: with no more, every other blank one is chance


def lines(text: str) -> list[str]:
    """The lines that the tool printed, without tabs and blanks at their ends."""
    plain = _unescaped(_ESCAPE.sub("", text.replace("\r\n", "\n")))
    if "\n" not in plain:
        plain = plain.replace("\r", "\n")
    kept = (line.rstrip("\r").rpartition("\r")[2] for line in _unmarked(plain).split("\n"))
    found = [line.translate(_PLAIN).expandtabs(8).rstrip() for line in kept]
    for _ in range(3):  # a quoted log has two
        before, found = found, prefixes.bare(_single(found))
        if found == before:
            break
    return frames.joined(found)


def _unescaped(text: str) -> str:
    """The text of a JSON string that holds a table; any other is left alone."""
    if text.count("\\n") <= text.count("\n") or not _TABLE.search(text):
        return text
    return prefixes.from_string(text)


def _unmarked(text: str) -> str:
    """The text of HTML; a text without its entities and tags is left alone."""
    if not _ENTITY.search(text) and not _TAG.search(text) and not _BREAK.search(text):
        return text
    return html.unescape(_TAG.sub("", _BREAK.sub("\n", text)))


def _single(found: list[str]) -> list[str]:
    """The lines when every other one is blank."""
    for first in (0, 1):
        others = found[1 - first :: 2]
        told = sum(map(bool, found[first::2]))
        if told > _FEW and not any(others):
            return found[first::2]
    return found
