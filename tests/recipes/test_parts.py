"""The parts of a build that need no compiler: recipes, what a compile prints, sizes, verdicts."""

from __future__ import annotations

import json
import re
import resource
import string
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

from provision.errors import PaddockError
from provision.facts.command import Answer
from provision.facts.memory_left import memory_left
from provision.wheels import recipe, rows, sizing, trial
from provision.wheels.order import Order
from provision.wheels.output import Watch
from provision.wheels.python import Python, choose
from provision.wheels.source import Source
from provision.wheels.work import Work, is_linked
from tests.conftest import Cli

GIB = 1 << 30
KNOWN = {"machine", "folder", "origin", "python_version", "paddle", "commit7"}


@pytest.mark.parametrize("name", recipe.names())
def test_a_recipe_refers_only_to_what_is_known(name: str) -> None:
    found = recipe.load(name)
    texts = [row.value for row in [*found.settings, *found.variables]]
    texts += [place for piece in found.handed_out() for place in piece.any] + found.libraries
    texts += [text for row in [*found.settings, *found.pieces] for text in (row.with_, row.without)]
    names = {part[1] for text in texts for part in string.Formatter().parse(text) if part[1]}
    assert names <= KNOWN | found.roots.keys() | found.reads.keys()
    assert found.seen and found.source and found.backend == name
    assert all(len(commit) == 40 for commit in found.commits.values())
    assert not found.paddle or found.library


def test_what_holds_for_some_sources_only(tmp_path: Path) -> None:
    (tmp_path / "a.cmake").write_text("uses libtopsop.a here")
    yes = rows.Condition(file="a.cmake", has="libtopsop.a")
    no = rows.Condition(file="a.cmake", lacks="libtopsop.a")
    gone = rows.Condition(file="b.cmake", lacks="libtopsop.a")
    assert (yes.holds(tmp_path), no.holds(tmp_path), gone.holds(tmp_path)) == (True, False, False)


LINES = [
    "[1/4] Building CXX object a.o",
    "a.cc:1:2: warning: unused variable 'x' [-Wunused-variable]",
    "[2/4] Building CXX object b.o",
    "warning: build_py: byte-compiling is disabled, skipping.",
    "FAILED: b.o",
    "b.cc:7:3: error: 'CppTypeToDataType' is not a member of 'phi'",
    "ninja: build stopped: subcommand failed.",
]


def test_a_compile_tells_how_far_it_is_its_warnings_and_the_first_error() -> None:
    shown: list[str] = []
    watch = Watch(shown.append)
    for line in LINES:
        watch.line(line)
    assert watch.warnings == 1 and not watch.is_memory
    assert "CppTypeToDataType" in watch.error[0]
    assert shown[0].startswith("1/4, ") and shown[0].endswith(" left")
    watch.line("[ 75%] Building CXX object c.o")
    assert shown[-1].startswith("75/100, ")


@pytest.mark.parametrize(
    "line",
    [
        "c++: fatal error: Killed signal terminated program cc1plus",
        "g++: internal compiler error: Killed (program cc1plus)",
        "cc1plus: out of memory allocating 65536 bytes after a total of 123 bytes",
        "virtual memory exhausted: Cannot allocate memory",
        "collect2: fatal error: ld terminated with signal 9 [Killed]",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "LLVM ERROR: out of memory",
        "gmake[2]: *** [CMakeFiles/x.dir/build.make:76: one.cc.o] Error 137",
        "make: *** [Makefile:3: one.o] Killed",
    ],
)
def test_memory_that_ran_out_is_known_by_what_tools_say(line: str) -> None:
    watch = Watch(lambda _: None)
    watch.line(line)
    assert watch.is_memory


