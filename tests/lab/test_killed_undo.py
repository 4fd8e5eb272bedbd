"""An undo that is killed while an uninstaller works: both kinds of runs know it and end well."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.test_ascend_install import ends, parts
from tests.lab.test_killed_plan import ALL
from tests.lab.vendor import ascend
from tests.lab.vendor.bare import DEPS, Bare, bare

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
STEPS = ("card", "system", "toolchain", "account", "driver")
ONLY = f"--target ascend910b --deps {DEPS} --only " + ",".join(f"host/{name}" for name in STEPS)
UNDO = "--target ascend910b --undo --yes"
SAID = "host/driver: an undo was begun here and did not end"
# The uninstaller has taken a part away, and works on.
REMOVE = "/usr/local/Ascend/driver/script/uninstall.sh"
SLOW = f"sed -i 's|^rm -rf|rm -rf /usr/local/dcmi; sleep SECONDS; &|' {REMOVE}"


@pytest.fixture(scope="module")
def box(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bare]:
    """A bare machine with the driver, installed by the tool."""
    packages = tmp_path_factory.mktemp("packages")
    ascend.write(packages)
    with bare("ascend910b", clone) as machine:
        shutil.copytree(packages, machine.deps, dirs_exist_ok=True)
        ends(machine.provision(f"{ONLY} --yes"), 0)
        yield machine


def killed(box: Bare, seconds: int, more: str = "") -> None:
    """An undo whose tool is killed when the uninstaller is at work."""
    count = parts(box).count("remove")
    box.run(SLOW.replace("SECONDS", str(seconds)))
    script = f"echo $$ >/run/tool.pid; exec ./paddock provision {UNDO}"
    with subprocess.Popen(box.command(script, 120, "root"), stdout=subprocess.DEVNULL) as run:
        while parts(box).count("remove") == count:
            assert run.poll() is None
            time.sleep(0.1)
        box.run(f"kill -9 $(cat /run/tool.pid); {more}")
        assert run.wait(30) == 137


def test_after_a_power_cut_the_driver_is_made_whole_again(box: Bare) -> None:
    killed(box, 300, ALL)
    assert box.run("ls /usr/local/Ascend/driver/version.info").returncode == 0, "it looks whole"
    ends(box.run("./paddock status"), 4, "an undo was begun in host/driver")
    ends(box.provision(f"{ONLY} --dry-run"), 0, "its removal was begun")
    ends(box.provision(f"{ONLY} --yes"), 0, SAID)
    assert box.run("ls /usr/local/dcmi").stdout != ""
    assert parts(box) == ["driver", "remove", "driver"]
    ends(box.provision(ONLY), 0, "nothing to do")


def test_an_uninstaller_that_goes_on_is_let_finish_and_not_done_twice(box: Bare) -> None:
    """It takes longer than the next undo waits, then less."""
    killed(box, 13)
    ends(box.provision(UNDO), 9, "host/driver", "still at work")
    ends(box.provision(UNDO), 0, SAID)
    assert parts(box) == ["driver", "remove", "driver", "remove"]
    assert box.run("ls /usr/local/Ascend/driver").returncode != 0
    assert box.run("id HwHiAiUser").returncode != 0
    done = box.provision(UNDO)
    ends(done, 0, "nothing to undo")
    assert SAID not in done.stdout + done.stderr
