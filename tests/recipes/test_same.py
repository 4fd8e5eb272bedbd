"""What makes a wheel the same one as before, and what another."""

from __future__ import annotations

import functools
import io
import os
import shlex
import stat
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from provision.facts.compilers import compiler
from provision.network import Network
from provision.papers import materials
from provision.process import Outcome
from provision.progress import Plain
from provision.render import render
from provision.wheels import modes, recipe, store, surroundings, tools
from provision.wheels.python import Facts, Python
from provision.wheels.source import Source
from provision.wheels.stages import Stages
from provision.wheels.work import Work, compiler_witness
from tests.lab.needs import needs


def _work(home: Path, clone: str) -> Work:
    """A build of sources that lie in a folder of this name."""
    python = Python(Path("/usr/bin/python3"), "3.11", "3.3.1", home / "env")
    root = home / "sources" / Path(clone).name
    return Work(recipe.load("npu"), Source(clone, root, "0" * 40), python, "x86_64", root)


def _compiler(folder: Path, name: str) -> str:
    """A compiler that only says what it is called."""
    file = folder / name
    file.write_text(f'#!/bin/sh\necho "{name} 99.9"\n')
    file.chmod(0o755)
    return str(file)


def test_another_compiler_starts_a_tree_of_its_own_and_is_the_one_that_is_told(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for name in ("one", "two", "one"):
        monkeypatch.setenv("CXX", _compiler(tmp_path, name))
        work = _work(home, "/a")
        found.append((work.build, store.key(store.inputs(work))))
        assert materials.tools()["c++"] == f"{name} 99.9"
        (tmp_path / name).touch()
    assert found[0][0] != found[1][0] and found[0][1] != found[1][1]
    assert found[0][0] != found[2][0]  # of the same name, and written anew meanwhile


@pytest.mark.parametrize("name", ["CFLAGS", "CXXFLAGS", "LDFLAGS", "CXX", "CPATH", "LIBRARY_PATH"])
def test_what_compilers_are_told_makes_another_wheel_in_a_tree_of_its_own(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv("CXX", raising=False)
    work = _work(home, "/a")
    before = work.build, store.key(store.inputs(work))
    monkeypatch.setenv(name, f"{compiler()} -O0")
    assert work.build != before[0] and store.key(store.inputs(work)) != before[1]


def test_a_tree_has_a_name_that_cmake_takes_whatever_the_sources_are_called(home: Path) -> None:
    facts = Facts("", "", "", "", "", "", "", "")
    for name in ("my 源 (copy)", "a&b's"):
        work = _work(home, f"/{name}")
        assert not tools.ODD.search(work.build.name)
        assert not list(tools.path(work, facts))


@pytest.mark.parametrize("sign", ["'", '"', "$", "(", "&", "#", "["])
def test_a_home_in_which_cmake_cannot_work_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sign: str
) -> None:
    monkeypatch.setenv("PADDOCK_HOME", f"{tmp_path}/me{sign}")
    (told,) = tools.path(_work(tmp_path, "/a"), Facts("", "", "", "", "", "", "", ""))
    assert f"me{sign}" in told and "PADDOCK_HOME" in told


def test_the_compiler_behind_a_wrapper_counts(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named behind ccache, or called by a program of the same name that comes first on PATH."""
    for folder in ("first", "real"):
        (tmp_path / folder).mkdir()
        _compiler(tmp_path / folder, "c++")
    monkeypatch.setenv("PATH", f"{tmp_path}/first:{tmp_path}/real:{os.environ['PATH']}")
    for asked in ("", f"{_compiler(tmp_path, 'ccache')} {tmp_path}/real/c++ -O1"):
        monkeypatch.setenv("CXX", asked)
        before = compiler_witness()
        (tmp_path / "real/c++").write_text(f"#!/bin/sh\n# upgraded, {asked}\n")
        assert compiler_witness() != before
    assert compiler() == tmp_path / "real/c++"


def test_a_header_of_the_vendors_counts(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCEND_CUSTOM_PATH", str(tmp_path))
    header = tmp_path / "ascend-toolkit/latest/fwkacllib/include/acl/acl.h"
    header.parent.mkdir(parents=True)
    header.write_text("// 8.0.RC1\n")
    work = _work(home, "/a")
    before = work.build, store.key(store.inputs(work))
    header.write_text("// 8.0.RC1, patched\n")
    assert work.build != before[0] and store.key(store.inputs(work)) != before[1]


def test_the_hosts_own_tools_count(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _work(home, "/a")
    host = replace(work, python=msgspec.structs.replace(work.python, env=None))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    before = [store.key(store.inputs(one)) for one in (work, host)]
    _compiler(tmp_path, "cmake")
    after = [store.key(store.inputs(one)) for one in (work, host)]
    assert after[0] == before[0] and after[1] != before[1]


def test_what_would_overrule_the_recipe_is_kept_out_and_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = {
        "CMAKE_BUILD_TYPE": "Debug",
        "DESTDIR": "/",
        "MAKEFLAGS": "-k",
        "NINJA_STATUS": "",
        "PYTHONWARNINGS": "error",
        "SETUPTOOLS_USE_DISTUTILS": "stdlib",
        "LANGUAGE": "zh",
    }
    kept = {"CC": "gcc", "CFLAGS": "-O1", "PATH": "/bin", "LD_LIBRARY_PATH": "/sdk"}
    assert surroundings.clean(out | kept) == kept
    for name in list(os.environ):
        if name.startswith("CMAKE_"):
            monkeypatch.delenv(name)
    for name, value in out.items():
        monkeypatch.setenv(name, value)
    assert surroundings.overruling() == ["CMAKE_BUILD_TYPE", "DESTDIR"]


def test_what_the_code_calls_itself_does_not_tell_where_it_lies(home: Path) -> None:
    """Neither as CMake names a file nor as ccache does, seen from the build tree."""
    needs(compiler() is not None, "a C++ compiler")
    said = set()
    for clone in ("/some/clone", "/another place/clone of mine"):
        work = _work(home, clone)
        work.build.mkdir(parents=True)
        work.sources.symlink_to(work.root)
        file, header = work.root / "kernels" / "one.cc", home / "cache/pythons/x/two.h"
        file.parent.mkdir(parents=True)
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text("const char* there = __FILE__;\n")
        file.write_text('const char* here = __FILE__;\n#include "two.h"\n')
        flags = dict(work.defines(Facts("", "", "", "", "", "3.3.1", "", "")))["CMAKE_CXX_FLAGS"]
        for seen in (str, functools.partial(os.path.relpath, start=work.build)):
            argv = [str(compiler()), "-E", "-P", *shlex.split(flags)]
            argv += [seen(work.sources / "kernels/one.cc"), f"-I{seen(header.parent)}"]
            said.add(subprocess.run(argv, cwd=work.build, check=True, capture_output=True).stdout)
    whole = 'const char* here = "./kernels/one.cc";\nconst char* there = "./pythons/x/two.h";\n'
    assert said == {whole.encode()}


@pytest.mark.parametrize("seen", ["sources/kernels/one.cc:3: error: no", "{build}/sources/a.h"])
def test_an_error_names_the_file_where_it_lies(home: Path, seen: str) -> None:
    work = _work(home, "/some/clone")
    lines = (seen.format(build=work.build), "more/sources/x.cc: as it is")
    stages = Stages(Network(), home, Plain(sys.stderr))
    told = stages.error("compile", Outcome(1, ()), work, lines).details
    assert told[0].startswith(f"{work.root}/") and "sources/" not in told[0][len(str(work.root)) :]
    assert told[1] == lines[1]


def test_a_long_compile_tells_how_far_it_is_once_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a terminal, where silence looks like the end; lines of installers are left out."""
    clock = iter([0.0, 30.0, 61.0, 62.0, 125.0, 200.0])
    monkeypatch.setattr("provision.progress.time.monotonic", lambda: next(clock))
    told = io.StringIO()
    shown = Plain(told)
    shown.started("compile")
    for line in ("1/9, 4 min left", "2/9, 3 min left", "3/9, 3 min left", "4/9, 2 min left"):
        shown.line("compile", line)
    shown.line("compile", "Downloading a wheel")
    lines = [" ".join(line.split()) for line in told.getvalue().splitlines()]
    assert lines == ["> compile", "> compile 2/9, 3 min left", "> compile 4/9, 2 min left"]


@pytest.mark.parametrize(("change", "kept"), [
    ("none", True), ("a newer file", True), ("an older file", False), ("the clock", False),
])  # fmt: skip
def test_objects_that_times_tell_nothing_of_are_made_anew(
    tmp_path: Path, change: str, kept: bool
) -> None:
    root, build, bin_ = tmp_path / "my 'sources'", tmp_path / "build", tmp_path / "bin"
    for folder in (root, bin_):
        folder.mkdir()
    (root / "a.cc").write_text("int a;\n")
    _compiler(bin_, "cmake")
    values = {
        "root": root, "sources": build / "sources", "folder": ".", "build": build, "defines": [],
        "programs": bin_, "variables": [("CMAKE_GENERATOR", "Ninja")], "libraries": "",
    }  # fmt: skip
    script = render("wheels/configure.sh.j2", values)
    subprocess.run(["sh", "-eu", "-c", script], check=True, capture_output=True)
    (build / "CMakeCache.txt").write_text("CMAKE_GENERATOR:INTERNAL=Ninja\n")
    (build / "a.o").touch()
    if change == "a newer file":
        (root / "a.cc").write_text("int b;\n")
    elif change == "an older file":  # as `cp -p` and rsync bring it
        (root / "a.cc").write_text("int b;\n")
        os.utime(root / "a.cc", (1, 1))
    elif change == "the clock":
        os.utime(build / "begun", (4e9, 4e9))
    subprocess.run(["sh", "-eu", "-c", script], check=True, capture_output=True)
    assert (build / "a.o").exists() is kept and (build / "sources/a.cc").is_file()


def test_a_wheel_has_the_same_modes_whatever_the_umask(tmp_path: Path) -> None:
    made = []
    for name, mask in (("usual", 0o022), ("group", 0o002), ("closed", 0o077)):
        wheel = tmp_path / name
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as whole:
            for file, mode in (("a.py", 0o666), ("源/lib.so", 0o777)):
                info = zipfile.ZipInfo(file)
                info.external_attr = (stat.S_IFREG | mode & ~mask) << 16
                info.comment = b"as setuptools does not"
                whole.writestr(info, file * 99)
        modes.settle(wheel)
        made.append(wheel.read_bytes())
    assert made[0] == made[1] == made[2]
    with zipfile.ZipFile(wheel) as whole:
        assert whole.testzip() is None
        assert [info.external_attr >> 16 & 0o777 for info in whole.infolist()] == [0o644, 0o755]
