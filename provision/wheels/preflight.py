"""What would make a build fail late, said before anything large is fetched: all of it at once."""

from __future__ import annotations

import mmap
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from provision.facts import compilers
from provision.facts.command import run
from provision.facts.disk import room
from provision.versions import compare
from provision.wheels.bring import as_text
from provision.wheels.python import Facts
from provision.wheels.recipe import Module
from provision.wheels.sizing import free_memory
from provision.wheels.work import Work
from provision.words import text

MIB = 1 << 20
_LIMIT = 30.0  # seconds
_CMAKE = ("3.18", "4")  # `Development` of FindPython; CMake 4 refuses what the submodules ask for
_ABI = re.compile(r"^#define _GLIBCXX_USE_CXX11_ABI (\d)", re.MULTILINE)

Check = Callable[[Work, Facts], Iterator[str]]


def problems(work: Work, facts: Facts, missing: list[Module]) -> list[str]:
    """What has to be done before this build can succeed, a line each."""
    found = list(_modules(work, missing))
    for check in CHECKS:
        found += check(work, facts)
    return found


def _modules(work: Work, missing: list[Module]) -> Iterator[str]:
    if not missing:
        return
    names = ", ".join(one.path for one in missing)
    history = work.source.kind in ("repository", "remote")
    yield text("unready.modules" if history else "unready.modules-archive", names=names,
               commands=" ".join(_first(missing)), source=work.source.origin)  # fmt: skip


def _first(missing: list[Module]) -> list[str]:
    """The submodules of the top repository; theirs follow."""
    return [one.path for one in missing if not any(one.path.startswith(f"{up.path}/")
                                                   for up in missing)]  # fmt: skip


def _links(work: Work, _: Facts) -> Iterator[str]:
    if found := as_text(work.root, work.folder):
        yield text("unready.links", count=len(found), first=found[0])


def _history(work: Work, _: Facts) -> Iterator[str]:
    """Sources that ask git for submodules although they are there cannot do without git."""
    asks = work.folder / "cmake" / "paddle.cmake"
    has_none = work.source.kind in ("folder", "archive")
    needed = any(one.applies(work.folder, work.known) for one in work.recipe.modules)
    if has_none and needed and "paddle_submodule" not in _content(asks):
        yield text("unready.history")


def _pieces(work: Work, _: Facts) -> Iterator[str]:
    """What the vendor's SDK lacks, or what of it does not load."""
    for piece in work.recipe.pieces:
        if not piece.applies(work.folder, work.known):
            continue
        path = piece.found(work.known)
        if path is None:
            places = ", ".join(place.format_map(work.known) for place in piece.any)
            yield text("unready.piece", name=piece.name, vendor=piece.vendor, places=places)
        elif piece.says and not re.search(piece.says, _content(path)):
            yield text("unready.piece-says", path=path, pattern=piece.says)
        elif piece.loads and (reason := _unloadable(path, work)):
            yield text("unready.piece-loads", path=path, reason=reason)


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _unloadable(path: Path, work: Work) -> str:
    """Why the loader does not take a library, as it will have to when the wheel is packed."""
    import os

    places = filter(None, [work.libraries(), os.environ.get("LD_LIBRARY_PATH")])
    env = {**os.environ, "LD_LIBRARY_PATH": ":".join(places)}
    load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    answer = run([work.python.interpreter, "-I", "-c", load, path], _LIMIT, env)
    if answer.status == 0:
        return ""
    return answer.lines[-1].removeprefix("OSError: ") if answer.lines else f"{answer.status}"


def _python(work: Work, facts: Facts) -> Iterator[str]:
    """CMake's FindPython wants the headers and libpython."""
    if work.recipe.build != "cmake":
        return
    header, library = Path(facts.include) / "Python.h", Path(facts.folder) / facts.library
    gone = [str(path) for path in (header, library) if not path.is_file()]
    if gone:
        yield text("unready.python", files=", ".join(gone), version=work.python.version)
    if work.python.env is None and not (facts.setuptools and facts.wheel):
        yield text("unready.packing", python=work.python.python)


def of_paddle(work: Work, facts: Facts) -> list[str]:
    """The same of the Paddle that the environment has, once there is one."""
    return [*_paddle(work, facts), *_abi(facts)]


