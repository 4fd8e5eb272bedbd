"""Where a wheel is built when nobody says so, and what is told about it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from checks import build_container
from provision.container.builder import Job
from provision.network import Network
from provision.wheels import places, recipe
from provision.wheels.order import Order
from provision.wheels.source import find
from tests.conftest import Cli

NO_ENGINE = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}


def _sdk(root: Path, backend: str, but: str = "") -> dict[str, str]:
    """Empty files where all of a backend's SDK would be; the variables that lead there."""
    found = recipe.load(backend)
    known = {name: str(root / name) for name in found.roots} | {"machine": "x86_64"}
    for piece in found.handed_out():
        if not piece.when and piece.machine in ("", "x86_64") and piece.name != but:
            place = Path(piece.any[0].format_map(known))
            if place.is_relative_to(root):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
    return {one.variable: known[name] for name, one in found.roots.items()}


@pytest.fixture
def without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No SDK of any vendor on this machine, which has the processor of all of them."""
    for backend in ("gcu", "npu"):
        for root in recipe.load(backend).roots.values():
            monkeypatch.setenv(root.variable, str(tmp_path / "nothing"))
    real = os.uname()
    monkeypatch.setattr("os.uname", lambda: os.uname_result((*real[:4], "x86_64")))


@pytest.mark.usefixtures("without")
@pytest.mark.parametrize(
    ("asked", "image", "python", "place"),
    [
        ("", "", "", "container"), ("venv", "", "", "venv"), ("host", "", "", "host"),
        ("", "x", "", "container"), ("", "", "3.10", "container"),
        ("", "", "/usr/bin/python3", "venv"), ("container", "", "", "container"),
    ],
)  # fmt: skip
def test_a_machine_without_the_sdk(asked: str, image: str, python: str, place: str) -> None:
    for backend in ("gcu", "npu"):
        found = places.choose(recipe.load(backend), asked, image, python)
        assert found.name == place
        assert bool(found.why) == (place == "container" and not asked and not image)
    for backend in ("custom_cpu", "paddlenlp_ops"):
        assert places.choose(recipe.load(backend), asked, "", "").name == (asked or "venv")


@pytest.mark.usefixtures("without")
def test_a_machine_with_the_sdk_or_all_but_one_file_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for case, but, place in (("whole", "", "venv"), ("less", "libhccl.so", "container")):
        for name, value in _sdk(tmp_path / case, "npu", but).items():
            monkeypatch.setenv(name, value)
        found = places.choose(recipe.load("npu"), "", "", "")
        assert found.name == place and "Huawei" in found.why
        assert ("libhccl.so" in found.why) == bool(but)
        assert "libascendcl.so" not in found.why


def test_without_an_engine_the_way_without_one_is_named(cli: Cli, tmp_path: Path) -> None:
    own = {"ASCEND_CUSTOM_PATH": str(tmp_path), "ATB_HOME_PATH": str(tmp_path)}
    done = cli("build-ops", "--backend", "npu", **own, **NO_ENGINE)
    assert done.returncode == 4 and "/nonexistent/docker.sock" in done.stderr
    assert done.stdout.startswith("npu in a container: this machine lacks libascendcl.so, ")
    assert "--in venv" in done.stdout and "--in venv" in done.stderr
    told = json.loads(cli("build-ops", "--backend", "npu", "--json", **own, **NO_ENGINE).stdout)
    assert told["code"] == "engine-absent" and any("--in venv" in one for one in told["details"])
    shown = cli("build-ops", "--backend", "npu", PADDOCK_LANG="zh", **own, **NO_ENGINE)
    assert shown.stdout.startswith("在容器中构建 npu：本机缺少 Huawei 的 libascendcl.so")


def test_what_can_be_told_of_an_order_comes_before_the_engine(cli: Cli, tmp_path: Path) -> None:
    """An image may take an hour to be pulled."""
    order = ("build-ops", "--backend", "npu", "--in", "container", "--json")
    for flags, code in (
        (("--python", "3.13"), "bad-option"), (("--source", str(tmp_path / "x")), "source-missing"),
        (("--python", "3.9", "--ref", "c" * 40), "engine-absent"),
    ):  # fmt: skip
        assert json.loads(cli(*order, *flags, **NO_ENGINE).stdout)["code"] == code


def test_an_image_of_another_processor_is_refused() -> None:
    for machine, found, fits in (("x86_64", "amd64", True), ("x86_64", "arm64", False),
                                 ("aarch64", "arm64", True), ("aarch64", "amd64", False),
                                 ("x86_64", None, True), ("riscv64", "riscv64", True)):  # fmt: skip
        assert build_container.is_for(found, machine) is fits


def _job(source: str, home: Path) -> Job:
    order = Order("npu", source=source, place="container")
    return Job(order, find(recipe.load("npu"), source, "", Network(offline=True)), home, None)


def test_links_that_lead_out_of_a_folder_are_shown_to_the_container(tmp_path: Path) -> None:
    top, paddle, other = (tmp_path / name for name in ("top", "Pad dle", "other"))
    for folder in (top / "backends/npu", paddle, other):
        folder.mkdir(parents=True)
    (top / "Paddle").symlink_to(paddle)
    (top / "backends/gcu").symlink_to("npu")
    (top / "backends/npu/up").symlink_to("../../../other")
    shown = list(_job(str(top), tmp_path).places())
    assert {top, paddle, other} <= set(shown) and top / "backends/npu" not in shown


def test_mirrors_that_git_is_told_of_hold_in_the_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / 'he "re', tmp_path / "there"
    for folder in (here, there, tmp_path / "sources"):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(here))
    mirror = '[url "https://mirror.example/"]\n\tinsteadOf = https://github.com/\n'
    (here / ".gitconfig").write_text(mirror)
    assert here / ".gitconfig" in _job(str(tmp_path / "sources"), there).places()
    monkeypatch.setenv("HOME", str(there))
    for name, value in (("url.https://mirror.example/.insteadOf", "https://github.com/"),
                        ("safe.directory", "*")):  # fmt: skip
        argv = ["git", "config", "--global", "--includes", "--get", name]
        assert subprocess.check_output(argv, text=True).strip() == value


@pytest.mark.usefixtures("without")
def test_the_image_goes_with_the_sources() -> None:
    first = "c8ed610dec3d26d69e1aa6529cb86201a2b1e55c"
    asked = (Order("npu"), Order("npu", ref=first), Order("npu", paddle="3.0.0b0"),
             Order("npu", paddle="3.0.0"), Order("npu", ref="develop"))  # fmt: skip
    found = [build_container.usual(one) for one in asked]
    assert ["cann80RC1" in one for one in found] == [True, True, True, False, False]
    # The tool has to run there.
    assert all("-py39" not in one for one in found)
    # What a clone has checked out counts, not what is usual.
    assert "cann80RC1" in build_container.usual(Order("npu"), first)
    assert "cann80RC1" not in build_container.usual(Order("npu"), "0" * 40)
    assert "topsrider" in build_container.usual(Order("gcu"))
    assert "paddle-npu" in build_container.usual(Order("paddlenlp_ops"))
