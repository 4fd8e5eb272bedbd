"""Commands under a time limit, interpreters on PATH, and the compiler."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from provision.facts import compilers, pythons
from provision.facts.command import run
from provision.paths import ROOT


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def absent(pid: int) -> int:
    raise OSError(38, "Function not implemented")


@pytest.fixture(params=["", "old kernel", "old Python"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without the kernel's word that a process has ended."""
    if request.param == "old kernel":
        monkeypatch.setattr(os, "pidfd_open", absent)
    if request.param == "old Python":
        monkeypatch.delattr(os, "pidfd_open")


@pytest.mark.slow
@pytest.mark.usefixtures("kernel")
def test_a_command_that_hangs_is_cut_with_its_children(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    begin = time.monotonic()
    answer = run(["sh", "-c", f"(sleep 2; touch {mark}) & echo begun; sleep 60"], 0.5)
    assert (answer.status, answer.out) == (None, "begun\n")
    assert time.monotonic() - begin < 2
    time.sleep(2.5)
    assert not mark.exists()


def test_a_command_that_no_signal_ends_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a tool that waits within a driver: it is there still when the limit is over."""
    groups: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, _: groups.append(group))
    begin = time.monotonic()
    answer = run(["sh", "-c", "echo begun; exec sleep 60"], 0.5)
    seconds = time.monotonic() - begin
    monkeypatch.undo()
    os.killpg(groups[0], signal.SIGKILL)
    assert (answer.status, answer.out) == (None, "begun\n")
    assert seconds < 6


@pytest.mark.usefixtures("kernel")
def test_what_a_command_says(tmp_path: Path) -> None:
    answer = run(["sh", "-c", "echo out; printf '\\377' >&2; kill -9 $$"], 5)
    assert (answer.status, answer.lines) == (-9, ["\N{REPLACEMENT CHARACTER}", "out"])
    with pytest.raises(OSError):
        run([tmp_path / "none"], 5)


def test_of_much_output_the_end_is_kept() -> None:
    answer = run(["sh", "-c", "yes | head -c 3000000; echo end"], 30)
    assert answer.out.endswith("y\nend\n") and len(answer.out) < 300_000


def test_a_flood_of_output_is_ended() -> None:
    answer = run(["yes", "a line of many"], 30)
    assert answer.status == -signal.SIGKILL and answer.lines[0] == "more than 64 MiB of output"


@pytest.mark.slow
def test_a_command_does_not_outlive_a_killed_caller(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    hang = f"trap '' TERM INT HUP; (sleep 2; touch {mark}) & touch {tmp_path}/begun; wait"
    code = f"from provision.facts.command import run\nrun(['sh', '-c', {hang!r}], 60)"
    caller = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    while not (tmp_path / "begun").exists():
        time.sleep(0.02)
    time.sleep(0.2)
    caller.kill()
    caller.wait()
    time.sleep(2.5)
    assert not mark.exists()


def test_the_running_interpreter_comes_first_and_starts_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pythons, "run", lambda *_: pytest.fail("something was started"))
    path, version = next(pythons.interpreters())
    assert version == sys.version_info[:2] and path.is_file()


def test_interpreters_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "a/python3.99", "echo 'pyenv: python3.99: command not found' >&2; exit 127\n")
    script(tmp_path / "b/python3.98", "echo 3.98\n")
    started = script(tmp_path / "b/python3.97", f"touch {tmp_path}/started; echo 3.97\n")
    script(tmp_path / "b/python3-config", "echo 3.98\n")
    (tmp_path / "b/python3.96").write_text("not executable")
    (tmp_path / "c").mkdir()
    (tmp_path / "c/python3").symlink_to(tmp_path / "b/python3.98")
    monkeypatch.setenv("PATH", ":".join(str(tmp_path / name) for name in ("a", "none", "b", "c")))
    found = list(pythons.interpreters(lambda version: version >= (3, 98)))
    assert found == [(tmp_path / "b/python3.98", (3, 98))]
    assert started.exists() and not (tmp_path / "started").exists()


def test_interpreters_on_path_are_asked_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each answers only when the other one was started."""
    for own, other in ((97, 98), (98, 97)):
        wait = f"until [ -e {tmp_path}/{other} ]; do sleep 0.05; done"
        script(tmp_path / f"bin/python3.{own}", f"touch {tmp_path}/{own}; {wait}; echo 3.{own}\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    found = list(pythons.interpreters(lambda version: version > (3, 90)))
    assert [version for _, version in found] == [(3, 98), (3, 97)]


@pytest.mark.parametrize(
    ("specifier", "inside", "outside"),
    [(">=3.10,<3.13", [(3, 10), (3, 12)], [(3, 9), (3, 13)]), (">=3.9", [(3, 99)], [(3, 8)]),
     ("==3.11.*", [(3, 11)], [(3, 12)]), (">=3.10,!=3.11", [(3, 10), (3, 12)], [(3, 11)]),
     ("<3.12", [(3, 9)], [(3, 12)]), (">=3.10.1", [(3, 11)], [(3, 9)]),
     (">=3.10, <3.13", [(3, 10), (3, 12)], [(3, 9), (3, 13)]),
     (">3.10,<3.12.4", [(3, 11)], [(3, 9)])],
)  # fmt: skip
def test_bounds(
    specifier: str, inside: list[pythons.Version], outside: list[pythons.Version]
) -> None:
    fits = pythons.bounds(specifier)
    assert all(map(fits, inside)) and not any(map(fits, outside))


def test_the_compiler_of_cxx_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mine", "g++", "clang++"):
        script(tmp_path / name, "exit 1\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert compilers.compiler() == tmp_path / "g++"
    monkeypatch.setenv("CXX", "mine -O2")
    assert compilers.compiler() == tmp_path / "mine"
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert compilers.compiler() is None


def test_a_compiler_that_fails_says_why_and_is_asked_again(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "echo 'trial.cc:1:10: fatal error: cstdio: No such file' >&2; exit 1\n"
    broken = script(tmp_path / "bin/c++", text)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.delenv("CXX", raising=False)
    found = compilers.collect()
    assert found and found.path == str(broken) and "fatal error: cstdio" in found.problem
    assert not list(home.rglob("compiler.json"))
    assert "No such file" in compilers.compile_problem([tmp_path / "none"])


def test_a_real_compiler_is_tried_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compilers.collect()
    assert first and first.problem == "" and first.version
    assert list(home.rglob("compiler.json"))
    monkeypatch.setattr(compilers, "run", lambda *_: pytest.fail("tried again"))
    assert compilers.collect() == first
