"""What the rules of a recipe make of sources of several ages, told by a few lines of each."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from provision.wheels import modules, recipe, rows
from provision.wheels.python import Python
from provision.wheels.source import Source
from provision.wheels.work import Work

COMMIT = "0123456789" * 4
# The lines of CMake that count, and how the version comes of them when both parts are given.
AGES = {
    "2.6": ('"${PADDLE_VERSION}.${PACKAGE_VERSION}"', "{paddle}.{package}"),
    "beta": ("set(TOPS_RELEASE_VERSION 2.4.1)\n${GIT_HASH}-${TOPS_RELEASE_VERSION}",
             "{paddle}-{package}"),
    "later": ("  set(TOPS_RELEASE_VERSION 3.5.0)\n${PADDLE_VERSION}+${PACKAGE_VERSION}",
              "{paddle}+{package}"),
}  # fmt: skip


def _work(root: Path, files: dict[str, str], paddle: str = "3.3.1", backend: str = "gcu") -> Work:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    source = Source(str(root), root, COMMIT, COMMIT)
    python = Python(Path("/usr/bin/python3"), "3.10", paddle, None)
    return Work(recipe.load(backend), source, python, "x86_64", root)


@pytest.mark.parametrize("paddle", ["2.6.2", "3.0.0b2", "3.0.0rc1", "3.3.1"])
@pytest.mark.parametrize("age", AGES)
def test_the_version_is_one_and_tells_paddle_commit_and_stack(
    tmp_path: Path, age: str, paddle: str
) -> None:
    line, form = AGES[age]
    work = _work(tmp_path, {"backends/gcu/CMakeLists.txt": line}, paddle)
    package = dict(rows.filled(work.recipe.settings, work.folder, work.known))["PACKAGE_VERSION"]
    given = dict(work.variables(""))["PADDLE_VERSION"]
    version = Version(form.format(paddle=given, package=package))
    assert version.public == paddle and version.local is not None
    assert f"g{COMMIT[:7]}" in version.local.split(".")
    stack = {"2.6": "", "beta": "2.4.1", "later": "3.5.0"}[age]
    assert stack in version.local


@pytest.mark.parametrize("backend", ["gcu", "npu"])
@pytest.mark.parametrize("name", ["mkldnn", "onednn"])
def test_onednn_is_asked_for_by_the_name_that_the_sources_have(
    tmp_path: Path, backend: str, name: str
) -> None:
    files = {"cmake/third_party.cmake": f"check_update_submodule({name})",
             f"backends/{backend}/CMakeLists.txt": ""}  # fmt: skip
    work = _work(tmp_path, files, backend=backend)
    wanted = [one.path for one in modules.wanted(work.recipe, work.root, work.known)]
    other = {"mkldnn": "onednn", "onednn": "mkldnn"}[name]
    assert f"Paddle/third_party/{name}" in wanted and f"Paddle/third_party/{other}" not in wanted


@pytest.mark.parametrize(
    ("cmake", "there", "gone"),
    [
        ("eccl efrt topsrt", {"eccl/eccl.h", "topstx/topstx.hpp", "efrt"},
         {"topsaten", "eccl.h", "topsaten/topsaten.h", "topscl"}),
        ("eccl efrt topsrt topsaten", {"topsaten", "topsaten/topsaten.h", "eccl.h", "efrt"},
         {"eccl/eccl.h", "topscl", "topscl/topscl.h"}),
        ("eccl topsrt topsaten topscl", {"topsaten", "topscl", "topscl/topscl.h"},
         {"efrt", "topstx/topstx.hpp"}),
    ],
)  # fmt: skip
def test_of_the_stack_what_the_sources_use_is_asked_for(
    tmp_path: Path, cmake: str, there: set[str], gone: set[str]
) -> None:
    work = _work(tmp_path, {"backends/gcu/cmake/external/gcu.cmake": cmake})
    asked = {one.name for one in work.recipe.handed_out() if one.applies(work.folder, work.known)}
    assert there <= asked and not gone & asked
