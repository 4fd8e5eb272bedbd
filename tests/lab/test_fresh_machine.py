"""The first command of the README on a machine that has Python 3 and git, and no compiler."""

from __future__ import annotations

import json

import pytest

from tests.lab.machine import Machine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
PROVISION = "./paddock provision --target loopback"
MINUTES = 60.0


def test_the_machine_is_bare(machine: Machine) -> None:
    for program in ("cc", "g++", "gcc", "make", "cmake", "uv", "pip", "pip3"):
        assert machine.run(f"command -v {program}").returncode != 0, program
    assert "No module named ensurepip" in machine.run("python3 -m ensurepip --version").stderr


def test_without_consent_nothing_is_installed(machine: Machine) -> None:
    """No terminal and no `--yes`: the plan would change the host, so it stops before it does."""
    done = machine.run_online(PROVISION, timeout=8 * MINUTES)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "--yes" in done.stderr
    assert machine.run("command -v g++").returncode != 0


def test_an_ordinary_user_is_told_what_to_type(machine: Machine) -> None:
    """Only root may install a compiler: nothing is begun, and the exact command is shown."""
    assert machine.run("useradd --create-home someone").returncode == 0
    cache = {"UV_CACHE_DIR": "/home/someone/uv"}
    done = machine.run_online(f"{PROVISION} --yes", 8 * MINUTES, user="someone", **cache)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "sudo apt-get install g++" in done.stderr
    assert machine.run("ls /home/someone/.local/share/paddock").returncode != 0


def test_one_command_leads_to_a_verified_stack(machine: Machine) -> None:
    done = machine.run_online(f"{PROVISION} --yes", timeout=20 * MINUTES)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    lines = done.stdout.splitlines()
    for level in ("device", "ops", "model"):
        assert any(level in line and "passed" in line for line in lines), done.stdout[-4000:]
    assert "ppl" in done.stdout


def test_again_there_is_nothing_to_do(machine: Machine) -> None:
    done = machine.run(f"{PROVISION} --yes", timeout=2 * MINUTES)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing to do" in done.stdout


def test_the_wheels_are_named_with_their_tags(machine: Machine) -> None:
    done = machine.run("./paddock build-ops --backend loopback", timeout=10 * MINUTES)
    assert done.returncode == 0, done.stdout + done.stderr
    for wheel in ("paddle_custom_loopback-", "paddle_loopback_ops-"):
        assert wheel in done.stdout
    assert "tags py3-none-linux_x86_64" in done.stdout


def test_the_doctor_finds_it_healthy(machine: Machine) -> None:
    done = machine.run("./paddock doctor --json", timeout=3 * MINUTES)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["schema"].startswith("paddock/doctor/")
