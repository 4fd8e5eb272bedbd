"""`build-ops` in a container, for real: a fresh Debian with Python and git."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conftest import ROOT, variables
from tests.lab.machine import base_image
from tests.recipes.conftest import Build, wheel_of
from tests.recipes.upstream import commit, git

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def _containers(folder: Path) -> list[str]:
    """The mounts of each container with something of a folder: other tests use the image, too."""
    argv = ["docker", "ps", "--all", "--no-trunc", "--format", "{{.Mounts}}"]
    said = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    return [line for line in said.splitlines() if str(folder) in line]


def _elsewhere(tree: Path) -> Path:
    """A work tree whose repository is in another folder, and its objects in a third."""
    shared, work = tree.with_name("shared"), tree.with_name("work tree")
    git(tree, "clone", "--quiet", "--shared", str(tree), str(shared))
    git(shared, "worktree", "add", "--quiet", "--detach", str(work))
    return work


def _killed(order: Sequence[str], home: Path) -> None:
    """A build that is killed while its package is made."""
    command = [sys.executable, str(ROOT / "tasks.py"), "build-ops", *order]
    logs = "cache/containers/*/state/paddlenlp_ops/logs/*/compile.log"
    with subprocess.Popen(command, env=variables(home), stdout=-3, stderr=-3) as process:
        try:
            deadline = time.monotonic() + 120
            while not list(home.glob(logs)) and process.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        finally:
            process.kill()


def test_what_a_killed_build_has_left_in_a_container_is_ended(
    tree: Path, build: Build, tmp_path: Path
) -> None:
    setup = tree / "csrc/npu/setup.py"
    setup.write_text("import time; time.sleep(300)\n" + setup.read_text())
    slow = commit(tree, "It takes long")
    order = ("--backend", "paddlenlp_ops", "--in", "container", "--image", base_image(),
             "--source", str(tree))  # fmt: skip
    _killed([*order, "--ref", slow], tmp_path / "ho me")
    assert len(_containers(tmp_path)) == 1
    done = build(*order, "--ref", "v1")
    assert done.returncode == 0, done.stderr
    assert "what an earlier run had left at work" in done.stdout
    assert _containers(tmp_path) == []


def test_a_wheel_is_built_in_a_container_and_its_errors_come_out(
    tree: Path, build: Build, tmp_path: Path
) -> None:
    image = base_image()
    order = ("--source", str(_elsewhere(tree)), "--image", image, "--json")
    done = build("--backend", "paddlenlp_ops", "--in", "container", *order)
    if done.returncode == 5:  # the network was away for a moment
        time.sleep(60)
        done = build("--backend", "paddlenlp_ops", "--in", "container", *order)
    wheel = wheel_of(done)
    assert wheel["place"] == "container"
    path = Path(wheel["path"])
    assert path.is_relative_to(tmp_path / "ho me/data/wheels/paddlenlp_ops")
    assert "-cp311-cp311-linux_" in path.name  # the Python of Debian 12, whatever ours is
    with zipfile.ZipFile(path) as archive:
        assert "paddlenlp_ops/__init__.py" in archive.namelist()
    assert path.with_name("inputs.json").is_file()
    assert [Path(paper).parent for paper in wheel["papers"]] == [path.parent] * 2
    assert all(Path(paper).is_file() for paper in wheel["papers"]) and wheel["audit"]
    # The usual place of this one; the checks look at the image, not at this machine: it has no
    # compiler.
    done = build("--backend", "npu", *order)
    told = json.loads(done.stdout)
    assert (done.returncode, told["code"]) == (4, "build-unready")
    assert any("c++" in line for line in told["details"])
    assert image in told["details"][-1]
    assert done.stderr.count(told["what"]) == 1
    assert _containers(tmp_path) == []
    # What is not here is not pulled offline.
    done = build("--backend", "npu", "--offline", "--image", "localhost:1/none:1", "--json")
    assert (done.returncode, json.loads(done.stdout)["code"]) == (5, "image-offline")
