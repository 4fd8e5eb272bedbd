"""`provision --in container` of the S60 from end to end, on a bare machine that has an engine.

The driver goes onto the machine; the image comes from a registry; in the container the Tops stack,
the real Paddle and a stand-in for the plugin are installed and proved. The container is killed on
the way. What a container does not change is left out, to save a minute: PaddleNLP, and the levels
that need nothing more of it. The tests are steps of one story, in their order.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from provision.paths import IMAGES
from tests.lab.test_ascend_install import ends, parts
from tests.lab.vendor import deps
from tests.lab.vendor.engined import BASE, Engined, engined

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
TARGET, NAME = "s60", "paddock-s60"
COMMAND = (f"./paddock provision --stack /srv/deps/stack/{TARGET}/stack.toml --in container --yes "
           f"--image {BASE}")  # fmt: skip
WITH_DEPS = f"{COMMAND} --deps /srv/deps"
LEFT_OUT = re.compile(r'name = "model/(paddlenlp|ops)"')
JOURNAL = f"/opt/paddock/home/state/{TARGET}/journal.jsonl"
INSIDE = {"host/tops", "env/python", "framework/paddle", "model/reader", "model/weights",
          "plugin/install"}  # fmt: skip
STAND_IN = "on a stand-in in host memory, not on a card"


@pytest.fixture(scope="module")
def box() -> Iterator[Engined]:
    """The machine, with the vendor's packages in the folder that it sees."""
    with engined(TARGET) as machine:
        deps.fill(TARGET, machine.deps)
        write_stack(machine.deps / "stack" / TARGET)
        yield machine


def write_stack(folder: Path) -> None:
    """The target's own without what is left out."""
    shutil.copytree(IMAGES / TARGET, folder)
    file, smoke = folder / "stack.toml", folder / "smoke.toml"
    head, *steps = file.read_text("utf-8").split("[[steps]]")
    kept = [step for step in steps if not LEFT_OUT.search(step)]
    assert len(kept) < len(steps)
    file.write_text("[[steps]]".join([head, *kept]), "utf-8")
    levels = re.sub(r"(?m)^levels = .*$", 'levels = ["device", "model"]', smoke.read_text("utf-8"))
    smoke.write_text(levels, "utf-8")


def inside(box: Engined, script: str) -> str:
    """What a script says in the container; "" where there is none."""
    argv = ["docker", "exec", box.name, "docker", "exec", NAME, "sh", "-c", script]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


def done(box: Engined) -> list[str]:
    """The steps that were done in the container, in their order."""
    entries = map(json.loads, inside(box, f"cat {JOURNAL}").splitlines())
    return [entry["step"] for entry in entries if entry["event"] == "done"]


def test_without_the_drivers_package_nothing_is_made(box: Engined) -> None:
    ends(box.run(COMMAND), 4, "TopsRider_i3x", f"--target {TARGET} --in container --deps DIR")
    assert box.docker("ps", "--all", "--quiet") == ""


def test_the_container_is_killed_on_the_way(box: Engined) -> None:
    with subprocess.Popen(box.command(WITH_DEPS, 300, "root"), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as run:  # fmt: skip
        until = time.monotonic() + 120
        while "framework/paddle" not in inside(box, f"cat {JOURNAL}"):
            assert run.poll() is None, run.communicate()
            assert time.monotonic() < until
            time.sleep(0.2)
        box.docker("kill", NAME)
        said, errors = run.communicate(timeout=60)
    assert run.returncode == 7, said + errors
    assert NAME in errors
    assert "goes on" in errors
    assert parts(box) == ["driver"]  # the host has no Tops stack: that is the container's


def test_it_goes_on_to_the_package_that_is_missing(box: Engined) -> None:
    (wheel,) = box.deps.glob("*.whl")
    wheel.rename(away := box.deps.parent / wheel.name)
    ended = box.run(WITH_DEPS, 300)
    away.rename(wheel)
    ends(ended, 4, "+ container/start", "+ model/reader", wheel.name, "--deps /srv/deps")
    assert "/opt/paddock/packages" not in ended.stderr


def test_the_next_run_proves_the_stack(box: Engined) -> None:
    ended = box.run(WITH_DEPS, 300)
    ends(ended, 0, "+ plugin/install", STAND_IN)
    lines = [line.strip() for line in ended.stdout.splitlines()]
    levels = [line for line in lines if line.startswith(("device ", "model "))]
    assert len(levels) == 2
    assert all(" passed " in line and "gcu:0" in line for line in levels)
    first = next(n for n, line in enumerate(lines) if line.startswith(STAND_IN))
    assert first < lines.index(levels[0])
    assert set(done(box)) >= INSIDE
    assert len(done(box)) == len(set(done(box)))  # none was done twice
    assert parts(box) == ["driver"]


def test_again_there_is_nothing_to_do(box: Engined) -> None:
    """Also without the packages, which are no longer needed."""
    ends(box.run(COMMAND), 0, "nothing to do", STAND_IN)
    told = json.loads(box.run(f"{COMMAND} --json").stdout)
    assert (told["changed"], told["smoke"], told["container"]) == (False, None, NAME)
    assert next(iter(told)) == "stand_in"
    assert told["stand_in"].startswith(STAND_IN)


def test_the_container_has_the_card_and_the_person_a_shell(box: Engined) -> None:
    (shown,) = json.loads(box.run("./paddock status --json").stdout)["containers"]
    assert (shown["container"], shown["state"]) == (NAME, "running")
    assert shown["devices"] == ["/dev/gcu0", "/dev/gcuctl"]
    assert shown["image"] == BASE
    script = "python -c 'import paddle; print(paddle.device.get_all_custom_device_type())'; exit 5"
    said = box.run(f'./paddock shell --target {TARGET} --command "{script}"')
    assert (said.returncode, said.stdout) == (5, "['gcu']\n"), said.stderr


def test_undone_nothing_of_it_is_left_in_the_engine(box: Engined) -> None:
    ends(box.run(f"{COMMAND} --undo"), 0, NAME)
    assert box.docker("ps", "--all", "--quiet") == ""
    ends(box.run(f"./paddock down --target {TARGET}"), 0, "no container")
    assert box.run("efsmi").returncode == 0  # the driver is undone on the host, when asked
