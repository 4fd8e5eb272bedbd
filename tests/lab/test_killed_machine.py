"""The tool is killed while the system's package manager works, and the next run ends well."""

from __future__ import annotations

import subprocess
import time

import pytest

from tests.lab.machine import Machine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
COMPILER = "./paddock provision --target loopback --only host/toolchain --yes"
TOOL = "kill -9 $(cat /run/tool.pid)"
# What a run has started carries its name in the environment.
EVERYTHING = f"""
set -e
{TOOL}
for process in /proc/[0-9]*; do
    grep -qs PADDOCK_RUN= "$process/environ" && kill -9 "${{process#/proc/}}"
done
true
"""
UNPACKING = "grep -qs -e --unpac[k] /proc/[0-9]*/cmdline"  # dpkg, at the bidding of apt-get


@pytest.mark.parametrize("kill", [EVERYTHING, TOOL], ids=["everything", "the tool"])
def test_killed_in_the_middle_of_an_installation(machine: Machine, kill: str) -> None:
    """The second run meets a broken dpkg, and leaves an apt-get at work when it is killed."""
    script = f"echo $$ >/run/tool.pid; exec {COMPILER}"
    with subprocess.Popen(machine.command(script, 600, "root")) as run:
        while machine.run(UNPACKING).returncode:
            assert run.poll() is None, "it has ended before dpkg was seen at work"
            time.sleep(0.05)
        assert machine.run(kill).returncode == 0
        assert run.wait(60) == 137


def test_the_next_run_ends_well(machine: Machine) -> None:
    done = machine.run(COMPILER, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert machine.run("g++ --version").returncode == 0
    assert machine.run("dpkg --audit").stdout == ""
    again = machine.run(COMPILER)
    assert (again.returncode, "nothing to do" in again.stdout) == (0, True), again.stdout
