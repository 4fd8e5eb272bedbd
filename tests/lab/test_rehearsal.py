"""`lab` and `provision --rehearse` of the S60: from a bare machine to passed smoke levels, twice.

That of the 910B leads into a container: see test_contained_rehearsal.py.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, run_cli, shared_home, variables
from tests.lab.machine import Machine
from tests.lab.test_ascend_install import ends

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
TARGET, ALIAS = "s60", "gcu"
STAND_IN = "on a stand-in in host memory, not on a card"
ON_CARD = "nothing of it has run on a card"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the tool with a home in which its development environment is kept."""
    return run_cli(shared_home("readme"), *words)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """Its bare machine, which is up; gone after."""
    ends(run("lab", "up", "--target", TARGET), 0, "simulated: the cards")
    (name,) = re.findall(rf"{TARGET}, bare \(container (\S+)\)", run("lab", "list").stdout)
    yield Machine(name)
    ends(run("lab", "down", "--target", TARGET, "--variant", "bare"), 0, "removed")


def rehearse(*flags: str) -> subprocess.CompletedProcess[str]:
    """Rehearse with these flags."""
    return run("provision", "--target", TARGET, "--rehearse", *flags)


def test_up_twice_is_one_machine(machine: Machine) -> None:
    ends(run("lab", "up", "--target", ALIAS), 0, "runs already", machine.name)
    assert run("lab", "list").stdout.count(f"runs: {TARGET}") == 1


def test_the_whole_plan_leads_over_a_reboot_to_passed_levels(machine: Machine) -> None:
    done = rehearse("--yes")
    ends(done, 0, "simulated machine is rebooted", ON_CARD)
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[0].startswith(f"rehearsal of {TARGET} on the simulated machine")
    told = [n for n, line in enumerate(lines) if line.startswith(STAND_IN)]
    levels = [n for n, line in enumerate(lines) if re.match(r"(device|ops|model) .* passed ", line)]
    assert len(told) == 1
    assert len(levels) == 3
    assert told[0] < levels[0]
    assert f"{ALIAS}:0: ppl" in lines[levels[2]]
    assert "paddlenlp left out" not in done.stdout  # its Llama has run
    assert "ascend-toolkit/set_env.sh" not in done.stdout


def test_again_there_is_nothing_to_do(machine: Machine) -> None:
    ends(run("lab", "reboot", "--target", TARGET), 0, machine.name)
    calls = machine.run("cat /var/lib/lab/calls").stdout
    again = rehearse()
    ends(again, 0, "nothing to do", ON_CARD)
    assert machine.run("cat /var/lib/lab/calls").stdout == calls
    document = json.loads(rehearse("--json").stdout)
    assert next(iter(document)) == "stand_in"
    assert document["stand_in"].startswith(STAND_IN)
    assert not document["changed"]


def test_the_doctor_there_names_the_stand_in(machine: Machine) -> None:
    done = machine.run("./paddock doctor --json", 120)
    findings = json.loads(done.stdout)["findings"]
    stated = {one["id"]: one["state"] for one in findings}
    assert [name for name, state in stated.items() if state == "error"] == []
    assert stated["plugin-stand-in"] == "warning"


def test_each_report_begins_with_the_stand_in(machine: Machine) -> None:
    smoke = f"./paddock smoke --target {TARGET}"
    document = json.loads(machine.run(f"{smoke} --level device --json", 300).stdout)
    assert next(iter(document)) == "stand_in"
    assert document["passed"]
    said = machine.run(f"echo {'word ' * 30} >/tmp/t; {smoke} --text /tmp/t --window 16", 300)
    assert said.stdout.startswith(STAND_IN)
    operators = machine.run(f"{smoke} --level ops", 300)
    ends(operators, 0, "not there, so not tested: ", "rms_norm_gcu (RMSNorm)")
    assert operators.stdout.strip().startswith(STAND_IN)
    assert "a call in ms" not in operators.stdout  # nothing is said of a stand-in's speed
    rows = machine.run('grep -h \'"smoke","event":"done"\' /root/.local/state/paddock/*/journal*')
    assert all(row.startswith(f'{{"stand_in":"{STAND_IN}') for row in rows.stdout.splitlines())


