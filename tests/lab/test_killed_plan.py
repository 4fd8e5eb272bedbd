"""The plan of a vendor's machine, killed ten times on its way, ends as one that was left alone.

Each run takes up what the one before it was killed in, and is killed at the next point: early, as
the journal or an installer shows that a step is at work, or when it is done. Every other time all
that the run has started is killed with it, else what it started goes on for a while.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from provision import stack
from provision.paths import IMAGES
from tests.lab.test_ascend_install import ends, parts
from tests.lab.vendor import ascend, enflame, wheels
from tests.lab.vendor.bare import DEPS, Bare, bare

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
TARGETS = ("ascend910b", "s60")
# After how many seconds, at which new line of the journal, or upon an installer's start a run is
# killed. The steps run side by side, so that nobody knows which of them it will be.
POINTS: tuple[float | int | str, ...] = (0.3, 1, "calls", 3, "calls", 2, "calls", 4, 1, 2)
ALL = ('for p in /proc/[0-9]*; do grep -qs PADDOCK_RUN= "$p/environ" && kill -9 "${p#/proc/}";'
       " done")  # fmt: skip
# Runs the tool, and kills it as soon as SEEN holds; `had` are the lines that were there before.
KILLED = """
journal=/root/.local/state/paddock/TARGET/journal.jsonl calls=/var/lib/lab/calls
touch $calls; mkdir -p "${journal%/*}"; touch $journal
had=$(wc -l < FILE)
./paddock provision ARGUMENTS > /run/output 2>&1 &
until SEEN; do kill -0 $! 2>/dev/null || { cat /run/output; exit 1; }; sleep 0.02; done
kill -9 $!
MORE
true
"""
# All that a plan makes, by name, size, mode and owner, and what the systems know of it. uv notes in
# a file of its own when a wheel was made.
STATE = """
places="/usr/local/Ascend /usr/local/efsmi /opt/tops /etc/passwd /etc/group /home /lib/modules"
for place in $places /root/.local/share/paddock/envs; do
    find $place ! -name '*.pyc' ! -name uv_cache.json ! -type d -printf '%p %s %m %u\\n' 2>/dev/null
done | sort
dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\\n'
dpkg --audit
ls /sys/module
"""
WRITE: dict[str, Callable[[Path], object]] = {"ascend910b": ascend.write, "s60": enflame.rider}


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest) -> str:
    """A vendor's target."""
    return str(request.param)


@pytest.fixture
def packages(target: str, tmp_path: Path) -> Path:
    """What its plan wants; the plugin's wheel has no plugin in it."""
    WRITE[target](tmp_path)
    wheels.plugin(tmp_path, {"ascend910b": "npu", "s60": "gcu"}[target])
    return tmp_path


@pytest.fixture
def machines(target: str, clone: Path, packages: Path) -> Iterator[tuple[Bare, Bare]]:
    """Two bare machines with the packages, and a reboot that the driver will ask for."""
    with bare(target, clone) as one, bare(target, clone) as two:
        for box in (one, two):
            shutil.copytree(packages, box.deps, dirs_exist_ok=True)
            box.run("touch /var/lib/lab/needs-reboot")
        yield one, two


def arguments(target: str) -> str:
    """All steps, without the smoke tests that follow them: there is no plugin."""
    names = [step.name for step in stack.load(IMAGES / target / "stack.toml").steps]
    wanted = [name for name in names if not name.startswith("model/")]
    return f"--target {target} --deps {DEPS} --yes --only {','.join(wanted)}"


def killed(box: Bare, target: str, point: float | str, more: str) -> set[str]:
    """A run that is killed at a point; returns the steps that were at work."""
    file, seen = "$journal", f"sleep {point}"
    if not isinstance(point, float):
        file = "$calls" if isinstance(point, str) else "$journal"
        seen = f"[ $(wc -l < {file}) -ge $((had + {1 if isinstance(point, str) else point})) ]"
    values = {"TARGET": target, "FILE": file, "ARGUMENTS": arguments(target), "SEEN": seen,
              "MORE": more}  # fmt: skip
    script = KILLED
    for name, value in values.items():
        script = script.replace(name, value)
    done = box.run(script, 120)
    assert done.returncode == 0, f"{point}: it ended before: {done.stdout}"
    last = {entry["step"]: entry["event"] for entry in journal(box, target)}
    return {step for step, event in last.items() if event == "start"}


def journal(box: Bare, target: str) -> list[dict[str, str]]:
    """The whole lines of the journal."""
    shown = box.run(f"cat /root/.local/state/paddock/{target}/journal.jsonl").stdout
    return [json.loads(line) for line in shown.splitlines() if line.endswith("}")]


def finished(box: Bare, target: str) -> str:
    """Run the plan to its end, over the reboots that it asks for; returns what there is then."""
    done = box.provision(arguments(target), 300)
    for _ in range(2):
        if done.returncode == 4 and "rebooted" in done.stdout + done.stderr:
            box.reboot()
            done = box.provision(arguments(target), 300)
    ends(done, 0)
    ends(box.provision(arguments(target)), 0, "nothing to do")
    return box.run(STATE).stdout


def test_killed_at_ten_points_it_ends_as_if_left_alone(
    machines: tuple[Bare, Bare], target: str
) -> None:
    left_alone, box = machines
    expected = finished(left_alone, target)
    hit = set()
    for number, point in enumerate(POINTS):
        hit |= killed(box, target, point, ALL if number % 2 else "")
    assert finished(box, target) == expected
    assert len(POINTS) == 10
    assert len(hit) > 3, hit
    _nothing_done_was_done_again(box, target)
    assert set(parts(box)) == set(parts(left_alone))


def _nothing_done_was_done_again(box: Bare, target: str) -> None:
    """No step starts again after it was done, but for what a reboot does anew."""
    entries = journal(box, target)
    done: set[str] = set()
    for entry in entries:
        if entry["event"] == "start":
            assert entry["step"] not in done, entry
        if entry["event"] == "done" and entry["step"] != "host/loaded":
            done.add(entry["step"])
    starts = [entry["step"] for entry in entries if entry["event"] == "start"]
    for part in parts(box):
        assert parts(box).count(part) <= starts.count(f"host/{part}")
