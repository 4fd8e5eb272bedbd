"""A rendered script lets a vendor's installer finish after Ctrl-C, as a run of the tool does."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from provision import stack
from provision.forms.registry import FORMS
from provision.forms.wanted import Wanted
from provision.paths import IMAGES
from provision.vendor import deps

INSTALLER = """#!/bin/bash
[ "$1" != --check ] || exit 0
echo $$ > {folder}/began-{name}
for n in {{1..{tenths}}}; do sleep 0.1; echo "upgradePercentage: $n"; done
[ ! -e {folder}/fails ] || exit 5
echo Version=1 > {folder}/{name}.info
"""
SHELLS = [["dash"], pytest.param(["bash", "--posix"], marks=pytest.mark.slow)]


class Script:
    """The script of two installers, the second of which needs the first."""

    def __init__(self, folder: Path, shell: list[str]) -> None:
        self.folder, self.shell = folder, shell
        made = stack.load(IMAGES / "ascend910b" / "stack.toml")
        rows = {
            name: msgspec.structs.replace(made.packages[name], shows=f"{folder}/{name}.info",
                                          key="Version", pin="")
            for name in ("toolkit", "kernels")
        }  # fmt: skip
        steps = [
            msgspec.structs.replace(step, needs=(), after=(), upgrade_before=None)
            for step in made.steps if step.name in ("host/toolkit", "host/kernels")
        ]  # fmt: skip
        whole = msgspec.structs.replace(made, steps=steps, packages=rows)
        wanted = Wanted(whole, IMAGES / "ascend910b", made.default_release, home=folder / "home")
        self.file = folder / "script.sh"
        self.file.write_text(FORMS["script"](wanted))
        for name, tenths in (("toolkit", 12), ("kernels", 1)):
            file = folder / "deps" / (deps.wanted(rows[name], wanted.context) or "")
            file.parent.mkdir(exist_ok=True)
            file.write_text(INSTALLER.format(folder=folder, name=name, tenths=tenths))

    def start(self) -> subprocess.Popen[str]:
        """Start it in a group of its own, as a shell at a terminal does."""
        variables = {**os.environ, "DEPS": str(self.folder / "deps"), "UV": "uv"}
        return subprocess.Popen(
            [*self.shell, str(self.file)], env=variables, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def interrupted(self, *numbers: signal.Signals, apart: float = 2.1) -> tuple[int, str]:
        """Run it, and send signals to its group, as a terminal does; its status and its words."""
        with self.start() as process:
            while not (self.folder / "began-toolkit").exists() and process.poll() is None:
                time.sleep(0.02)
            for count, number in enumerate(numbers):
                time.sleep(apart if count else 0.1)
                if process.poll() is None:
                    os.killpg(process.pid, number)
            out, _ = process.communicate(timeout=60)
        return process.returncode, out

    def is_there(self, name: str) -> bool:
        return (self.folder / name).exists()


@pytest.fixture(params=SHELLS, ids=lambda shell: shell[0])
def script(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Script]:
    """The script for a shell, and nothing left at work after."""
    made = Script(tmp_path, request.param)
    yield made
    needle = f"{tmp_path}/".encode()
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if needle in _read(path)]
    assert left == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_the_first_lets_it_finish_and_starts_nothing_else(script: Script) -> None:
    status, out = script.interrupted(signal.SIGINT)
    assert status == 130, out
    assert script.is_there("toolkit.info") and not script.is_there("began-kernels")
    assert "waiting for host/toolkit (last output 0 s ago)" in out.replace("1 s ago", "0 s ago")
    assert "second Ctrl-C" in out
    assert "upgradePercentage: 12" in out and "ended with 0" in out
    with script.start() as process:
        again, _ = process.communicate(timeout=60)
    assert "= host/toolkit" in again and "+ host/kernels" in again
    assert script.is_there("kernels.info")


@pytest.mark.slow
def test_the_second_ends_it(script: Script) -> None:
    for file in (script.folder / "deps").iterdir():
        file.write_text(file.read_text().replace("sleep 0.1", "sleep 20"))
    began = time.monotonic()
    status, out = script.interrupted(signal.SIGINT, signal.SIGINT)
    assert status == 130 and time.monotonic() - began < 15, out
    assert "ended although" in out and not script.is_there("toolkit.info")
    assert not script.is_there("began-kernels")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("numbers", "apart"),
    [((signal.SIGTERM, signal.SIGINT), 0.2), ((signal.SIGHUP, signal.SIGHUP), 0.3)],
    ids=["at once", "a closed terminal"],
)
def test_two_that_are_one_wish_end_nothing(
    script: Script, numbers: tuple[signal.Signals, ...], apart: float
) -> None:
    status, out = script.interrupted(*numbers, apart=apart)
    assert status == 130 and script.is_there("toolkit.info"), out
    assert out.count("waiting for") == 1


@pytest.mark.slow
def test_how_it_failed_is_told(script: Script) -> None:
    (script.folder / "fails").touch()
    status, out = script.interrupted(signal.SIGINT)
    assert status == 130 and "ended with 5" in out
    (script.folder / "began-toolkit").unlink()
    status, out = script.interrupted()
    assert status == 5 and not script.is_there("began-kernels"), out
