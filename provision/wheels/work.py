"""One build: its recipe, sources and Python, and what follows from them."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from provision.facts.compilers import C_NAMES, compiler
from provision.paths import TEMPLATES, cache_dir, data_dir
from provision.versions import compare
from provision.wheels import ccache
from provision.wheels.python import Facts, Python
from provision.wheels.recipe import Recipe
from provision.wheels.rows import filled
from provision.wheels.source import Source
from provision.wheels.surroundings import taken

# From here on the C API is in libphi_core.so, and gcc on Debian drops libpaddle.so, of which it
# then sees no use, from what the plugin asks for: PD_RegisterPhiKernel is not found at run time.
_LINKED_SINCE = "3.1"


@dataclass(frozen=True)
class Work:
    """A build of one wheel. `root` is where the sources are once they were brought there."""

    recipe: Recipe
    source: Source
    python: Python
    machine: str
    root: Path

    @property
    def folder(self) -> Path:
        """The backend's own sources."""
        return self.root / self.recipe.folder

    @property
    def label(self) -> str:
        """What tells builds of a backend apart: the commit, the Paddle and the Python."""
        paddle = f"-paddle{self.python.paddle}" if self.python.paddle else ""
        return f"{self.source.identity[:7]}{paddle}-{self.python.tag}"

    @property
    def out(self) -> Path:
        """The folder of the finished wheel."""
        return data_dir() / "wheels" / self.recipe.backend / self.label

    @property
    def build(self) -> Path:
        """The build tree: that of the sources' folder, whatever commit is in it.

        CMake takes one folder for a tree, and others may have the same name. It keeps to the
        compiler and the flags that a tree began with, and so do the objects in it: others have
        their own. So has another Paddle of the host's, and another SDK: what an installer unpacks
        may be older than the objects.
        """
        plain = re.sub(r"[^\w.+-]", "_", self.root.name[:40])  # see `tools.ODD`
        place = f"{zlib.crc32(os.fsencode(self.root)):08x}-{plain}"
        told = " ".join([compiler_witness(), str(taken() or ""), *self.pieces()])
        compiler = f"{zlib.crc32(os.fsencode(told)):08x}"
        release = "-".join(filter(None, [self.python.paddle or "none", self.python.files[:8]]))
        name = f"{place}-{release}-{self.python.tag}-{compiler}"
        return cache_dir() / "build" / self.recipe.backend / name

    @property
    def sources(self) -> Path:
        """The link to `root` by which CMake and the compilers know it: the same in every tree."""
        return self.build / "sources"

    @property
    def known(self) -> dict[str, str]:
        """What the rows of the recipe may name.

        The release is written as `3.0.0-b2`, another form of the same for packaging: Paddle's
        version.cmake computes with its first three numbers.
        """
        commit = (self.source.commit or self.source.identity)[:7]
        said = {name: one.name(self.root) for name, one in self.recipe.reads.items()}
        return {**self.recipe.vendor_folders(), **said, "machine": self.machine,
                "python_version": self.python.version,
                "paddle": re.sub(r"(?<=\d)(?=(a|b|rc)\d)", "-", self.python.paddle),
                "origin": str(self._given / self.recipe.folder),
                "commit7": commit}  # fmt: skip

    @property
    def _given(self) -> Path:
        """The folder that the user gave, into which a vendor's file may have been put."""
        is_folder = self.source.kind in ("folder", "repository")
        return Path(self.source.origin) if is_folder else self.root

    def variables(self, paddle: str) -> list[tuple[str, str]]:
        """The variables of the environment, given the folder of Paddle."""
        rows = {"CMAKE_GENERATOR": "Ninja"}
        rows |= dict(filled(self.recipe.variables, self.folder, self.known))
        if paddle:
            rows["PADDLE_CUSTOM_PATH"] = paddle
        return list((rows | (ccache.variables() if ccache.ccache().used else {})).items())

    def pieces(self) -> Iterable[str]:
        """The vendor's files as they are now."""
        for piece in self.recipe.handed_out():
            for place in piece.any:
                path = Path(place.format_map(self.known))
                if path.is_file():
                    yield as_it_is(path)

    def libraries(self) -> str:
        """The vendor's folders from which libraries are loaded, as a path of the loader."""
        return ":".join(place.format_map(self.known) for place in self.recipe.libraries)

    def defines(self, facts: Facts) -> list[tuple[str, str]]:
        """The variables of CMake: what every build needs, then what the recipe says."""
        where = {"EXECUTABLE": str(self.python.executable), "INCLUDE_DIR": facts.include,
                 "LIBRARY": str(Path(facts.folder) / facts.library)}  # fmt: skip
        found = {
            # FindPython, and before it FindPythonInterp and FindPythonLibs.
            **{f"{find}_{name}": value for name, value in where.items()
               for find in ("Python", "PYTHON")},
            **{f"CMAKE_{language}_FLAGS":
               " ".join(filter(None, [os.environ.get(name), self._mapped()]))
               for language, name in (("C", "CFLAGS"), ("CXX", "CXXFLAGS"))},
            "CMAKE_INSTALL_RPATH": ";".join(self._rpath()),
            "CMAKE_BUILD_WITH_INSTALL_RPATH": "ON",
            "CMAKE_PROJECT_INCLUDE": str(TEMPLATES / "wheels" / "rpath.cmake"),
        }  # fmt: skip
        # Both always: CMake remembers what an earlier run was told.
        linked = is_linked(self.python.paddle or facts.release)
        flags = [os.environ.get("LDFLAGS", ""), "-Wl,--no-as-needed" if linked else ""]
        found["CMAKE_SHARED_LINKER_FLAGS"] = " ".join(filter(None, flags))
        launcher = "ccache" if ccache.ccache().used else ""
        found |= {f"CMAKE_{name}_COMPILER_LAUNCHER": launcher for name in ("C", "CXX")}
        return list((found | dict(filled(self.recipe.settings, self.folder, self.known))).items())

    def _mapped(self) -> str:
        """Flags that keep this machine's folders out of the messages in the library.

        CMake takes quotes around a whole value for its own. Of several that fit gcc takes the last;
        ccache hands it files as seen from the build tree.
        """
        paths = [path for place in (cache_dir(), self.sources)
                 for path in (str(place), os.path.relpath(place, self.build))]  # fmt: skip
        places = (re.sub(r'([\\"$`])', r"\\\1", path) for path in paths)
        return " ".join(f'-ffile-prefix-map="{place}"=.' for place in places)

    def _rpath(self) -> Iterable[str]:
        """Where the library looks for others, seen from where it will be installed."""
        yield from ("$ORIGIN/../paddle/base", "$ORIGIN/../paddle/libs")
        yield from (f"$ORIGIN/{place}" for place in self.recipe.origin)


def as_it_is(path: Path) -> str:
    """A file as its size and time tell it."""
    status = path.stat()
    return f"{path}:{status.st_size}:{status.st_mtime_ns}"


def is_linked(paddle: str) -> bool:
    """Whether the plugin has to be told to keep libpaddle.so among what it needs."""
    return bool(paddle) and compare(paddle, _LINKED_SINCE) in (0, 1)


def compiler_witness() -> str:
    """The compilers and the linker, as their files tell them: others make another library.

    All of a name on PATH count, since the first may be a wrapper that calls the next.
    """
    first = [*filter(None, (compiler(), compiler("CC", C_NAMES))), Path("ld")]
    folders = [Path(folder) for folder in os.get_exec_path()]
    others = (folder / path.name for path in first for folder in folders)
    found = dict.fromkeys(path.resolve() for path in (*first[:-1], *others) if path.is_file())
    return " ".join(map(as_it_is, found))