def test_a_plugin_that_tells_no_counts_is_judged_by_place_and_type(machine: Machine) -> None:
    """As the vendors' are: without our own functions, in the library and in the package."""
    folder = "/root/.local/share/paddock/envs/s60/lib/python3.10/site-packages/paddle_custom_device"
    script = f"cd {folder} && sed -i s/loopback_device_type/tattoo_device_types_/g *.so"
    ends(machine.run(f"{script} && echo 'def version(): return {{}}' > gcu/__init__.py"), 0)
    done = machine.run("./paddock smoke --target s60 --level device", 300)
    ends(done, 0, "passed", "not told by this plugin")
    assert "stand-in" not in done.stdout
    outside = machine.run("CUSTOM_DEVICE_ROOT=/tmp ./paddock smoke --target s60 --level device")
    assert "stand-in" not in outside.stdout


def test_for_a_container_another_machine_is_made_where_the_kept_one_has_no_engine(
    machine: Machine,
) -> None:
    done = rehearse("--in", "container", "--dry-run")
    ends(done, 0, f"{machine.name} has no container engine", "s60 in the container paddock-s60",
         "the simulated machine is removed", "--variant engine")  # fmt: skip
    assert "engine (container" not in run("lab", "list").stdout


def test_without_consent_nothing_is_begun_and_the_machine_goes() -> None:
    """Of the other target no machine is kept."""
    done = run("provision", "--target", "npu", "--rehearse")
    ends(done, 2, "--yes", "the simulated machine is removed")
    assert "rehearsal" not in run("lab", "list").stdout


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("provision", "--rehearse", "--target", "s60", "--release", "3.0"), 2, "nearest: 3.0.0"),
        (("provision", "--rehearse", "--target", "loopback"), 2, "ascend910b, s60"),
        (("provision", "--rehearse", "--target", "s61"), 2, "nearest: s60"),
        (("lab", "start"), 2, "up, list, reboot, down"),
        (("lab", "up", "--target", "s60", "--variant", "heathy"), 2, "nearest: healthy"),
        (("lab", "up"), 2, "ascend910b, s60"),
        (("lab", "reboot", "--target", "s60", "--variant", "healthy"), 2, "only bare and engine"),
    ],
)
def test_bad_input(words: tuple[str, ...], status: int, said: str) -> None:
    done = run(*words)
    ends(done, status, said)
    assert "Traceback" not in done.stdout + done.stderr


def test_an_interrupt_removes_the_machine(tmp_path: Path) -> None:
    words = ["provision", "--target", "npu", "--rehearse", "--yes"]
    argv = [sys.executable, str(ROOT / "tasks.py"), *words]
    with (tmp_path / "out").open("w") as out, subprocess.Popen(
        argv, env=variables(shared_home("readme")), stdout=out, stderr=out,
        stdin=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        while "> framework/paddle" not in (tmp_path / "out").read_text():
            assert process.poll() is None, (tmp_path / "out").read_text()
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130
    assert "rehearsal" not in run("lab", "list").stdout


def test_a_box_with_one_thing_wrong_is_for_rent_too() -> None:
    names = re.findall(r"^    (\S+)", run("lab", "list", "--target", "s60").stdout, re.MULTILINE)
    words = ("--target", "s60", "--variant", names[0])
    said = run("lab", "up", *words)
    ends(said, 0, "./paddock doctor")
    name = re.findall(r"' (paddock-lab-\S+) bash", said.stdout)[0]
    try:
        assert Machine(name).run("./paddock doctor", 60).returncode in (10, 11, 12)
    finally:
        ends(run("lab", "down", *words), 0, name)
