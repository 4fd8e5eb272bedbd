"""What the dynamic loader of glibc would map for a file, and from where; nothing is loaded.

Order of search (man 8 ld.so): what is loaded already, DT_RPATH of the asking file and of those that
asked for it (where there is no RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH, the cache of ldconfig, the
default folders. Not followed: subfolders for processor features, empty folders of LD_LIBRARY_PATH.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from provision.facts.linking import elf, loader_cache
from provision.facts.linking.elf_file import DAMAGED, ElfFile

How = Literal["", "loaded", "rpath", "variable", "runpath", "cache", "default", "path"]


@dataclass(eq=False)
class Object:
    """A file in the process with what it asks for; `parent` asked for it itself."""

    elf: ElfFile
    parent: Object | None = None
    requests: list[Request] = field(default_factory=list)

    def closure(self) -> list[Object]:
        """It and all that it pulls in, in the order in which symbols are looked up."""
        found = [self]
        for one in found:
            found += [r.object for r in one.requests if r.object and r.object not in found]
        return found


@dataclass(frozen=True, eq=False)
class Request:
    """A name that an object asks for, and what came of it.

    `path` is what was found, "" for nothing; `object` is None also for a file with a `problem`.
    """

    of: Object | None
    name: str
    how: How = ""
    path: str = ""
    problem: str = ""
    object: Object | None = None


class Process:
    """The libraries of one process. `arch` is that of its program."""

    def __init__(self, variables: Mapping[str, str], root: Path, arch: str) -> None:
        self.arch = arch
        self.program: Object | None = None
        self.preloaded: list[Object] = []
        folders = re.split("[:;]", variables.get("LD_LIBRARY_PATH", ""))
        self._paths = [folder for folder in folders if folder]
        self._cache = loader_cache.read(root)
        self._defaults = loader_cache.defaults(root, arch)
        self._objects: dict[str, Object] = {}

    def fork(self) -> Process:
        """The same process, in which something can be tried."""
        made = copy.copy(self)
        made._objects = dict(self._objects)
        return made

    @property
    def objects(self) -> list[Object]:
        """All that is mapped."""
        return list(dict.fromkeys(self._objects.values()))

    def forget(self, before: set[Object]) -> None:
        """Let go of the files that were mapped since, which lead to one another.

        Else they stay mapped, with an open file each, until Python looks for such rings.
        """
        for one in self.objects:
            if one not in before:
                one.requests.clear()

    def load(self, file: ElfFile) -> Object:
        """Map a file and all that it pulls in, level by level. Raises `elf_file.DAMAGED`."""
        first = self._add(file, None, str(file.path))
        waiting = [] if first.requests else [first]
        for one in waiting:
            for name in one.elf.needed:
                request = self.find(name, one)
                one.requests.append(request)
                got = request.object
                if got and not got.requests and got not in waiting:
                    waiting.append(got)
        return first

    def _add(self, file: ElfFile, parent: Object | None, name: str) -> Object:
        """The object of a file, known by its names from here on; a new one for a new file."""
        real = str(file.path.resolve())
        made = self._objects.get(real) or Object(file, parent)
        for known in (real, name, file.soname or name):
            self._objects.setdefault(known, made)
        return made

    def find(self, name: str, of: Object | None = None) -> Request:
        """What the loader does for one name, asked for by an object or by the program."""
        of = of or self.program
        if known := self._objects.get(name):
            return Request(of, name, "loaded", str(known.elf.path), "", known)
        for how, path in self._places(of, name):
            try:
                file = ElfFile(path)
                if file.arch != self.arch:
                    continue  # as the loader does: a file for another machine is passed over
                return Request(of, name, how, str(path), "", self._add(file, of, name))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (OSError, *DAMAGED) as error:
                return Request(of, name, how, str(path), elf.problem(error))
        return Request(of, name)

    def _places(self, of: Object | None, name: str) -> Iterator[tuple[How, Path]]:
        """The files that the loader would try, in order."""
        if "/" in name:
            yield "path", Path(name)
            return
        yield from (("rpath", folder / name) for folder in self._rpaths(of))
        yield from (("variable", Path(text, name)) for text in self._paths)
        for folder in self._runpaths(of):
            yield "runpath", folder / name
        yield from (("cache", path) for path in self._cache.get(name, ()))
        yield from (("default", folder / name) for folder in self._defaults)

    def _runpaths(self, of: Object | None) -> Iterator[Path]:
        """The DT_RUNPATH of the asking file."""
        if of is not None:
            for text in of.elf.runpath:
                yield from _expanded(text, of.elf.path, self.arch)

    def _rpaths(self, of: Object | None) -> Iterator[Path]:
        """The DT_RPATH of the asking file, of those that asked for it, and of the program."""
        if of is None or of.elf.runpath:
            return
        chain = [of]
        while parent := chain[-1].parent:
            chain.append(parent)
        if self.program and self.program not in chain:
            chain.append(self.program)
        for one in chain:
            for text in [] if one.elf.runpath else one.elf.rpath:
                yield from _expanded(text, one.elf.path, self.arch)


def _expanded(text: str, of: Path, arch: str) -> list[Path]:
    """A folder with its $ORIGIN, $LIB and $PLATFORM filled in; $LIB has two usual meanings."""
    values = {"ORIGIN": str(of.parent), "PLATFORM": arch}
    libs = (f"lib/{arch}-linux-gnu", "lib64") if "LIB" in text else ("",)
    return [Path(_filled(text, {**values, "LIB": lib})) for lib in libs]


def _filled(text: str, values: Mapping[str, str]) -> str:
    """A text with the loader's own variables replaced, written $NAME or ${NAME}."""
    pattern = r"\$(?:(\w+)|\{(\w+)\})"
    return re.sub(pattern, lambda match: values.get(match[1] or match[2], match[0]), text)
