"""`build-ops` of a plugin beside the commands of its own guide: cold, one file touched, unchanged.

PADDOCK_BENCH_SOURCE names a clone of PaddleCustomDevice to measure with; without it the small tree
of the tests is made into a repository. The guide's commands are `cmake` and `make` in a new folder,
with the same Python, Paddle, generator's parallel jobs and link flag, in an environment that is
already there, as ours is. Of ours the time counts until the wheel is packed, as far as the guide's
commands go; that it is then loaded into Paddle, audited and described comes on top, and stands in
its own row, of the command from its start to its end. ccache answers neither side; where it is on
PATH the same sources are built from a fresh folder with its warm cache, too, and held to the
guide's commands without one and with one. The objects alone are compared by ninja's own log.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from bench.cost import Command, CommandFailed, extra, in_turn, medians, output_of, run
from bench.places import bare, scratch, tool
from bench.result import Result
from provision.paths import ROOT

PADDLE = "3.3.1"
N = 11
FEW = 3
CHECKED = 6.0  # seconds; Paddle alone takes two to import
PLAIN = {"CCACHE_DISABLE": "1"}
JOBS = str(len(os.sched_getaffinity(0)))


@dataclass(frozen=True)
class Place:
    """A clone to build from, and a home to build in."""

    clone: Path
    home: Path

    def build(self, *more: str) -> Command:
        """`paddock build-ops` for the one release."""
        order = ["--backend", "custom_cpu", "--source", str(self.clone), "--paddle", PADDLE]
        return tool("build-ops", *order, "--jobs", JOBS, *more, home=self.home)

    def touch(self, number: int) -> None:
        """A commit in which one source file differs."""
        file = sorted((self.clone / "backends/custom_cpu/kernels").rglob("*.cc"))[0]
        file.write_text(f"{file.read_text()}\n// {number}\n")
        who = ["-c", "user.name=bench", "-c", "user.email=bench"]
        message = ["commit", "--quiet", "--all", "-m", "one file"]
        subprocess.run(["git", *who, *message], cwd=self.clone, check=True)

    def forget(self, *names: str) -> None:
        """Put what was built out of sight, and these folders of the cache.

        Not removed: for a minute ext4 makes new files slowly where many were removed.
        """
        for name in ("data/wheels", *(f"cache/{name}" for name in names)):
            away = tempfile.mkdtemp(dir=self.home)
            (self.home / name).rename(Path(away) / "was")


def ops() -> list[Result]:
    """All figures, each from whole processes."""
    with scratch() as folder:
        place = Place(_clone(folder), folder / "home")
        run(_with(place.build(), PLAIN))  # makes the environment
        cold, theirs = _cold(place, _guide(folder, place))
        objects = _objects(place)
        touched = _touched(place)
        cloned = _cloned(folder, place)
        unchanged, start = in_turn([place.build(), bare(folder, "build")], N)
        results = [
            Result("cold / guide", cold.packed / theirs, "x", 1.05, 1,
                   _sides(cold.packed, theirs)),
            Result("guide / one file", theirs / touched.packed, "x", 5, FEW,
                   _sides(theirs, touched.packed), at_least=True),
            Result("guide / the same commit, a new clone", theirs / cloned, "x", 10, 1,
                   _sides(theirs, cloned), at_least=True),
            Result("loaded and audited after it", cold.whole - cold.packed, " s", CHECKED, 1,
                   _sides(cold.whole, cold.packed)),
            Result("unchanged - bare invoke", extra(unchanged, start) * 1000, " ms", 100, N,
                   medians(unchanged, start)),
        ]  # fmt: skip
        if shutil.which("ccache"):
            results += _cached(folder, place, objects, theirs)
        return results


def _clone(folder: Path) -> Path:
    """A clone of our own, of the named source or of the small tree."""
    given = os.environ.get("PADDOCK_BENCH_SOURCE")
    if given:
        subprocess.run(["git", "clone", "--quiet", given, folder / "clone"], check=True)
        return folder / "clone"
    sys.path.insert(0, str(ROOT))
    from tests.recipes.upstream import upstream

    (folder / "tree").mkdir()
    return upstream(folder / "tree")


def _guide(folder: Path, place: Place) -> Command:
    """What the guide says, in a new folder, with the environment that ours has made."""
    (env,) = (place.home / "cache" / "pythons").iterdir()
    source = place.clone / "backends" / "custom_cpu"
    flags = "-DWITH_TESTING=OFF -DCMAKE_SHARED_LINKER_FLAGS=-Wl,--no-as-needed"
    script = f'cd "$(mktemp -d "$1.XXXXXX")" && cmake "$2" {flags} && make -j{JOBS}'
    argv: list[str | Path] = ["sh", "-c", script, "sh", folder / "guide", source]
    return Command(argv, folder, {"PATH": f"{env / 'bin'}{os.pathsep}{os.environ['PATH']}"})


class Build(NamedTuple):
    """Seconds of a build: until its wheel is packed, and of the whole command."""

    packed: float
    whole: float


def _made(command: Command) -> Build:
    """How long a build takes. Raises CommandFailed where no wheel was made."""
    began = time.perf_counter()
    (wheel,) = json.loads(output_of(command))["wheels"]
    whole = time.perf_counter() - began
    if not wheel["made"]:
        raise CommandFailed("the wheel was there already: nothing was measured")
    return Build(float(wheel["seconds"]), whole)


def _cold(place: Place, guide: Command) -> tuple[Build, float]:
    """Ours and the guide's, each from nothing but the sources and the environment."""
    theirs = run(guide).wall
    place.forget("build", "sources")
    return _made(_with(place.build("--json"), PLAIN)), theirs


