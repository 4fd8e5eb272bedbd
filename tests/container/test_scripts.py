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
    "lasting": {"expression": "s|^A=[^/]*/||p"},
    "packages": {
        "packages": ["a", "b"],
        "programs": ["c", "d"],
        "pythons": ["python3.9", "python3.10"],
    },
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


def test_only_what_is_not_there_is_installed(tmp_path: Path) -> None:
    """A program counts wherever it is from, the Python's headers where a package has the Python."""
    for name, script in {
        "dpkg-query": 'case "$4" in here|python3.9) printf installed ;; esac',
        "dpkg": ":",
        "apt-get": 'echo "$*"',
        "git": ":",
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)

    def said(packages: list[str], programs: list[str], *pythons: str) -> str:
        values = {"packages": packages, "programs": programs, "pythons": [*pythons]}
        script = render("container/packages.sh.j2", values)
        command = ["/bin/sh", "-euc", script]
        done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, check=True)
        return done.stdout.decode().rpartition("install ")[2].strip()

    assert said(["here"], ["git"], "python3.10") == ""
    assert (
        said(["here", "gone"], ["git", "none"], "python3.9", "python3.10")
        == "gone none python3.9-dev"
    )
    assert said([], []) == ""