@pytest.mark.parametrize(
    "line",
    [
        "ImportError: libgomp.so.1: cannot allocate memory in static TLS block",
        '   12 |   PADDLE_THROW("out of memory");',
        "   13 | catch (const std::bad_alloc& error) {",
        "[3/9] Building CXX object runtime/out of memory.cc.o",
        "gmake[2]: *** [CMakeFiles/x.dir/build.make:76: one.cc.o] Error 1",
    ],
)
def test_other_words_of_memory_are_not_taken_for_it(line: str) -> None:
    watch = Watch(lambda _: None)
    watch.line(line)
    assert not watch.is_memory


def test_files_whose_names_speak_of_errors_are_none() -> None:
    watch = Watch(lambda _: None)
    for line in ("[1/2] Building CXX object errors.cc.o", "-- Found error.h", "0 errors"):
        watch.line(line)
    assert not watch.error and not watch.is_memory


def _machine(root: Path, free: int, **group: int | str) -> Path:
    """A machine with this memory; the files of its process's group, by their names with `_`."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {free // 1024} kB\n")
    (root / "proc/self/cgroup").write_text("0::/box\n")
    (root / "sys/fs/cgroup/box").mkdir(parents=True)
    for name, content in group.items():
        (root / "sys/fs/cgroup/box" / name.replace("_", ".")).write_text(f"{content}\n")
    return root


def test_jobs_fit_memory_files_and_the_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)))
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    large = _machine(tmp_path / "a", 256 * GIB)
    assert (sizing.jobs(196, GIB, large), sizing.jobs(5, GIB, large)) == (64, 5)
    assert sizing.jobs(196, 2 * GIB, _machine(tmp_path / "b", 9 * GIB)) == 4
    boxed = _machine(tmp_path / "c", 256 * GIB, memory_max=8 * GIB, memory_current=6 * GIB)
    assert (sizing.jobs(196, GIB, boxed), sizing.jobs(196, 4 * GIB, boxed)) == (2, 1)
    assert sizing.jobs(196, GIB, tmp_path / "unreadable") == 64


@pytest.mark.parametrize(
    ("group", "left"),
    [
        ({}, 9), ({"memory_max": "max", "memory_current": 8 * GIB}, 9),
        ({"memory_max": 8 * GIB}, 8), ({"memory_max": 8 * GIB, "memory_current": 9 * GIB}, 0),
        ({"memory_max": 8 * GIB, "memory_current": 6 * GIB,
          "memory_stat": f"anon 1\ninactive_file {4 * GIB}\nactive_file {GIB}"}, 6),
        ({"memory_max": 16 * GIB, "memory_current": 1 * GIB}, 9),
    ],
)  # fmt: skip
def test_the_memory_that_is_left(tmp_path: Path, group: dict[str, int | str], left: int) -> None:
    assert memory_left(_machine(tmp_path, 9 * GIB, **group)) == left * GIB


def test_memory_that_is_not_told_is_unknown(tmp_path: Path) -> None:
    assert memory_left(tmp_path) is None


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (Answer(0, "paddock-types custom_cpu\npaddock-computed\n", ""), "loads"),
        (Answer(None, "paddock-types custom_cpu\npaddock-computed\n", ""), "exit-hang"),
        (Answer(-11, "paddock-types custom_cpu\npaddock-computed\n", ""), "exit-crash"),
        (Answer(None, "", ""), "hang"),
        (Answer(-11, "", "C++ Traceback"), "crash"),
        (Answer(127, "", "python: symbol lookup error: x.so: undefined symbol: PD_R"), "symbol"),
        (Answer(1, "", "ValueError: (InvalidArgument) Fail to open library: x.so"), "open"),
        (Answer(0, "paddock-types\n", "W1 Skipped lib [x.so]: InitPlugin failed, ..."), "skipped"),
        (Answer(0, "paddock-types\n", "W1 Skipped lib [x.so]: fail to find InitPlugin"), "skipped"),
        (Answer(1, "paddock-types custom_cpu\n", "Skipped lib [y]: fail to find InitPlugin\nE"),
         "error"),
        (Answer(0, "paddock-types\n", ""), "absent"),
        (Answer(0, "paddock-types custom_cpu\npaddock-wrong 7\n", ""), "wrong"),
        (Answer(1, "paddock-types custom_cpu\n", "RuntimeError: no kernel"), "error"),
        (Answer(0, "paddock-types\n", "Skipped lib [x]: no custom engine Plugin symbol"), "absent"),
        (Answer(0, "paddock-types custom_cpu_2\n", ""), "absent"),
        (Answer(1, "", "MemoryError"), "error"),  # there is memory: no limit made it
    ],
)  # fmt: skip
def test_a_verdict_is_made_from_what_happened(answer: Answer, verdict: str) -> None:
    assert trial.judge(answer, "custom_cpu", compute=True).verdict == verdict


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (Answer(1, "", "Traceback\nMemoryError"), "memory"),
        (Answer(1, "", "ImportError: x.so: failed to map segment from shared object"), "memory"),
        (Answer(-6, "", "terminate called after throwing 'std::bad_alloc'"), "memory"),
        (Answer(-9, "", ""), "memory"),
        (Answer(-9, "", "more than 64 MiB of output"), "crash"),
        (Answer(-11, "", ""), "crash"),
        (Answer(1, "", "x.so: cannot allocate memory in static TLS block"), "error"),
        (Answer(1, "", "x.so: failed to map segment from shared object: Operation not permitted"),
         "error"),
        (Answer(0, "paddock-types custom_cpu\npaddock-computed\n", "MemoryError"), "loads"),
    ],
)  # fmt: skip
def test_memory_that_ran_out_tells_nothing_of_the_plugin(answer: Answer, verdict: str) -> None:
    made = trial.judge(answer, "custom_cpu", compute=True, scarce=True)
    assert made.verdict == verdict and "paddock-" not in made.line


def test_memory_is_scarce_where_a_limit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {resource.RLIMIT_AS: 700 << 20, resource.RLIMIT_DATA: resource.RLIM_INFINITY}
    monkeypatch.setattr(trial, "memory_left", lambda: 64 * GIB)
    monkeypatch.setattr("resource.getrlimit", lambda kind: (limits[kind], limits[kind]))
    assert trial.is_scarce()
    limits[resource.RLIMIT_AS] = resource.RLIM_INFINITY
    assert not trial.is_scarce()
    monkeypatch.setattr(trial, "memory_left", lambda: GIB)
    assert trial.is_scarce()


def test_a_device_that_cannot_compute_here_is_only_said_to_register() -> None:
    answer = Answer(0, "paddock-types npu\n", "")
    assert trial.judge(answer, "npu", compute=False).verdict == "registers"


def test_a_busy_machine_is_given_more_time(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    wheel = home.parent / "x-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w"):
        pass
    given: list[float] = []

    def run(_: object, limit: float, *__: object) -> Answer:
        given.append(limit)
        return Answer(0, "", "")

    monkeypatch.setattr(trial, "run", run)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    for load in (0.1, 2.0, 5.0, 900.0):
        monkeypatch.setattr("os.getloadavg", lambda load=load: (load, 0.0, 0.0))
        trial.load(wheel, trial.Place(Path("python")), "npu", compute=False, limit=10)
    assert given == [10, 10, 25, 80]


@pytest.mark.parametrize(
    ("release", "linked"),
    [("2.6.2", False), ("3.0.0rc1", False), ("3.0.0", False), ("3.1.0", True), ("3.3.1", True),
     ("", False)],
)  # fmt: skip
def test_the_link_flag_is_for_releases_that_need_it(release: str, linked: bool) -> None:
    assert is_linked(release) is linked


def test_folders_of_one_name_have_trees_of_their_own(home: Path) -> None:
    python = Python(Path("/usr/bin/python3"), "3.11", "3.3.1", home / "env")
    found = [
        Work(
            recipe.load("npu"), Source(place, Path(place), "0" * 40), python, "x86_64", Path(place)
        )
        for place in ("/a/PaddleCustomDevice", "/b/PaddleCustomDevice", "/a/PaddleCustomDevice")
    ]
    assert found[0].build != found[1].build and found[0].build == found[2].build


@pytest.mark.parametrize("release", ["2.6.2", "3.0.0b2", "3.0.0rc1", "3.0.0", "3.3.1.post1"])
def test_a_release_is_written_so_that_cmake_can_compute_with_it(home: Path, release: str) -> None:
    """As Paddle's version.cmake does: the first three numbers, between dots and dashes."""
    python = Python(Path("/usr/bin/python3"), "3.11", release, home / "env")
    work = Work(
        recipe.load("npu"), Source("/a", Path("/a"), "0" * 40), python, "x86_64", Path("/a")
    )
    for name in ("npu", "gcu"):
        rows = recipe.load(name).variables
        (value, *_) = (row.value for row in rows if row.name == "PADDLE_VERSION")
        written = value.format_map(work.known)
        assert all(re.fullmatch(r"[0-9+]+", part) for part in re.split("[.-]", written)[:3])
        assert Version(written).public == str(Version(release))


