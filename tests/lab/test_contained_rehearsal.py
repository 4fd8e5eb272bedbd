"""`provision --rehearse --in container` of the 910B: a whole run over the reboot of its machine.

The driver goes onto the machine, all else into a container that starts from an image of the
machine's registry. The tests are steps of one story, in their order.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator

import pytest

from tests.conftest import run_cli, shared_home
from tests.lab.test_ascend_install import ends, parts
from tests.lab.vendor.engined import BASE, Engined

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
TARGET, NAME = "ascend910b", "my-npu"
MACHINE = ("--target", "npu", "--variant", "engine")
STAND_IN = "on a stand-in in host memory, not on a card"
NODES = ["/dev/davinci0", "/dev/davinci1", "/dev/davinci_manager", "/dev/devmm_svm",
         "/dev/hisi_hdc"]  # fmt: skip


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the tool with a home in which its development environment is kept."""
    return run_cli(shared_home("readme"), *words)


def rehearse(*flags: str) -> subprocess.CompletedProcess[str]:
    """Rehearse in a container of two cards with these flags."""
    place = ("--in", "container", "--cards", "0-1", "--name", NAME)
    return run("provision", "--target", "npu", "--rehearse", *place, *flags)


@pytest.fixture(scope="module")
def machine() -> Iterator[Engined]:
    """A machine that is kept, with an engine."""
    ends(run("lab", "up", *MACHINE), 0, "a simulated machine runs", "--in container")
    names = re.findall(rf"{TARGET}, engine \(container (\S+)\)", run("lab", "list").stdout)
    yield Engined(names[0])
    ends(run("lab", "down", *MACHINE), 0, f"removed: {names[0]}")


def test_a_dry_run_tells_the_plan_and_makes_nothing(machine: Engined) -> None:
    ended = rehearse("--dry-run", "--privileged")
    ends(ended, 0, "rehearsal of ascend910b", NAME, BASE, "host/driver", "whatever root may",
         "host/toolkit")  # fmt: skip
    assert parts(machine) == []
    assert machine.docker("ps", "--all", "--quiet") == ""


def test_the_whole_plan_leads_over_a_reboot_to_passed_levels(machine: Engined) -> None:
    ended = rehearse("--yes")
    ends(ended, 0, "has to be rebooted", "simulated machine is rebooted", "+ container/start")
    lines = [line.strip() for line in ended.stdout.splitlines()]
    assert lines[0].startswith(f"rehearsal of {TARGET} on the simulated machine {machine.name}")
    told = next(n for n, line in enumerate(lines) if line.startswith(STAND_IN))
    levels = [n for n, line in enumerate(lines) if re.match(r"(device|ops|model) .* passed ", line)]
    assert len(levels) == 3
    assert told < levels[0]
    assert "npu:0: ppl" in lines[levels[2]]
    assert "nothing of it has run on a card" in ended.stdout
    assert "paddlenlp left out" in ended.stdout  # where Paddle relies on the vendor's own kernels
    assert parts(machine) == ["driver", "firmware"]  # CANN is the container's


def test_after_a_power_cut_there_is_nothing_to_do(machine: Engined) -> None:
    """The driver takes the cards again, and the container, which has stopped, gets them."""
    subprocess.run(["docker", "kill", machine.name], check=True, capture_output=True)
    told = json.loads(rehearse("--json").stdout)
    assert next(iter(told)) == "stand_in"
    assert told["stand_in"].startswith(STAND_IN)
    assert (told["changed"], told["smoke"], told["container"]) == (False, None, NAME)
    assert told["image"] == BASE
    assert told["digest"].startswith("sha256:")
    (shown,) = json.loads(machine.run("./paddock status --json").stdout)["containers"]
    assert (shown["state"], shown["devices"]) == ("running", NODES)


def test_a_shell_in_it_has_the_device_and_what_paddlenlp_imports(machine: Engined) -> None:
    """Of some of its requirements only old versions do."""
    script = "import paddle; from paddlenlp.transformers import LlamaForCausalLM as L; " \
             "print(paddle.device.get_all_custom_device_type(), L.__name__)"  # fmt: skip
    said = machine.run(f"""./paddock shell --target npu --command 'python -c "{script}"; exit 5'""",
                       300)  # fmt: skip
    assert said.returncode == 5, said.stderr
    assert said.stdout.splitlines()[-1:] == ["['npu'] LlamaForCausalLM"], said.stderr


def test_undone_it_is_gone(machine: Engined) -> None:
    ends(rehearse("--undo"), 0, NAME)
    assert machine.docker("ps", "--all", "--quiet") == ""


def test_a_privileged_container_has_all_nodes_of_the_machine(machine: Engined) -> None:
    machine.docker("run", "--detach", "--privileged", "--name", NAME, BASE, "sleep", "60")
    assert machine.docker("exec", NAME, "ls", "/dev/davinci7", *NODES).split() == [
        *NODES[:2], "/dev/davinci7", *NODES[2:]
    ]  # fmt: skip
