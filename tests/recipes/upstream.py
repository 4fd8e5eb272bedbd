"""Makes the small source tree a repository as upstream has it, and stand-ins for the SDKs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

TREE = Path(__file__).parent / "tree"
PLUGIN = Path(__file__).parents[2] / "images" / "loopback" / "plugin" / "src"
SHARED = ("paddle.cmake", "third_party.cmake", "version.cmake", "generic.cmake")
MODULES = ("gflags", "glog", "pybind", "onednn")
_WHO = {
    f"GIT_{who}_{what}": "tests" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}
_WHEN = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}


def git(folder: Path, *arguments: str) -> str:
    """Run git with a fixed name and time, so that the same files give the same commit."""
    env = {**os.environ, **_WHO, **_WHEN, "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=develop", *arguments],
        cwd=folder, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit(folder: Path, message: str = "All of it", *tags: str) -> str:
    """Commit all files, and tag the commit."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)
    for tag in tags:
        git(folder, "tag", tag)
    return git(folder, "rev-parse", "HEAD")


def _repository(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "--quiet")
    commit(folder)


def links(root: Path) -> dict[Path, str]:
    """The links of the layout: those of the backends lead to `cmake`, those there into `Paddle`."""
    found = {root / "cmake" / name: f"../Paddle/cmake/{name}" for name in SHARED[2:]}
    for backend in ("gcu", "npu"):
        for name in SHARED:
            found[root / "backends" / backend / "cmake" / name] = f"../../../cmake/{name}"
    found[root / "backends/custom_cpu/cmake/paddle.cmake"] = "../../../cmake/paddle.cmake"
    return found


def upstream(place: Path) -> Path:
    """The tree as a repository with tag `v1`, its submodules checked out."""
    root, paddle = place / "PaddleCustomDevice", place / "Paddle"
    shutil.copytree(TREE, root, ignore=shutil.ignore_patterns("paddle", "README.md"))
    (root / "csrc/npu/setup.py.in").rename(root / "csrc/npu/setup.py")
    shutil.copytree(PLUGIN, root / "backends/custom_cpu/kernels")
    for path, leads in links(root).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(leads)
    shutil.copytree(TREE / "paddle", paddle)
    _repository(paddle, {})
    for name in MODULES:
        _repository(place / name, {"README": name})
        git(paddle, "submodule", "--quiet", "add", str(place / name), f"third_party/{name}")
    commit(paddle)
    git(root, "init", "--quiet")
    git(root, "submodule", "--quiet", "add", str(paddle), "Paddle")
    commit(root, "All of it", "v1")
    git(root, "submodule", "--quiet", "update", "--init", "--recursive")
    return root


def _compiled(library: Path, code: str, *flags: str) -> None:
    library.parent.mkdir(parents=True, exist_ok=True)
    argv = ["c++", "-x", "c++", "-", "-fPIC", *flags, "-o", str(library)]
    subprocess.run(argv, input=code, text=True, check=True, capture_output=True)


def _libraries(folder: Path, functions: dict[str, str], *with_: str | Path) -> None:
    """Libraries that have a function each, and are linked with others although they call none."""
    linked = ("-Wl,--no-as-needed", "-x", "none", *map(str, with_)) if with_ else ()
    for name, function in functions.items():
        code = f'extern "C" int {function} {{ return 1; }}'
        _compiled(folder / f"lib{name}.so", code, "-shared", f"-Wl,-soname,lib{name}.so", *linked)


def _empty(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()


def ascend(place: Path, but: Iterable[str] = ()) -> dict[str, str]:
    """What CANN, ATB and the driver install; returns the variables that lead to it."""
    root = place / "Ascend"
    toolkit = root / "ascend-toolkit" / "latest"
    libraries = {"ascendcl": "aclInit(const char*)", "hccl": "HcclBarrier()",
                 "acl_op_compiler": "aclopCompile()"}  # fmt: skip
    _libraries(root / "driver/lib64/driver", {"ascend_hal": "drvInit()"})
    _libraries(
        toolkit / "fwkacllib/lib64", libraries, root / "driver/lib64/driver/libascend_hal.so"
    )
    _libraries(root / "atb/latest/atb/lib", {"atb": "atbVersion()", "asdops": "asdopsVersion()"})
    for name in ("acl/acl.h", "acl/acl_op_compiler.h", "acl/acl_prof.h", "hccl/hccl.h",
                 "hccl/hccl_types.h"):  # fmt: skip
        _empty(toolkit / "fwkacllib/include" / name)
    _empty(root / "atb/latest/atb/include/atb/atb_infer.h")
    for machine in ("x86_64-linux", "arm64-linux"):
        (toolkit / machine).mkdir()
        info = toolkit / machine / "ascend_toolkit_install.info"
        info.write_text("package_name=Ascend-cann-toolkit\nversion=8.0.RC1\n")
    (root / "driver/version.info").write_text("Version=24.1.rc2\n")
    for name in but:
        (root / name).unlink()
    return {"ASCEND_CUSTOM_PATH": str(root), "ATB_HOME_PATH": str(root / "atb/latest/atb")}


def tops(place: Path) -> dict[str, str]:
    """What the Tops stack installs, with the archive of operators that Enflame hands out."""
    root = place / "tops"
    names = {"topsrt": "topsInit()"} | {
        name: f"{name}_init()" for name in ("dtu_sdk", "eccl", "efrt", "topstx", "topsaten")
    }
    _libraries(root / "lib", names)
    for name in ("eccl.h", "gcu/driver/device_manager.h", "gcu/hlir_builder/hlir_builder.h",
                 "tops/tops_ext.h", "tops/tops_runtime.h", "topsaten/topsaten.h",
                 "topstx/topstx.h"):  # fmt: skip
        _empty(root / "include" / name)
    code = 'extern "C" int topsop_add(int a, int b) { return a + b; }'
    _compiled(place / "topsop.o", code, "-c")
    subprocess.run(["ar", "rcsD", root / "lib/libtopsop.a", place / "topsop.o"], check=True)
    return {"TOPS_CUSTOM_PATH": str(root)}
