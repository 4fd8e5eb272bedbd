"""What would fail late is said at once, before anything is fetched or compiled."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import run_cli
from tests.recipes.conftest import PADDLE, Build, wheel_of
from tests.recipes.upstream import ascend, commit, tops

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
HERE = "ascend-toolkit/latest/fwkacllib/lib64/libhccl.so"


def _told(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines of `build-unready`; nothing was made."""
    assert done.returncode == 4, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert document["code"] == "build-unready"
    lines: list[str] = document["details"]
    assert str(len(lines)) in document["what"]
    return lines


def test_all_that_is_missing_for_npu_is_told_at_once(
    stripped: Path, build: Build, tmp_path: Path
) -> None:
    vendor = ascend(tmp_path, but=[HERE])
    place = Path(vendor["ASCEND_CUSTOM_PATH"])
    info = "ascend_toolkit_install.info"
    for file in place.rglob(info):
        file.write_text("nothing of use\n")
    # A library that asks for another one, which is not there.
    broken = place / "ascend-toolkit/latest/fwkacllib/lib64/libacl_op_compiler.so"
    helper = tmp_path / "libgone.so"
    empty = ["c++", "-shared", "-x", "c++", "/dev/null", "-x", "none", "-o"]
    for argv in (f"{helper} -Wl,-soname,libgone.so", f"{broken} -Wl,--no-as-needed {helper}"):
        subprocess.run([*empty, *argv.split()], check=True)
    helper.unlink()
    order = ("--backend", "npu", "--source", str(stripped), "--in", "venv", "--offline", "--json")
    done = build(*order, UV_CACHE_DIR=str(tmp_path / "uv"), **vendor)
    told = _told(done)
    assert "tried in the lab only" in done.stderr  # notes are told whatever else is missing
    for part in ("Paddle/third_party/glog", "libhccl.so", info, "libgone.so",
                 "paddlepaddle 3.0.0b2"):  # fmt: skip
        assert any(part in line for line in told), part
    assert len(told) == 5
    assert not list((tmp_path / "ho me/cache").glob("build/*/*"))


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="Enflame's stack is for x86_64")
def test_gcu_wants_what_only_the_vendor_has(tree: Path, build: Build, tmp_path: Path) -> None:
    vendor = tops(tmp_path)
    (Path(vendor["TOPS_CUSTOM_PATH"]) / "lib/libtopsop.a").unlink()
    order = ("--backend", "gcu", "--source", str(tree), "--json")
    told = _told(build(*order, **vendor))
    assert len(told) == 1 and "libtopsop.a" in told[0] and "Enflame" in told[0]
    # A later version of the sources wants the vendor's compiler in its place.
    text = (tree / "backends/gcu/CMakeLists.txt").read_text()
    newer = text.replace("${CMAKE_SOURCE_DIR}/kernels/topsflame/libtopsop.a", "")
    newer = newer.replace(
        "include(external/gcu)", "include(external/gcu)\ninclude(external/topscc)"
    )
    (tree / "backends/gcu/CMakeLists.txt").write_text(newer)
    commit(tree)
    told = _told(build(*order, **vendor))
    assert len(told) == 1 and "/usr/bin/topscc" in told[0]


