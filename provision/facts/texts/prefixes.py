"""What nearly all lines of a text begin with, and no tool printed: stamps, quotes, numbers."""

from __future__ import annotations

import itertools
import re

_STAMP = (  # of Docker, Kubernetes, GitHub, Python; not of the kernel's log, which is an output
    r"[\[(]?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?[\])]?(?! \S{1,120} kernel:)"
    r"(?: (?:stdout|stderr) [FP])?"
)
_SOURCE = r"(?!kernel:)[\w./@-]{1,80}(?:\[[0-9]{1,10}\])?:"
_PREFIXES = tuple(
    re.compile(rf"(?:{pattern})(?: |$)")
    for pattern in (
        rf"{_STAMP} \S{{1,120}} [\w./@-]{{1,80}}\[[0-9]{{1,10}}\]:",
        rf"{_STAMP}(?: -)? \[?(?:DEBUG|INFO|WARN|WARNING|ERROR)\]?:?(?: -)?",
        _STAMP,
        rf"\w{{3}} [ 0-9][0-9] [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}} \S{{1,120}} {_SOURCE}",
        r"\[pod/\S{1,200}\]",
        r">(?: ?>)*",
    )
)
_SERVICE = re.compile(r"[\w.-]{1,80} +\|")  # Docker Compose
_COMMENT = re.compile(r"(?:#|//)(?: |$)")
_SLOT = r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] "  # of lspci: buses count too
_NUMBER = re.compile(rf"(?! {{0,8}}{_SLOT}) {{0,8}}([0-9]{{1,6}})(?:[:.|) ]|$)")
_STRING = re.compile(r'\s*"((?:[^"\\]|\\.)*)",?')  # of a JSON list, such as Ansible's stdout_lines
_BRACKETS = ("[", "]", "],")
_FEW = 3  # lines: with fewer, what they all begin with may be their own
_MOST = 0.8  # of the lines: a first or last one may be typed by hand


def bare(found: list[str]) -> list[str]:
    """The lines without what nearly all of them begin with, or without their common indent."""
    full = [line for line in found if line]
    for pattern in _PREFIXES:
        if full and _share(pattern, full) >= _MOST:
            return [pattern.sub("", line, count=1) for line in found]
    if len(full) < _FEW:
        return found
    return _strings(found) or _same(found, full) or _numbered(found, full) or _indented(found, full)


def _share(pattern: re.Pattern[str], full: list[str]) -> float:
    """The share of the lines that begin with a pattern."""
    return sum(bool(pattern.match(line)) for line in full) / len(full)


def _strings(found: list[str]) -> list[str]:
    """The lines of a JSON list of strings; none for any other text."""
    inner = [line for line in found if line and line.strip() not in _BRACKETS]
    told = sum(bool(_STRING.fullmatch(line)) for line in inner)
    if len(inner) < _FEW or told < _MOST * len(inner):
        return []
    matches = [(line, _STRING.fullmatch(line)) for line in inner]
    return [from_string(match[1]) if match else line for line, match in matches]


def from_string(text: str) -> str:
    """The inside of a JSON string with its line ends, tabs, quotes and characters."""
    marks = {"n": "\n", "t": "\t", "r": "\r"}
    plain = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r"\\(.)", lambda match: marks.get(match[1], match[1]), plain)


def _same(found: list[str], full: list[str]) -> list[str]:
    """The lines without the name of a service, or without the mark of a comment."""
    service = _SERVICE.match(full[0])
    if service and all(line.startswith(service[0]) for line in full):
        return [line[service.end() :].removeprefix(" ") for line in found]
    if _share(_COMMENT, full) >= 0.9:  # noqa: PLR2004 - `# ` is a prompt too
        return [_COMMENT.sub("", line, count=1) for line in found]
    return []


def _numbered(found: list[str], full: list[str]) -> list[str]:
    """The lines without their numbers, when they all have one and these count; blank ones too."""
    numbers = [int(match[1]) for line in full if (match := _NUMBER.match(line))]
    steps = {after - before for before, after in itertools.pairwise(numbers)}
    if len(numbers) < len(full) or 1 not in steps or not steps <= {1, 2, 3}:
        return []
    return [_NUMBER.sub("", line, count=1) for line in found]


def _indented(found: list[str], full: list[str]) -> list[str]:
    """The lines without the blanks that all of them begin with."""
    indent = min(len(line) - len(line.lstrip()) for line in full)
    return [line[indent:] for line in found]
