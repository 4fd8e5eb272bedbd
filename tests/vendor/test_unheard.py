"""An installer whose listener is gone, as after an out-of-memory kill of the tool, goes on.

One that leaves something in the background has ended all the same.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from provision.render import render
from provision.steps.base import Context
from provision.steps.vendor import Vendor
from provision.vendor import deps
from tests.vendor.conftest import Make

INSTALLER = """#!/bin/bash
[ "$1" != --check ] || exit 0
echo began
read -t 0.3 < <(sleep 1)
for n in {1..2000}; do echo "upgradePercentage: $n"; done
touch WHOLE
"""


def script_of(context: Context, installer: str) -> str:
    """The script of the step that runs this installer."""
    assert context.deps
    name = deps.wanted(context.stack.packages["toolkit"], context) or ""
    (context.deps / name).write_text(installer)
    context.site.output("host/toolkit").parent.mkdir(parents=True)
    return render(Vendor.template, Vendor().values(context.step("host/toolkit"), context))


def test_an_installer_goes_on_when_nobody_listens_any_more(make: Make, tmp_path: Path) -> None:
    context = make()
    script = script_of(context, INSTALLER.replace("WHOLE", str(tmp_path / "whole")))
    output = context.site.output("host/toolkit")
    command = ["/bin/sh", "-euc", script]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout
        assert any(line == "began\n" for line in process.stdout)
        process.stdout.close()
        process.wait(20)
    assert (tmp_path / "whole").exists()
    assert "upgradePercentage: 2000" in output.read_text()


def test_a_daemon_that_it_starts_keeps_nobody_waiting(make: Make, tmp_path: Path) -> None:
    daemon = f"setsid sh -c 'echo $$ > {tmp_path}/daemon; exec sleep 60' &"
    end = 'read -t 0.2 < <(sleep 1)\nprintf "all is well"\n'
    script = script_of(make(), f'#!/bin/bash\n[ "$1" != --check ] || exit 0\n{daemon}\n{end}')
    began = time.monotonic()
    done = subprocess.run(["/bin/sh", "-euc", script], capture_output=True, text=True, check=False)
    subprocess.run(["kill", (tmp_path / "daemon").read_text().strip()], check=True)
    assert (done.returncode, done.stdout) == (0, "all is well"), done.stderr
    assert time.monotonic() - began < 30
