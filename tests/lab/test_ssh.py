"""A machine examined from here, by the line of the README and a real sshd on it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from provision.paths import ROOT
from tests.conftest import variables
from tests.lab.boxes.box import checkout_mount, recipe, run_in
from tests.lab.boxes.image import vendor_image, with_engine
from tests.lab.machine import Machine, running
from tests.lab.needs import needs

pytestmark = pytest.mark.slow
VENDOR, VARIANT = "s60", "gcu-lost"
HOST = "lab-machine"
# The machine has the tool as a command, and its shell has a language that spells no path of it.
_SERVE = """
set -e
mkdir -p -m 700 /run/sshd /root/.ssh
cat > /root/.ssh/authorized_keys <<'END'
{key}END
ln -s '{checkout}/paddock' /usr/local/bin/paddock
/usr/sbin/sshd
"""
_CONFIG = """
Host *
    HostName 127.0.0.1
    User root
    IdentityFile {folder}/key
    UserKnownHostsFile {folder}/known
    BatchMode yes
Host {host}
    Port {port}
Host nowhere
    Port 1
"""


@dataclass(frozen=True)
class Remote:
    """A machine that is reached as `lab-machine`; `folder` has programs for PATH."""

    machine: Machine
    folder: Path

    def pipeline(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a line of bash as somebody here would."""
        own = {"PATH": f"{self.folder}:{os.environ['PATH']}", "LC_ALL": "C"}
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", line], env=variables(self.folder / "home") | own,
            capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip


def _program(file: Path, command: str) -> None:
    file.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    file.chmod(0o755)


def _out(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def remote(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """A machine with eight cards, one of which is lost, and its sshd on a port of loopback."""
    needs(shutil.which("ssh") is not None, "ssh (Debian: openssh-client)")
    folder = tmp_path_factory.mktemp("here")
    _out("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "key"))
    image = with_engine(f"{VENDOR}-ssh", vendor_image(VENDOR), "openssh-server")
    with tempfile.TemporaryDirectory(prefix="paddock-lab-") as scratch:
        made = recipe(VENDOR, VARIANT, Path(scratch), checkout_mount(clone))
        with running(image, *made.options, "--publish=127.0.0.1::22") as machine:
            key = (folder / "key.pub").read_text()
            run_in(machine, made.script + _SERVE.format(key=key, checkout=machine.checkout))
            port = _out("docker", "port", machine.name, "22").strip().rpartition(":")[2]
            host = machine.run("cat /etc/ssh/ssh_host_ed25519_key.pub").stdout
            (folder / "known").write_text(f"[127.0.0.1]:{port} {host}")
            (folder / "config").write_text(_CONFIG.format(folder=folder, host=HOST, port=port))
            _program(folder / "ssh", f"{shutil.which('ssh')} -F {folder}/config")
            _program(folder / "paddock", f"{sys.executable} {ROOT / 'tasks.py'}")
            yield Remote(machine, folder)


def line(host: str) -> str:
    """What the README says, for this host."""
    words = " ".join((ROOT / "README.md").read_text("utf-8").split())
    (found,) = set(re.findall(r"`(ssh HOST paddock [^`]+)`", words))
    return str(found).replace("HOST", host)


def told(document: str) -> tuple[str, list[tuple[Any, ...]]]:
    """The machine and what was found, in a report."""
    report = json.loads(document)
    found = [(one["id"], one["state"], one["case"]) for one in report["findings"]]
    return report["machine"], found


def test_it_is_examined_from_here_as_it_is_there(remote: Remote) -> None:
    shown = remote.pipeline(line(HOST))
    assert shown.returncode == 10, shown.stdout + shown.stderr
    assert "[accelerator-count]" in shown.stdout
    assert shown.stderr == ""
    from_here = told(remote.pipeline(f"{line(HOST)} --json").stdout)
    there = told(remote.machine.run("./paddock doctor --json").stdout)
    assert from_here == there
    assert from_here[0].startswith("7 x Enflame S60")


def test_a_machine_that_does_not_answer_is_no_healthy_one(remote: Remote) -> None:
    done = remote.pipeline(line("nowhere"))
    assert done.returncode not in (0, 10, 11, 12)
    assert "Connection refused" in done.stderr
    assert "- cannot be used as a snapshot: it is empty" in done.stderr
