"""What a build needs of the network is told before it begins, and all of it where there is none."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from provision.network import Network
from provision.wheels import bring, modules, needs
from provision.wheels.order import Order, work
from tests.conftest import Cli
from tests.recipes.conftest import Build
from tests.recipes.upstream import ascend, git

pytestmark = pytest.mark.slow
COMMIT = "c8ed610dec3d26d69e1aa6529cb86201a2b1e55c"
NOBODY = "http://127.0.0.1:1/"  # where nothing listens


def _found(order: Order) -> dict[str, bool]:
    """Each kind of thing, and whether it is here."""
    return {one.kind: one.here for one in needs.needs(work(order), order.network)}


def test_what_is_here_of_a_clone_and_of_a_checkout_that_is_kept(
    tree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(home / "uv"))
    order = Order("npu", str(tree), network=Network(offline=True))
    assert _found(order) == {"modules": True, "packages": False}
    made = work(order)
    root = bring.bring(made.source, made.recipe, order.network)
    modules.check_out(made.source, root, made.recipe, made.known, order.network)
    assert _found(order) == {"packages": False}
    git(tree, "submodule", "--quiet", "deinit", "--all", "--force")
    assert _found(order) == {"packages": False}
    assert _found(Order("paddlenlp_ops", str(tree), place="host")) == {}


def test_the_host_that_a_clone_names_for_its_submodules_is_asked(
    stripped: Path, whole: Path, home: Path
) -> None:
    git(stripped, "config", "-f", ".gitmodules", "submodule.Paddle.url", NOBODY)
    git(stripped, "commit", "--quiet", "--all", "-m", "Where nothing listens")
    order = Order("npu", str(stripped))

    def unreached() -> list[str]:
        found = [one for one in needs.needs(work(order), order.network) if one.kind == "modules"]
        return list(needs.unreached(found, order.network))

    assert unreached() == ["modules"]
    git(stripped, "config", "submodule.Paddle.url", str(whole.parent / "Paddle"))
    assert unreached() == []


def test_all_that_has_to_be_brought_is_told_at_once(cli: Cli, tmp_path: Path) -> None:
    vendor = ascend(tmp_path)
    order = ("--backend", "npu", "--offline")
    done = cli("build-ops", *order, "--json", UV_CACHE_DIR=str(tmp_path / "uv"), **vendor)
    told = json.loads(done.stdout)
    assert (done.returncode, told["code"]) == (5, "build-network")
    for part, line in zip(("v3.0.0-beta1", "Paddle/third_party/glog", "paddlepaddle 3.0.0b2"),
                          told["details"], strict=True):  # fmt: skip
        assert part in line and "--offline" in line
    assert "network needed for the sources v3.0.0-beta1 of https://" in done.stderr
    shown = cli("build-ops", *order, PADDOCK_LANG="zh", UV_CACHE_DIR=str(tmp_path / "uv"), **vendor)
    assert "需要联网获取：" in shown.stdout and "无法获取（--offline）" in shown.stderr


def test_a_host_that_does_not_answer(cli: Cli, tmp_path: Path) -> None:
    began = time.monotonic()
    order = ("--source", f"{NOBODY}x.git", "--ref", COMMIT, "--index-url", f"{NOBODY}simple")
    done = cli("build-ops", "--backend", "npu", *order, "--json", UV_HTTP_RETRIES="0",
               UV_CACHE_DIR=str(tmp_path / "uv"), **ascend(tmp_path))  # fmt: skip
    told = json.loads(done.stdout)
    assert (done.returncode, told["code"]) == (5, "build-network")
    assert "127.0.0.1" in told["cause"] and len(told["details"]) == 3
    assert time.monotonic() - began < 20


def test_an_index_that_does_not_answer_stands_among_what_is_missing(
    tree: Path, build: Build, tmp_path: Path
) -> None:
    vendor = ascend(tmp_path, but=["driver/version.info"])
    order = ("--backend", "npu", "--source", str(tree), "--in", "venv", "--json")
    done = build(*order, "--index-url", f"{NOBODY}simple", UV_HTTP_RETRIES="0",
                 UV_CACHE_DIR=str(tmp_path / "uv"), **vendor)  # fmt: skip
    told = json.loads(done.stdout)
    assert (done.returncode, told["code"]) == (4, "build-unready")
    assert "version.info" in told["details"][0] and "--index-url" in told["details"][1]


def test_what_is_here_needs_no_network(tree: Path, build: Build, tmp_path: Path) -> None:
    order = ("--backend", "paddlenlp_ops", "--source", str(tree))
    assert build(*order).returncode == 0
    asks = "import os\nassert not {'GIT_DIR', 'GIT_INDEX_FILE'} & os.environ.keys()\n"
    (tree / "csrc/npu/setup.py").write_text((tree / "csrc/npu/setup.py").read_text() + asks)
    git(tree, "commit", "--quiet", "--all", "-m", "Another one")
    hook = {"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere/index"}  # of another repository
    done = build(*order, "--offline", "--index-url", f"{NOBODY}simple", **hook)
    assert done.returncode == 0 and "no network needed" in done.stdout
    assert "already here: the packages" in done.stdout