@pytest.mark.parametrize("option", [
    {"paddle": "3.3.1; rm -rf /"}, {"paddle": "latest"}, {"python": "4.1"}, {"python": "3.x"},
    {"place": "cloud"},
])  # fmt: skip
def test_values_that_nothing_can_come_of(option: dict[str, str]) -> None:
    with pytest.raises(PaddockError) as caught:
        Order("npu", **option).checked()  # type: ignore[arg-type]
    assert caught.value.code == "bad-option"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "code", "named"),
    [
        (("loopback", "--ref", "v1"), "flag-needs", "custom_cpu"),
        (("custom_cp",), "unknown-backend", "custom_cpu"),
        (("custom_cpu", "--matrix", "--ref", "v0"), "flag-needs", "--paddle"),
        (("custom_cpu", "--matrix", "--paddle", ","), "bad-option", "--paddle"),
        (("custom_cpu", "--matrix", "--paddle", "3.3.1,3.3.1"), "bad-option", "--paddle"),
        (("gcu", "--matrix", "--paddle", "3.0.0"), "flag-needs", "custom_cpu"),
        (("custom_cpu", "--image", "x"), "flag-needs", "--in container"),
        (("npu", "--in", "venv", "--image", "x"), "flag-needs", "--in container"),
        (("custom_cpu", "--in", "container"), "flag-needs", "--image"),
        (("npu", "--release", "3.0.0"), "flags-apart", "--release"),
        (("custom_cpu", "--jobs", "0"), "bad-option", "--jobs"),
        (("custom_cpu", "--python", "/nowhere/python"), "no-python", "/nowhere/python"),
        (("custom_cpu", "--python", "3.13"), "bad-option", "python >=3.9,<3.13"),
    ],
)
def test_the_command_line_refuses_what_does_not_go_together(
    cli: Cli, flags: tuple[str, ...], code: str, named: str
) -> None:
    done = cli("build-ops", "--json", "--backend", *flags)
    told = json.loads(done.stdout)
    assert told["code"] == code and done.returncode == told["status"]
    assert named in told["what"] + told["do"] + told["cause"]


@pytest.mark.parametrize(("version", "fits"), [("3.8", False), ("3.9", True), ("3.13", False)])
def test_a_python_that_the_recipe_does_not_take(home: Path, version: str, fits: bool) -> None:
    home.mkdir()
    python = home / "python"
    python.write_text(f"#!/bin/sh\necho {version}\n")
    python.chmod(0o755)
    if fits:
        assert choose(recipe.load("npu"), str(python), "", host=False).version == version
        return
    with pytest.raises(PaddockError) as caught:
        choose(recipe.load("npu"), str(python), "", host=False)
    assert caught.value.code == "bad-option"
