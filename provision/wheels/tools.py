"""The tools, the Paddle, the disk and the memory of a build, looked at before it begins."""

from __future__ import annotations

import functools
import mmap
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from provision.amounts import MIB, size
from provision.facts import compilers
from provision.facts.command import Answer, run
from provision.facts.disk import room
from provision.facts.memory_left import memory_left
from provision.versions import compare
from provision.wheels import paddle
from provision.wheels.python import Facts
from provision.wheels.work import Work
from provision.words import text

_LIMIT = 30.0  # seconds
_CMAKE = ("3.18", "4")  # `Development` of FindPython; CMake 4 refuses what the submodules ask for
_MAPS = "-ffile-prefix-map=a=b"  # gcc 8, clang 10; every build of this tool gives it
# What CMake, make, Ninja or the shell that they start take for their own in the name of a tree:
# found out with CMake 3.31, make 4.3 and Ninja 1.13.
ODD = re.compile(r"""["'`$;#&|<>*?\\(){}\[\]\n]""")
_ABI = re.compile(r"^#define _GLIBCXX_USE_CXX11_ABI (\d)", re.MULTILINE)

Check = Callable[[Work, Facts], Iterator[str]]


def _python(work: Work, facts: Facts) -> Iterator[str]:
    """CMake's FindPython wants the headers and libpython."""
    if work.recipe.build != "cmake":
        return
    header, library = Path(facts.include) / "Python.h", Path(facts.folder) / facts.library
    gone = [str(path) for path in (header, library) if not path.is_file()]
    if gone:
        yield text("unready.python", files=", ".join(gone), version=work.python.version)
    if work.python.env is None and not (facts.setuptools and facts.wheel):
        yield text("unready.packing", python=work.python.executable)


def of_paddle(work: Work, facts: Facts) -> list[str]:
    """The same of the Paddle that the environment has, once there is one."""
    return [*_paddle(work, facts), *_abi(facts), *_headers(work, facts)]


def notes_of_paddle(facts: Facts) -> Iterator[str]:
    """What a person should know of it, though it keeps nothing from going on."""
    if facts.paddle and paddle.record(Path(facts.paddle), facts.release) is None:
        yield text("note.record", paddle=facts.paddle)


def _paddle(work: Work, facts: Facts) -> Iterator[str]:
    """The Paddle that the wheel is for, with headers, and of the version that was asked for."""
    if not work.recipe.paddle:
        return
    if not facts.paddle:
        yield text("unready.paddle", python=work.python.executable)
        return
    folder = Path(facts.paddle)
    for name in ("include/paddle/phi/backends/device_ext.h", "base/libpaddle.so"):
        if not (folder / name).is_file():
            yield text("unready.paddle-part", file=folder / name)
    if work.python.paddle not in ("", facts.release):
        yield text("unready.paddle-other", found=facts.release, wanted=work.python.paddle)


def _headers(work: Work, facts: Facts) -> Iterator[str]:
    """Its headers have to be those that came with it: those of another release compile as well."""
    if not (work.recipe.paddle and facts.paddle):
        return
    listed = paddle.record(Path(facts.paddle), facts.release)
    if listed and (strange := paddle.strange_headers(Path(facts.paddle), listed)):
        own = work.python.env
        remedy = text("remedy.env", env=own) if own else text("remedy.paddle")
        yield text("unready.headers", release=facts.release, count=len(strange), first=strange[0],
                   remedy=remedy)  # fmt: skip


def _compiler(work: Work, _: Facts) -> Iterator[str]:
    """A compiler that works, with the flags that the user and this tool give it."""
    if work.recipe.build != "cmake":
        return
    for name in ("CC", "CXX"):  # CMake takes no other where it does not find these
        if (words := compilers.asked(name)) and not shutil.which(words[0]):
            yield text("unready.no-such", name=name, value=os.environ[name])
    found = compilers.collect()
    if found is None or found.problem:
        yield text("unready.compiler", reason=found.problem if found else "c++, g++, clang++")
    elif reason := _refused():
        yield text("unready.flags", compiler=found.version or found.path, reason=reason)


def _refused() -> str:
    """What the compiler says of flags that it does not take, "" for nothing."""
    answer = _defined(tuple(_called()))
    return "" if answer.status == 0 else answer.last


def _called() -> list[str]:
    """The compiler as the build calls it for every file."""
    return [*compilers.command(), *compilers.asked("CXXFLAGS"), _MAPS]


@functools.cache
def _defined(called: tuple[str, ...]) -> Answer:
    """The macros that the compiler and its library define."""
    return run([*called, "-x", "c++", "-dM", "-E", "-include", "string", "/dev/null"], _LIMIT)


def _abi(facts: Facts) -> Iterator[str]:
    """The compiler's strings have to be those of Paddle's library."""
    if facts.paddle and compilers.command():
        ours, theirs = _own_abi(), _paddle_abi(Path(facts.paddle))
        if None not in (ours, theirs) and ours != theirs:
            yield text("unready.abi", ours=ours, theirs=theirs)


def _own_abi() -> str | None:
    """_GLIBCXX_USE_CXX11_ABI as the user's flags or the compiler have it; None elsewhere."""
    found = _ABI.search(_defined(tuple(_called())).out)
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


def path(work: Work, _: Facts) -> Iterator[str]:
    """The cache has to be where CMake and its tools can work."""
    if work.recipe.build == "cmake" and (found := ODD.findall(str(work.build))):
        yield text("unready.path", path=work.build, signs=" ".join(dict.fromkeys(found)))


def _disk(work: Work, _: Facts) -> Iterator[str]:
    here = room("cache", work.build)
    wanted = work.recipe.disk * MIB
    if not work.build.is_dir() and here.free < wanted:
        yield text("unready.disk", path=work.build, free=size(here.free), wanted=size(wanted))


def _memory(work: Work, _: Facts) -> Iterator[str]:
    free, wanted = memory_left(), work.recipe.memory * MIB
    if free is not None and free < wanted:
        yield text("unready.memory", free=size(free), wanted=size(wanted))


CHECKS: Final[tuple[Check, ...]] = (_python, _compiler, _cmake, path, _disk, _memory)
