"""An installer whose listener is gone, as after an out-of-memory kill of the tool, goes on."""

from __future__ import annotations

import subprocess
from pathlib import Path

from provision.render import render
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


def test_an_installer_goes_on_when_nobody_listens_any_more(make: Make, tmp_path: Path) -> None:
    context = make()
    assert context.deps
    name = deps.wanted(context.stack.packages["toolkit"], context) or ""
    (context.deps / name).write_text(INSTALLER.replace("WHOLE", str(tmp_path / "whole")))
    output = context.site.output("host/toolkit")
    output.parent.mkdir(parents=True)
    script = render(Vendor.template, Vendor().values(context.step("host/toolkit"), context))
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