def _paddle(work: Work, facts: Facts) -> Iterator[str]:
    """The Paddle that the wheel is for, with headers, and of the version that was asked for."""
    if not work.recipe.paddle:
        return
    if not facts.paddle:
        yield text("unready.paddle", python=work.python.python)
        return
    folder = Path(facts.paddle)
    for name in ("include/paddle/phi/backends/device_ext.h", "base/libpaddle.so"):
        if not (folder / name).is_file():
            yield text("unready.paddle-part", file=folder / name)
    if work.python.paddle not in ("", facts.release):
        yield text("unready.paddle-other", found=facts.release, wanted=work.python.paddle)


def _compiler(work: Work, _: Facts) -> Iterator[str]:
    """A compiler that works."""
    if work.recipe.build == "cmake":
        found = compilers.collect()
        if found is None or found.problem:
            yield text("unready.compiler", reason=found.problem if found else "c++, g++, clang++")


def _abi(facts: Facts) -> Iterator[str]:
    """The compiler's strings have to be those of Paddle's library."""
    found = compilers.compiler()
    if found and facts.paddle:
        ours, theirs = _own_abi(found), _paddle_abi(Path(facts.paddle))
        if None not in (ours, theirs) and ours != theirs:
            yield text("unready.abi", ours=ours, theirs=theirs)


def _own_abi(compiler: Path) -> str | None:
    """_GLIBCXX_USE_CXX11_ABI as this compiler has it unasked; None for another library."""
    argv: list[str | Path] = [compiler, "-x", "c++", "-dM", "-E", "-include", "string", "/dev/null"]
    found = _ABI.search(run(argv, _LIMIT).out)
    return found[1] if found else None


def _paddle_abi(paddle: Path) -> str | None:
    """The same of Paddle: the names of its symbols show it. None where it cannot be read."""
    for name in ("libs/libcommon.so", "base/libpaddle.so"):
        try:
            with (
                (paddle / name).open("rb") as stream,
                mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
            ):
                return "1" if content.find(b"NSt7__cxx1112basic_string") >= 0 else "0"
        except (OSError, ValueError):
            continue
    return None


def _cmake(work: Work, _: Facts) -> Iterator[str]:
    """On the host's own tools: CMake in its range, and ninja. The environment has both pinned."""
    if work.recipe.build != "cmake" or work.python.env is not None:
        return
    for tool in ("cmake", "ninja"):
        if not shutil.which(tool):
            yield text("unready.tool", name=tool)
    if shutil.which("cmake"):
        found = re.search(r"version (\d[\d.]*)", run(["cmake", "--version"], _LIMIT).out)
        version = found[1] if found else ""
        if compare(version, _CMAKE[0]) == -1 or compare(version, _CMAKE[1]) in (0, 1):
            yield text("unready.cmake", version=version, lowest=_CMAKE[0], below=_CMAKE[1])


def _disk(work: Work, _: Facts) -> Iterator[str]:
    here = room("cache", work.build)
    if not work.build.is_dir() and here.free < work.recipe.disk * MIB:
        yield text("unready.disk", path=work.build, free=here.free // MIB, wanted=work.recipe.disk)


def _memory(work: Work, _: Facts) -> Iterator[str]:
    free = free_memory()
    if free is not None and free < work.recipe.memory * MIB:
        yield text("unready.memory", free=free // MIB, wanted=work.recipe.memory)


CHECKS: Final[tuple[Check, ...]] = (
    _links, _history, _pieces, _python, _compiler, _cmake, _disk, _memory,
)  # fmt: skip


def notes(work: Work) -> Iterator[str]:
    """What a person should know, though it keeps nothing from going on."""
    recipe, source = work.recipe, work.source
    for pair in recipe.pairs:
        same = source.ref == pair.ref or (
            source.commit and source.commit == recipe.commits.get(pair.ref)
        )
        if same and work.python.paddle not in pair.paddle:
            yield text("note.pair", ref=pair.ref, paddle=", ".join(pair.paddle),
                       release=work.python.paddle, source=pair.source)  # fmt: skip
    script = work.folder / "tools" / "compile.sh"
    if "uname -i" in _content(script) and _hardware_platform() != work.machine:
        yield text("note.uname", script=script.relative_to(work.root), says=_hardware_platform())


def _hardware_platform() -> str:
    try:
        return run(["uname", "-i"], _LIMIT).out.strip()
    except OSError:
        return ""
