"""How a library would link here: what it needs, who has it, and what nobody has; nothing is loaded.

This finds a plugin that was built for another CANN, Paddle or system before anyone imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from provision.facts.linking import (
    elf,
    elf_symbols,
    elf_versions,
    library_folders,
    link_symbols,
)
from provision.facts.linking.elf_file import DAMAGED, ElfFile
from provision.facts.linking.loader import Object, Process, Request
from provision.facts.linking.process_libraries import NOBODY, Host, start


class Needed(msgspec.Struct, frozen=True):
    """A library that is asked for by name (NEEDED), and where the loader would find it.

    `found` is None when it finds none, `problem` says what is wrong with the one that it finds.
    `of` is the file that asks: the examined one or, for what is not in order, one that it pulls in.
    `how` is what leads there: `loaded` (the program has it already), `rpath`, `variable`
    (LD_LIBRARY_PATH), `runpath`, `cache`, `default`, `path` (a name with a slash).
    `near` are files of that name in places where the loader does not look; `product` is what such a
    library belongs to, None where that is not known.
    """

    name: str
    found: str | None
    of: str = ""
    how: str = ""
    problem: str = ""
    near: list[str] = []
    product: str | None = None


class Unversioned(msgspec.Struct, frozen=True):
    """A symbol version that a library in force does not have; the loader refuses `of` for it."""

    version: str
    library: str
    found: str
    of: str


class Linkage(msgspec.Struct, frozen=True):
    """How one library would link. `problem` says why it cannot be loaded at all, "" if it can.

    `needed` are the libraries that it asks for itself, then those that are not in order further
    down. `missing_symbols` are in no library that it would get; `unprovided_by` names for such a
    symbol the library that has its nearest kin (a guess by their names; not every one has it).
    `late` are those of the missing that the loader looks up only when they are called.
    `unlinked` are symbols -> library: loaded, but not linked (NEEDED), so not found.
    `further` are the libraries that it pulls in -> the symbols that these miss in turn.
    While a needed library is absent nobody knows what it has: the symbols are then `unsettled`.
    `glibc`, `glibcxx`, `cxxabi` are the highest versions that it requires, None for no requirement.
    `cxx11_abi` is None where it cannot be told. `arch` is "" for what is no ELF file.
    """

    file: str
    problem: str = ""
    needed: list[Needed] = []
    missing_symbols: list[str] = []
    late: list[str] = []
    unprovided_by: dict[str, str] = {}
    unlinked: dict[str, str] = {}
    further: dict[str, list[str]] = {}
    unsettled: list[str] = []
    missing_versions: list[Unversioned] = []
    glibc: str | None = None
    glibcxx: str | None = None
    cxxabi: str | None = None
    cxx11_abi: bool | None = None
    rpath: list[str] = []
    runpath: list[str] = []
    arch: str = ""


def collect(
    files: Sequence[Path], variables: Mapping[str, str], root: Path = Path("/"),
    host: Host = NOBODY, alone: Callable[[Path], bool] = lambda path: True,
) -> list[Linkage]:  # fmt: skip
    """How each file would link in the process `host`, with the LD_ variables of `variables`.

    `root` is the prefix of /etc, of the system's library folders and of the vendors'. Without a
    program in `host` the symbols of Python count as provided. What is not opened by itself
    (`alone`) but asked for by another of the files inherits that one's DT_RPATH and its symbols.
    """
    process = start(variables, root, host)
    folders = library_folders.Folders(root, host.nearby)
    paths = [path.absolute() for path in files]
    first = _openers(paths, process, alone)
    return [_linkage(path, first.get(path, path), process.fork(), folders) for path in paths]


def _openers(
    paths: Sequence[Path], process: Process, alone: Callable[[Path], bool]
) -> dict[Path, Path]:
    """The files that come with another one -> the first that brings them, and is opened itself."""
    parts = [path for path in paths if not alone(path)]
    brought = {path: _brought(path, process.fork()) for path in paths} if parts else {}
    come = [path for path in parts
            if any(path.resolve() in brought[one] for one in paths if one != path)]  # fmt: skip
    first = [path for path in paths if path not in come]
    return {path: one for path in come for one in reversed(first)
            if path.resolve() in brought[one]}  # fmt: skip


def _brought(path: Path, process: Process) -> set[Path]:
    """The files that one pulls in; none where it cannot be loaded at all."""
    before = set(process.objects)
    try:
        top = process.load(elf.checked(ElfFile(path), process.arch))
        return {one.elf.path.resolve() for one in top.closure() if one is not top}
    except (OSError, *DAMAGED):
        return set()
    finally:
        process.forget(before)


def _linkage(
    path: Path, opener: Path, process: Process, folders: library_folders.Folders
) -> Linkage:
    """How one file would link. What is damaged is a problem in the answer."""
    arch, before = "", set(process.objects)
    try:
        file = ElfFile(path)
        arch = file.arch
        first = file if opener == path else ElfFile(opener)
        return _linked(elf.checked(file, process.arch), first, process, folders)
    except (OSError, *DAMAGED) as error:
        return Linkage(str(path), elf.problem(error), arch=arch)
    finally:
        process.forget(before)


def _linked(
    file: ElfFile, opener: ElfFile, process: Process, folders: library_folders.Folders
) -> Linkage:
    """How a file that can be loaded would link with `opener`. Raises `elf_file.DAMAGED`."""
    before = set(process.objects)
    scope = process.load(opener)
    top = process.load(file)
    top.elf = file  # not by the way that led there
    # What the process has without this file is not this file's to answer for.
    fresh = top.closure() if top in before else [o for o in top.closure() if o not in before]
    needed = [_needed(request, folders) for request in _shown(top, fresh)]
    names = elf_symbols.undefined(file)
    absent = any(one.found is None or one.problem for one in needed)
    symbols = link_symbols.resolve(names, scope, process)
    lost = sorted({*symbols.missing, *symbols.unlinked})
    parts = [] if absent else [one for one in fresh if one is not top]
    others = link_symbols.further(parts, scope, process)
    wanted = [version.name for version in elf_versions.wanted_versions(file)]
    return Linkage(
        str(file.path),
        needed=needed,
        missing_symbols=[] if absent else symbols.missing,
        late=[] if absent else _late(file, symbols.missing),
        unprovided_by={} if absent else symbols.kin,
        unlinked={} if absent else symbols.unlinked,
        further=others,
        unsettled=lost if absent else [],
        missing_versions=[gap for one in fresh for gap in _gaps(one)],
        glibc=elf_versions.highest("GLIBC", wanted),
        glibcxx=elf_versions.highest("GLIBCXX", wanted),
        cxxabi=elf_versions.highest("CXXABI", wanted),
        cxx11_abi=elf_versions.cxx11_abi(file, names),
        rpath=file.rpath,
        runpath=file.runpath,
        arch=file.arch,
    )


def _late(file: ElfFile, missing: list[str]) -> list[str]:
    """Those of the missing symbols for which the loader does not refuse the file."""
    return elf_symbols.bound_late(file, missing) if missing else []


def _shown(top: Object, fresh: list[Object]) -> list[Request]:
    """What the file asks for, then what is not in order among what it pulls in."""
    further = [request for one in fresh if one is not top for request in one.requests]
    bad = {request.name: request for request in further if request.object is None}
    own = {request.name for request in top.requests}
    return [*top.requests, *(request for name, request in bad.items() if name not in own)]


def _needed(request: Request, folders: library_folders.Folders) -> Needed:
    """A request with what is known about a library that is not found."""
    of = str(request.of.elf.path) if request.of else ""
    made = Needed(request.name, request.path or None, of, request.how, request.problem)
    if made.found:
        return made
    near = folders.near(request.name, Path(of).parent)
    return msgspec.structs.replace(made, near=near, product=folders.product(request.name))


def _gaps(one: Object) -> list[Unversioned]:
    """The versions that a library wants of those that it gets, and that these do not have.

    The loader only warns about a library that has no versions at all.
    """
    got = {request.name: request.object for request in one.requests if request.object}
    found = []
    for library, name in elf_versions.wanted_versions(one.elf):
        provider = got.get(library)
        has = elf_versions.defined_versions(provider.elf) if provider else []
        if provider and has and name not in has:
            found.append(Unversioned(name, library, str(provider.elf.path), str(one.elf.path)))
    return found