def test_links_that_are_text_and_a_history_that_is_asked_for(
    tree: Path, build: Build, tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    shutil.copytree(tree, plain, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    link = plain / "backends/npu/cmake/generic.cmake"
    leads = str(link.readlink())
    link.unlink()
    link.write_text(leads)
    told = _told(build("--backend", "npu", "--source", str(plain), "--json", **ascend(tmp_path)))
    assert len(told) == 2
    assert "backends/npu/cmake/generic.cmake" in told[0] and "core.symlinks" in told[0]
    assert "git" in told[1]


def test_the_host_has_to_have_it_all(tree: Path, build: Build, tmp_path: Path) -> None:
    order = ("--backend", "custom_cpu", "--source", str(tree), "--in", "host", "--json")
    bare = tmp_path / "bare"
    subprocess.run(["python3", "-m", "venv", "--without-pip", bare], check=True)
    path = f"{tmp_path}{os.pathsep}/nonexistent"
    for name in ("git", "c++", "uname"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    told = _told(build(*order, "--python", f"{bare}/bin/python", PATH=path))
    text = "\n".join(told)
    assert "setuptools" in text and "cmake" in text and "ninja" in text
    assert "has no paddlepaddle" in text  # told with the rest, not after it


@pytest.mark.parametrize(("variables", "said"), [
    ({"CC": "/nowhere/gcc -m64", "CXX": "no-such-c++"}, ["CC=/nowhere/gcc", "CXX=no-such-c++"]),
    ({"CXXFLAGS": "--no-such-flag"}, ["no-such-flag"]),
    ({"CXXFLAGS": "-D_GLIBCXX_USE_CXX11_ABI=0"}, ["ABI=0"]),
])  # fmt: skip
def test_a_compiler_that_is_not_there_or_refuses_a_flag(
    tree: Path, build: Build, tmp_path: Path, variables: dict[str, str], said: list[str]
) -> None:
    order = ("--backend", "npu", "--source", str(tree), "--paddle", PADDLE, "--json")
    told = _told(build(*order, **ascend(tmp_path), **variables))
    assert len(told) == len(said) and all(map(str.__contains__, told, said))


def test_programs_that_the_sources_call(tree: Path, build: Build, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("git", "c++", "uname"):
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    order = ("--backend", "npu", "--source", str(tree), "--in", "venv", "--json")
    text = "\n".join(_told(build(*order, PATH=f"{tmp_path}/bin", **ascend(tmp_path))))
    assert "apt-get install make" in text and "apt-get install patch" in text


def test_the_host_with_its_own_paddle_is_taken_and_another_is_refused(
    tree: Path, build: Build, tmp_path: Path
) -> None:
    wheel_of(build("--backend", "paddlenlp_ops", "--source", str(tree), "--json"))
    order = ("--backend", "npu", "--source", str(tree), "--json")
    vendor = ascend(tmp_path)
    made = wheel_of(build(*order, "--paddle", PADDLE, **vendor))
    made_here = (tmp_path / "ho me/cache/pythons").glob(f"paddle-{PADDLE}-*")
    env = max(made_here, key=lambda path: path.stat().st_ctime)  # an older one may lie beside it
    host = ("--in", "host", "--python", str(env / "bin/python"))
    path = f"{env / 'bin'}{os.pathsep}{os.environ['PATH']}"
    told = _told(build(*order, *host, "--paddle", "3.0.0", PATH=path, **vendor))
    assert any(PADDLE in line and "3.0.0" in line for line in told)
    other = wheel_of(build(*order, *host, PATH=path, **vendor))
    assert other["paddle"] == PADDLE and Path(other["path"]).name == Path(made["path"]).name


def test_a_release_that_no_index_has(tree: Path, build: Build) -> None:
    order = ("--backend", "custom_cpu", "--source", str(tree), "--paddle", "3.0.99", "--json")
    done = build(*order)
    assert done.returncode == 4 and json.loads(done.stdout)["code"] == "no-paddle"


def test_another_processor(tmp_path: Path) -> None:
    """What only exists for x86_64 is refused elsewhere."""
    code = (
        "import os, sys; sys.argv = ['paddock', 'build-ops', '--backend', 'gcu', '--json'];"
        "real = os.uname; os.uname = lambda: os.uname_result((*real()[:4], 'aarch64'));"
        "import tasks; tasks.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env={**os.environ, "PADDOCK_HOME": str(tmp_path)}, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 4 and json.loads(done.stdout)["code"] == "build-machine"


def test_a_source_that_cannot_be_written_to(tree: Path, build: Build, tmp_path: Path) -> None:
    shutil.rmtree(tree / ".git")
    before = {path: path.lstat().st_mtime_ns for path in tree.rglob("*")}
    wheel = wheel_of(build("--backend", "paddlenlp_ops", "--source", str(tree), "--json"))
    assert wheel["made"] and {path: path.lstat().st_mtime_ns for path in tree.rglob("*")} == before


def test_all_of_it_in_chinese(tree: Path, tmp_path: Path) -> None:
    order = ("--backend", "npu", "--source", str(tree), "--in", "venv")
    done = run_cli(tmp_path / "home", "build-ops", *order, PADDOCK_LANG="zh")
    assert done.returncode == 4 and "缺少" in done.stderr
