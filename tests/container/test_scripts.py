"""The scripts that run in a container are clean, whatever the names in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from provision.paths import TEMPLATES
from provision.render import render

HOSTILE = Path("/a b/家 'q\" $(x) `y`; z")
VALUES: dict[str, dict[str, object]] = {
    "inside": {"settings": [HOSTILE, "/b"], "marks": HOSTILE, "mark": "provision"},
    "end": {"variable": f"A={HOSTILE}", "file": HOSTILE, "patience": 9},
    "packages": {"packages": ["a", "b"]},
    "proof": dict.fromkeys(("tool", "target", "journal", "proof", "stand_in"), HOSTILE),
}


def test_each_template_is_known_here() -> None:
    found = {path.name.removesuffix(".sh.j2") for path in (TEMPLATES / "container").iterdir()}
    assert found == set(VALUES)


@pytest.mark.parametrize("name", VALUES)
def test_a_script_is_clean(name: str) -> None:
    program = Path(sys.executable).with_name("shellcheck")
    script = render(f"container/{name}.sh.j2", VALUES[name])
    command = [str(program), "--shell=sh", "--exclude=SC2016", "-"]  # of names in quotes
    done = subprocess.run(command, input=script.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()
