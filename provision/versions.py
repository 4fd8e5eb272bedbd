"""The version numbers of the vendors: read them, compare them, and find them in a range.

Three ways of counting are told apart from the text alone. Enflame only has numbers, with a date
(`3.3.20250314`) or a commit (`1.0.5.1-2c3111`) at the end. Python packages follow PEP 440, as in
`3.0.0b0`. Huawei puts a candidate where the third number will be, and counts on below it: 8.0.RC1,
8.0.RC1.10, 8.0.RC2, at last 8.0.0 (the order of its release notes). Where no source tells which of
two came first, nothing is said: a test version such as 8.0.T13 against the others of 8.0, a nightly
build of 3.0.0 against 3.0.0b0, a date against a count, two commits.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from itertools import zip_longest

import msgspec

# (number, 0, 0), or for a word (what it stands next to, rank, its number): words come before the
# number 0, only `post` comes after it.
Part = tuple[int, int, int]
_WORDS = {"dev": (-1, 1), "a": (-1, 2), "b": (-1, 3), "rc": (-1, 4), "t": (-1, 5), "post": (0, 1)}
_ZERO: Part = (0, 0, 0)

# `.b010` is a build. `.beta1` is the community's name for the same CANN (release notes of Ascend
# Extension for PyTorch: commercial 8.0.0, community 8.0.0.beta1); `-beta.3` is a real beta, but
# `-b23111` is a commit.
_WORD = r"(?:(?:dev|alpha|beta|post|rc|t)\.?\d{1,12}|[ab]\d{1,3}(?![0-9a-f]))"
_VERSION = re.compile(
    rf"v?(?P<parts>\d{{1,12}}(?:\.\d{{1,12}}|(?!\.b\d{{3}}|\.beta)[.-]?{_WORD}){{0,12}})"
    r"(?P<build>(?:\.b\d{3}|\.beta\d{1,3})?(?:\+[0-9a-z._-]{1,60}|-[0-9a-f]{6,40})?)",
    re.IGNORECASE | re.ASCII,
)
_PART = re.compile(r"(?P<word>[a-z]*)\.?(?P<number>\d+)", re.IGNORECASE | re.ASCII)


class Version(msgspec.Struct, frozen=True):
    """A version. `build` is what names a build of one release and nothing more: `+cpu`, `.b010`."""

    text: str
    parts: tuple[Part, ...]
    build: str


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Version | None:
    """The version that a text is; None when it is something else, such as `nightly`."""
    text = text.strip()
    match = _VERSION.fullmatch(text)
    if not match:
        return None
    parts = (_part(part["word"], int(part["number"])) for part in _PART.finditer(match["parts"]))
    return Version(text, tuple(parts), match["build"].lower())


def compare(a: Version | str, b: Version | str) -> int | None:
    """-1, 0 or 1 as `a` is before, equal to or after `b`; None where that is not known."""
    first, second = _version(a), _version(b)
    if first is None or second is None:
        return None
    for one, other in zip_longest(first.parts, second.parts, fillvalue=_ZERO):
        if one != other:
            return None if _apart(one, other) else (one > other) - (one < other)
    if first.build == second.build:
        return 0
    if first.build[:1] == second.build[:1] == "+":  # ordered by PEP 440 where both are numbers
        return compare(first.build[1:], second.build[1:])
    return None


def same_release(a: Version | str, b: Version | str) -> bool | None:
    """Whether the two are one release, whatever build of it; None where one is no version."""
    first, second = _version(a), _version(b)
    if first is None or second is None:
        return None
    return _trimmed(first.parts) == _trimmed(second.parts)


def begins(version: Version | str, beginning: Version | str) -> bool | None:
    """Whether a version is `beginning` or one below it: 24.1.rc3 and 24.1.0.3 begin with 24.1."""
    first, second = _version(version), _version(beginning)
    if first is None or second is None:
        return None
    count = len(second.parts)
    return (first.parts + (_ZERO,) * count)[:count] == second.parts


def within(version: str, ranges: Iterable[tuple[str, str]]) -> bool | None:
    """Whether a version is in one of the ranges of Huawei's version files, ends included.

    An end stands for all that begins with it: 7.1.99.3 is in `[7.0.0,7.1.99]`, and 24.1.rc3 in
    `[24.1,24.1.]`. None without any range, and where the order of the numbers and Huawei's own
    comparison (of characters; hicann/driver, `dcmi_judge_compatibility`) do not agree.
    """
    answers = [_between(version.strip(), low, high) for low, high in ranges]
    if True in answers:
        return True
    return None if None in answers or not answers else False


def _between(version: str, low: str, high: str) -> bool | None:
    """Whether a version is in one range."""
    cut = version.lower()[: max(len(low), len(high))]
    by_text = low.lower() <= cut <= high.lower()
    by_number = _ordered(version, low.rstrip("."), high.rstrip("."))
    return by_number if by_number == by_text else None


def _ordered(version: str, low: str, high: str) -> bool | None:
    """Whether a version is from `low` to `high`, with all that begins with these."""
    if begins(version, low) or begins(version, high):
        return True
    sides = compare(low, version), compare(version, high)
    return False if 1 in sides else None if None in sides else True


def _part(word: str, number: int) -> Part:
    """A number, or a word with its number."""
    if not word:
        return (number, 0, 0)
    low = word.lower()
    level, rank = _WORDS[{"alpha": "a", "beta": "b"}.get(low, low)]
    return (level, rank, number)


def _apart(one: Part, other: Part) -> bool:
    """Whether two different parts count different things, so that neither is the greater."""
    kinds = {one[:2], other[:2]}
    if all(part[0] >= 0 for part in (one, other)):  # a date against a number, or a `post` of one
        return len({20000101 <= part[0] <= 20991231 for part in (one, other)}) > 1  # noqa: PLR2004
    is_before = all(part[0] == -1 for part in (one, other))
    return len(kinds) > 1 and (_WORDS["t"] in kinds or (is_before and _WORDS["dev"] in kinds))


def _trimmed(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts without zeros at the end."""
    while parts and parts[-1] == _ZERO:
        parts = parts[:-1]
    return parts


def _version(value: Version | str) -> Version | None:
    """A version from either form."""
    return value if isinstance(value, Version) else parse(value)
