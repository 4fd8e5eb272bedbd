"""Who provides the symbols that a library asks for, and whom one would expect to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from provision.facts.linking import elf_symbols
from provision.facts.linking.loader import Object, Process

# Of a mangled name: its outermost scope; `St` and `Ss` and their like are the standard library.
_MANGLED = re.compile(r"_Z(?:T[VTIS]|GV)?(?:N[rVK]*)?(?:(S[absiodt])|(\d+))")
_PLAIN = re.compile(r"_*(?:[A-Z]+_|[A-Z]?[a-z0-9]{2,}_?)")
_PYTHON = re.compile(r"_?Py[A-Z_]")


class Resolved(msgspec.Struct, frozen=True):
    """What came of the symbols. `missing` are nowhere in reach; `kin` -> the library of their kin.

    `unlinked` -> the loaded library that has it, but is not among what the file pulls in.
    """

    missing: list[str]
    kin: dict[str, str]
    unlinked: dict[str, str]


def resolve(names: Iterable[str], top: Object, process: Process) -> Resolved:
    """Look up symbols as the loader does: the program and its libraries, then the file's own."""
    wanted = elf_symbols.hashed(names)
    found = _found(wanted, _scope(top, process))
    rest = {name: wanted[name] for name in wanted if name not in found}
    if not process.program:
        rest = {name: value for name, value in rest.items() if not _PYTHON.match(name)}
    unlinked = _found(rest, process.objects)
    missing = sorted(set(rest) - set(unlinked))
    return Resolved(missing, _kin(missing, found), unlinked)


def further(fresh: Iterable[Object], top: Object, process: Process) -> dict[str, list[str]]:
    """Those of the libraries that `top` brings with it -> the symbols that they miss."""
    asked = {one: elf_symbols.undefined(one.elf) for one in fresh}
    names = {name for some in asked.values() for name in some}
    lost = set(resolve(names, top, process).missing)
    missing = {str(one.elf.path): sorted(lost & set(some)) for one, some in asked.items()}
    return {path: some for path, some in missing.items() if some}


def _scope(top: Object, process: Process) -> list[Object]:
    """Where the symbols of a file are looked for, in order."""
    first = [process.program] if process.program else []
    return [one for each in [*first, *process.preloaded, top] for one in each.closure()]


def _found(wanted: Mapping[str, int], objects: Iterable[Object]) -> dict[str, str]:
    """Symbol -> path of the first library that defines it."""
    found: dict[str, str] = {}
    rest = dict(wanted)
    for one in dict.fromkeys(objects):
        for name in elf_symbols.defined(one.elf, rest) if rest else ():
            found[name] = str(one.elf.path)
            del rest[name]
    return found


def _kin(missing: Iterable[str], found: Mapping[str, str]) -> dict[str, str]:
    """For a missing symbol the library that has most of the file's other symbols of its family."""
    counts: dict[str, Counter[str]] = {}
    for name, path in found.items():
        counts.setdefault(family(name), Counter())[path] += 1
    named = ((name, counts.get(family(name))) for name in missing if family(name))
    return {name: count.most_common(1)[0][0] for name, count in named if count}


def family(name: str) -> str:
    """What symbols of one library have in common: `aclrt`, `PD_`, `Hccl`, a C++ namespace.

    "" when a name has no such part.
    """
    mangled = _MANGLED.match(name)
    if mangled is None:
        plain = _PLAIN.match(name)
        return plain[0] if plain else ""
    if mangled[1]:
        return "std::"
    scope = name[mangled.end() :][: int(mangled[2])]
    nested = "N" in mangled[0]
    return f"{scope}::" if nested else family(scope) if scope != name else ""