def _touched(place: Place) -> Build:
    """A build after one file was changed and committed: the median one."""

    def build(number: int) -> Build:
        place.touch(number)
        return _made(_with(place.build("--json"), PLAIN))

    return sorted(map(build, range(FEW)))[FEW // 2]


def _cloned(folder: Path, place: Place) -> float:
    """Seconds of the whole command for a new clone of what was just built: the wheel is there."""
    clone = folder / "new clone"
    subprocess.run(["git", "clone", "--quiet", place.clone, clone], check=True)
    return run(replace(place, clone=clone).build()).wall


def _objects(place: Place) -> float:
    """Seconds from the first object's start to the last one's end in the newest tree's log."""
    logs = (place.home / "cache" / "build").glob("*/*/.ninja_log")
    log = max(logs, key=lambda path: path.stat().st_mtime)
    rows = [line.split("\t") for line in log.read_text().splitlines()[1:]]
    times = [(int(row[0]), int(row[1])) for row in rows if row[3].endswith(".o")]
    return (max(end for _, end in times) - min(start for start, _ in times)) / 1000


def _cached(folder: Path, place: Place, objects: float, guide: float) -> list[Result]:
    """With the compiler's cache warm: the same files in fresh folders, of new times; the median.

    `objects` and `guide` are the seconds of ours and of the whole of the guide's without it.
    """
    cache = {"CCACHE_DIR": str(folder / "ccache")}
    place.forget("build")
    run(_with(place.build(), cache))
    subprocess.run(["ccache", "--zero-stats"], env={**os.environ, **cache}, check=True,
                   capture_output=True)  # fmt: skip
    builds = [_made(_with(_fresh(folder, place).build("--json"), cache)) for _ in range(FEW)]
    warm = sorted(builds)[FEW // 2]
    share, detail = _hits(cache)
    after, theirs = _objects(place), _guide_cached(folder, place)
    return [
        Result("ccache hits in a fresh folder", share, " %", 95, FEW, detail, at_least=True),
        Result("guide / warm cache", guide / warm.packed, "x", 10, FEW, _sides(guide, warm.packed),
               at_least=True),
        Result("objects, cold / warm cache", objects / after, "x", 10, 1,
               f"{objects:.2f} / {after:.2f} s", at_least=True),
        Result("warm / guide with a warm cache", warm.packed / theirs, "x", 1.05, 1,
               _sides(warm.packed, theirs)),
    ]  # fmt: skip


def _fresh(folder: Path, place: Place) -> Place:
    """The same files in a folder of their own, without history."""
    clone = Path(tempfile.mkdtemp(dir=folder)) / "sources"
    no_history = shutil.ignore_patterns(".git")
    shutil.copytree(place.clone, clone, True, no_history, copy_function=shutil.copy)
    return replace(place, clone=clone)


def _guide_cached(folder: Path, place: Place) -> float:
    """The guide's commands once more in a new folder, with a cache that they have filled."""
    names = {f"CMAKE_{name}_COMPILER_LAUNCHER": "ccache" for name in ("C", "CXX")}
    guide = _with(_guide(folder, place), {"CCACHE_DIR": str(folder / "theirs"), **names})
    run(guide)
    return run(guide).wall


def _with(command: Command, more: Mapping[str, str]) -> Command:
    return replace(command, variables={**command.variables, **more})


def _hits(cache: dict[str, str]) -> tuple[float, str]:
    """The share of compilations that the cache answered, in percent. Raises CommandFailed."""
    said = output_of(Command(["ccache", "--print-stats"], variables=cache))
    rows = dict(re.findall(r"^(\w+)\t(\d+)$", said, re.MULTILINE))
    hits = int(rows["direct_cache_hit"]) + int(rows["preprocessed_cache_hit"])
    every = hits + int(rows["cache_miss"])
    if not every:
        raise CommandFailed("ccache was not used: nothing to measure")
    return 100 * hits / every, f"{hits} of {every} compilations"


def _sides(one: float, other: float) -> str:
    return f"{one:.1f} / {other:.1f} s"
