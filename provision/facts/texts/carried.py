"""The lines of a text without what carried it here: HTML, mail quotes, time stamps of logs,
line numbers, a frame that is wrapped or drawn with other characters, doubled line ends.
"""

from __future__ import annotations

import html
import itertools
import re

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)?|[@-Z\\^_])")
_PLAIN = (
    {ord(mark): "|" for mark in "│┃║｜"}
    | {ord(mark): "-" for mark in "─━┄┈"}
    | {ord(mark): "+" for mark in "┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬╞╡╪╒╕╘╛"}
    | {ord("═"): "=", 0xA0: " ", 0x202F: " ", 0x2007: " ", 0x3000: " ", 0x200B: None, 0xFEFF: None}
)
_ENTITY = re.compile(r"&(?:nbsp|lt|gt|quot|amp|#x?[0-9a-fA-F]{1,6});")
_TAG = re.compile(r"</?(?:pre|code|span|div|p|samp|tt|kbd|font|b)(?: [^<>]{0,300})?>", re.I)
_BREAK = re.compile(r"<br ?/?>\n?", re.I)
_STAMP = (  # of Docker, Kubernetes, GitHub, Python; not of the kernel's log, which is an output
    r"[\[(]?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?[\])]?(?! \S{1,120} kernel:)"
    r"(?: (?:stdout|stderr) [FP])?(?:(?: -)? \[?(?:DEBUG|INFO|WARN|WARNING|ERROR)\]?:?(?: -)?)?"
)
_SOURCE = r"(?!kernel:)[\w./@-]{1,80}(?:\[[0-9]{1,10}\])?:"
_PREFIXES = tuple(
    re.compile(rf"(?:{pattern})(?: |$)")
    for pattern in (
        rf"{_STAMP} \S{{1,120}} [\w./@-]{{1,80}}\[[0-9]{{1,10}}\]:",
        _STAMP,
        rf"\w{{3}} [ 0-9][0-9] [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}} \S{{1,120}} {_SOURCE}",
        r"\[pod/\S{1,200}\]",
        r"(?:> ?)+",
    )
)
_SERVICE = re.compile(r"[\w.-]{1,80} +\|")  # Docker Compose
_COMMENT = re.compile(r"(?:#|//)(?: |$)")
_NUMBER = re.compile(r" {0,8}([0-9]{1,6})(?:[:.|)]? {1,3}|[:.|)]?$)")
_RULE = re.compile(r"[+][-=+]{3,}|[-=+]{3,}[+]")
_FEW = 3  # lines: with fewer, what they all begin with may be their own


def lines(text: str) -> list[str]:
    """The lines that the tool printed, without tabs and blanks at their ends."""
    plain = _ESCAPE.sub("", text.replace("\r\n", "\n"))
    if "\n" not in plain:
        plain = plain.replace("\r", "\n")
    kept = (line.rstrip("\r").rpartition("\r")[2] for line in _unmarked(plain).split("\n"))
    found = [line.translate(_PLAIN).expandtabs(8).rstrip() for line in kept]
    for _ in range(3):  # a quoted log has two
        before, found = found, _bare(_single(found))
        if found == before:
            break
    return _joined(found)


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


def _bare(found: list[str]) -> list[str]:
    """The lines without what nearly all of them begin with."""
    full = [line for line in found if line]
    for pattern in _PREFIXES:
        if full and _share(pattern, full) >= 0.8:  # noqa: PLR2004
            return [pattern.sub("", line, count=1) for line in found]
    if len(full) < _FEW:
        return found
    if (service := _SERVICE.match(full[0])) and all(line.startswith(service[0]) for line in full):
        return [line[service.end() :].removeprefix(" ") for line in found]
    if _share(_COMMENT, full) >= 0.9:  # noqa: PLR2004
        return [_COMMENT.sub("", line, count=1) for line in found]
    if _numbered(full):
        return [_NUMBER.sub("", line, count=1) for line in found]
    indent = min(len(line) - len(line.lstrip()) for line in full)
    return [line[indent:] for line in found]


def _share(pattern: re.Pattern[str], full: list[str]) -> float:
    """The share of the lines that begin with a pattern."""
    return sum(bool(pattern.match(line)) for line in full) / len(full)


def _numbered(full: list[str]) -> bool:
    """Whether the lines begin with their numbers."""
    found = [int(match[1]) for line in full if (match := _NUMBER.match(line))]
    steps = {after - before for before, after in itertools.pairwise(found)}
    return len(found) == len(full) and 1 in steps and steps <= {1, 2, 3}  # blank lines count too


def _joined(found: list[str]) -> list[str]:
    """Rows of a drawn table that a narrow terminal broke, made whole again.

    A broken rule tells at which width and how wide the table is.
    """
    width = whole = 0
    done: list[str] = []
    at = 0
    while at < len(found):
        line = found[at]
        if _RULE.fullmatch(line) and at + 1 < len(found) and _is_broken(line, found[at + 1]):
            width, whole = len(line), len(line) + len(found[at + 1])
        count = -(-whole // width) if width else 1
        row = "".join(part.ljust(width) for part in found[at : at + count - 1])
        row += found[at + count - 1] if at + count <= len(found) else ""
        if count > 1 and line[:1] in ("+", "|") and len(row) == whole and row[-1] in "+|":
            done.append(row)
            at += count
        else:
            done.append(line)
            at += 1
    return done


def _is_broken(line: str, after: str) -> bool:
    """Whether the next line is the rest of a rule."""
    rest = bool(re.fullmatch("[-=+]{1,}", after)) and after.endswith("+")
    return rest and len(after) <= len(line) and not (line.endswith("+") and after.startswith("+"))
