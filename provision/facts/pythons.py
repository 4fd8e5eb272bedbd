"""The Python interpreters of this machine."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from provision.facts.command import run
from provision.facts.together import together

Version = tuple[int, int]

_NAME = re.compile(r"python3(?:\.(\d+))?")
_PLAIN = re.compile(r"(>=|<)3\.([0-9]{1,4})")
_LIMIT = 10.0  # seconds; a pyenv shim takes half a second
_ASK = "import sys; print('%d.%d' % sys.version_info[:2])"


def interpreters(
    accept: Callable[[Version], bool] = lambda version: True,
) -> Iterator[tuple[Path, Version]]:
    """The interpreters with an accepted version: the running one, then those on PATH, as found.

    Those on PATH are started only when the iteration reaches them, side by side, and only where
    their names do not rule them out already; one that does not answer (a shim of a version that is
    not installed) is left out.
    """
    running = Path(getattr(sys, "_base_executable", "") or sys.executable)
    seen = {running.resolve()}
    if accept(sys.version_info[:2]):
        yield running, sys.version_info[:2]
    others: list[Path] = []
    for path, minor in _candidates():
        if path.resolve() not in seen and (minor is None or accept((3, minor))):
            seen.add(path.resolve())
            others.append(path)
    versions = together([functools.partial(version_of, path) for path in others])
    for path, version in zip(others, versions, strict=True):
        if version and accept(version):
            yield path, version


def bounds(specifier: str) -> Callable[[Version], bool]:
    """Whether a Python version is within a specifier such as `>=3.10,<3.13`.

    Raises packaging's InvalidSpecifier for what is none.
    """
    plain = [_PLAIN.fullmatch(part) for part in specifier.split(",")]
    rows = [(match[1], (3, int(match[2]))) for match in plain if match]
    if len(rows) == len(plain):  # the usual form, without the cost of importing packaging
        least = max((version for sign, version in rows if sign == ">="), default=(0, 0))
        below = min((version for sign, version in rows if sign == "<"), default=(99, 0))
        return lambda version: least <= version < below
    from packaging.specifiers import SpecifierSet

    exact = SpecifierSet(specifier)
    return lambda version: "{}.{}".format(*version) in exact


def admitted(specifier: str) -> list[str]:
    """The Pythons that a specifier admits, such as `3.10`, from 3.8 on; lowest first."""
    accept = bounds(specifier)
    return [f"3.{minor}" for minor in range(8, 30) if accept((3, minor))]


def _candidates() -> Iterator[tuple[Path, int | None]]:
    """The executables on PATH that are named `python3` or `python3.N`, with N; newest first."""
    for folder in os.get_exec_path():
        matches = [(name, _NAME.fullmatch(name)) for name in _names(Path(folder))]
        found = [(Path(folder) / name, match[1]) for name, match in matches if match]
        for path, minor in sorted(found, key=lambda item: -int(item[1] or 0)):
            if os.access(path, os.X_OK):
                yield path, None if minor is None else int(minor)


def _names(folder: Path) -> list[str]:
    """The names in a folder of PATH, which may not exist or not be readable."""
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are wanted, and there are thousands
    except OSError:
        return []


def version_of(python: Path) -> Version | None:
    """The version that an interpreter answers with; None when it does not answer.

    `-I -S`: neither the user's variables nor a broken site-packages can spoil the answer.
    """
    try:
        answer = run([python, "-I", "-S", "-c", _ASK], _LIMIT)
    except OSError:
        return None
    match = re.fullmatch(r"(\d+)\.(\d+)", answer.out.strip())
    return (int(match[1]), int(match[2])) if answer.status == 0 and match else None
