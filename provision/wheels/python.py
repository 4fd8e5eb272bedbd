"""The Python that a wheel is built with, and the Paddle in it that the wheel is for."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

import msgspec

from provision.errors import PaddockError
from provision.facts.command import run
from provision.facts.pythons import Version, bounds, interpreters, version_of
from provision.paths import IMAGES, cache_dir
from provision.wheels.recipe import TOOLS, Recipe

_LIMIT = 60.0  # seconds
_ASK = """\
import importlib.metadata as m, importlib.util as u, json, sysconfig as s
def version(name):
    try: return m.version(name)
    except m.PackageNotFoundError: return ""
paddle = u.find_spec("paddle")
print(json.dumps({
    "include": s.get_config_var("INCLUDEPY") or "", "folder": s.get_config_var("LIBDIR") or "",
    "library": s.get_config_var("LDLIBRARY") or "", "suffix": s.get_config_var("EXT_SUFFIX") or "",
    "paddle": (paddle.submodule_search_locations or [""])[0] if paddle else "",
    "release": next(filter(None, map(version, (
        "paddlepaddle", "paddlepaddle-gpu", "paddlepaddle-xpu"))), ""),
    "setuptools": version("setuptools"), "wheel": version("wheel"),
}))
"""


class Python(msgspec.Struct, frozen=True):
    """An interpreter, its version such as `3.11`, and the environment made of it.

    `env` is None for `host`, where the interpreter's own packages are used; `files` is then the
    digest of the list of that Paddle's files, "" where it has none, and `packing` what its wheels
    are packed with.
    """

    interpreter: Path
    version: str
    paddle: str
    env: Path | None
    files: str = ""
    packing: str = ""

    @property
    def executable(self) -> Path:
        """The interpreter with which things are built."""
        return self.env / "bin" / "python" if self.env else self.interpreter

    @property
    def tag(self) -> str:
        """What the names of its wheels have, such as `cp311`."""
        return "cp" + self.version.replace(".", "")

    @property
    def lock(self) -> Path | None:
        """The file with the hashes of the Paddle, where this tool has one."""
        lock = IMAGES / "loopback" / "locks" / self.paddle / "framework.txt"
        return lock if self.paddle and lock.is_file() else None

    @property
    def locks(self) -> list[Path]:
        """What the environment is made of by hash: the tools, and the Paddle where that is known.

        Nothing else: whatever setuptools finds beside itself takes part in packing.
        """
        return [*([self.lock] if self.lock else []), TOOLS]

    @property
    def loose(self) -> list[str]:
        """What it is made of on the word of the package index."""
        return [f"paddlepaddle=={self.paddle}", "numpy<2"] if self.paddle and not self.lock else []


class Facts(msgspec.Struct, frozen=True):
    """What an environment says of itself; "" for what is not there.

    `include` is the folder of Python.h, `folder` and `library` where libpython is; `paddle` the
    folder of the package, `release` its version.
    """

    include: str
    folder: str
    library: str
    suffix: str
    paddle: str
    release: str
    setuptools: str
    wheel: str


def choose(recipe: Recipe, asked: str, paddle: str, *, host: bool) -> Python:
    """The Python of the flag `--python` (a version or a path), else one that the recipe takes.

    Raises PaddockError `bad-option` for one that the recipe does not take, and `no-python`.
    """
    found = _asked(asked) if "/" in asked else _found(recipe, asked)
    version = found[1] if found else "" if "/" in asked else asked
    if version and not bounds(recipe.python)(_pair(version)):
        wanted = f"python {recipe.python}"
        raise PaddockError("bad-option", option="--python", value=asked, wanted=wanted)
    if found is None:
        wanted = f"python {asked or recipe.python}"
        raise PaddockError("no-python", remedy=wanted)
    path, version = found
    release = (paddle or recipe.paddle) if recipe.paddle else ""
    if host:
        return Python(path, version, paddle, None)
    made = Python(path, version, release, None)
    return msgspec.structs.replace(made, env=_place(made))


def _pair(version: str) -> Version:
    major, minor = version.split(".")
    return int(major), int(minor)


def _asked(path: str) -> tuple[Path, str] | None:
    python = Path(path).absolute()
    version = version_of(python)
    return (python, "{}.{}".format(*version)) if version else None


def _found(recipe: Recipe, asked: str) -> tuple[Path, str] | None:
    fits = bounds(f"=={asked}.*" if asked else recipe.python)
    first = next(interpreters(fits), None)
    return (first[0], "{}.{}".format(*first[1])) if first else None


def _place(made: Python) -> Path:
    """Where the environment is kept: another interpreter or other packages make another one."""
    held = [os.fsencode(made.interpreter.resolve()), *(lock.read_bytes() for lock in made.locks)]
    name = f"paddle-{made.paddle or 'none'}-{made.tag}-{zlib.crc32(b''.join(held)):08x}"
    return cache_dir() / "pythons" / name


def facts(python: Path) -> Facts:
    """What the environment of this interpreter has. Raises PaddockError `build-unready`."""
    answer = run([python, "-I", "-c", _ASK], _LIMIT)
    if answer.status:
        raise PaddockError("build-unready", tuple(answer.lines[-5:]), backend=str(python), count=1)
    return msgspec.convert(json.loads(answer.out.splitlines()[-1]), Facts)  # others may print, too
