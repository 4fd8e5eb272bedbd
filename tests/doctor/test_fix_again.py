"""`doctor --fix` killed on its way, run again, and run once more when there is nothing to do.

The tool is a copy of this one whose target `loopback` is the small stack, so that a run that builds
and installs takes seconds.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.engine.conftest import index
from tests.engine.world import STEPS, Result, World, gone, kill, tree
from tests.frame.index import Index

__all__ = ["index"]
pytestmark = pytest.mark.slow
TARGET = "loopback"
# With a package that no step asks for, and without settings for them, a stack has no smoke tests.
PACKAGE = """
[packages.unused]
files = ["unused_1.run"]
vendor = "nobody"
where = "nowhere"
source = "the tests"
seen = "2026-11"
"""


@dataclass
class Sick(World):
    """A world whose tool has the small stack as its target `loopback`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        # The small stack has no plugin; that Paddle looks for none is left to the person.
        self.more["CUSTOM_DEVICE_ROOT"] = ""
        self.edit('"small"', f'"{TARGET}"')
        self.edit('[[steps]]\nname = "env/python"', f'{PACKAGE}\n[[steps]]\nname = "env/python"')
        self.tool = self.folder / "tool"
        for name in ("provision", "checks", "templates", "images"):
            shutil.copytree(ROOT / name, self.tool / name)
        shutil.copy2(ROOT / "tasks.py", self.tool)
        shutil.rmtree(self.tool / "images" / TARGET)
        shutil.copytree(self.stack.parent, self.tool / "images" / TARGET)

    @property
    def state(self) -> Path:
        return self.home / "state" / TARGET

    @property
    def env(self) -> Path:
        return self.home / "data" / "envs" / TARGET

    def words(self, *words: str) -> list[str]:
        return [sys.executable, str(self.tool / "tasks.py"), *words, "--target", TARGET]

    def task(self, *words: str) -> Result:
        """Run a task of that tool to its end."""
        return subprocess.run(
            self.words(*words), env=self.environment({}), capture_output=True, text=True,
            timeout=120, check=False, stdin=subprocess.DEVNULL, cwd=self.folder,
        )  # fmt: skip

    def hanging(self) -> subprocess.Popen[str]:
        """`doctor --fix`, at work on a build that does not end."""
        process = subprocess.Popen(
            self.words("doctor", "--fix", "--yes"), env=self.environment({"SMALL_BUILD": "hang"}),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, cwd=self.folder,
        )  # fmt: skip
        try:
            self.wait_for("hanging")
        except BaseException:
            process.kill()
            process.wait()
            raise
        return process


@pytest.fixture
def sick(tmp_path: Path, index: Index) -> Sick:
    """A provisioned stack of which a package of its lock was removed."""
    world = Sick(tmp_path, index)
    done = world.task("provision", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    (info,) = world.env.glob("lib/python3.*/site-packages/alpha-1.0.dist-info")
    shutil.rmtree(info)
    return world


def test_killed_it_goes_on_and_then_has_nothing_to_do(sick: Sick) -> None:
    process = sick.hanging()
    kill(process)
    assert sick.marked()  # the build goes on without it
    before = len(sick.entries())
    told = json.loads(sick.task("doctor", "--fix", "--yes", "--json").stdout)
    assert told["fix"]["ran"] and "leftover-run" in told["fix"]["for"]
    states = {one["id"]: one["state"] for one in told["findings"]}
    assert states["leftover-run"] == states["stack-framework"] == "ok"
    assert sick.ran(before) == ["lib/build"]  # what had ended before is not done again
    assert set(sick.last()) == set(STEPS) and set(sick.last().values()) == {"done"}
    assert gone(sick, 0)
    made, count = tree(sick.env), len(sick.entries())
    again = sick.task("doctor", "--fix", "--yes")
    assert again.stdout.startswith("There is nothing that --fix may run."), again.stdout
    assert (tree(sick.env), len(sick.entries())) == (made, count)
