"""The real chain in a container of a bare Debian: compiler, Paddle, plugin, proof on the device.

What a container does not change is left out, to save minutes: the operators, PaddleNLP, the model.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from provision.paths import IMAGES
from tests.conftest import run_cli
from tests.lab.machine import LABEL, base_image

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
LEFT_OUT = ("ops/build", "framework/paddlenlp", "model/reader", "model/weights")


@pytest.fixture(scope="module")
def stack_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The target's stack without what is left out."""
    folder = tmp_path_factory.mktemp("stack") / "loopback"
    shutil.copytree(IMAGES / "loopback", folder)
    file = folder / "stack.toml"
    head, *steps = file.read_text("utf-8").split("[[steps]]")
    kept = [step for step in steps if not any(f'name = "{name}"' in step for name in LEFT_OUT)]
    assert len(steps) - len(kept) == len(LEFT_OUT)
    text = "[[steps]]".join([head, *kept]).replace(', "ops/build"', "")
    file.write_text(text, encoding="utf-8")
    smoke = folder / "smoke.toml"
    only = re.sub(r"(?m)^proof = .*$", 'proof = ["device"]', smoke.read_text("utf-8"))
    smoke.write_text(only, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def flags(stack_file: Path) -> Iterator[list[str]]:
    """The flags of the container, which is gone after the tests."""
    name = f"{LABEL}-{uuid.uuid4().hex[:12]}"
    yield ["--stack", str(stack_file), "--in", "container", "--image", base_image(), "--name", name]
    subprocess.run(["docker", "rm", "-f", name], check=False, capture_output=True)


def test_a_bare_container_becomes_a_proved_stack(home: Path, flags: list[str]) -> None:
    done = run_cli(home, "provision", *flags, timeout=1500)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    (level,) = [line for line in done.stdout.splitlines() if line.startswith("  device ")]
    assert "loopback:0" in level and "passed" in level
    assert "+ host/toolchain" in done.stdout and "+ image/packages" in done.stdout


def test_again_there_is_nothing_to_do(home: Path, flags: list[str]) -> None:
    done = run_cli(home, "provision", *flags)
    assert done.returncode == 0, done.stderr
    assert "nothing to do" in done.stdout, done.stdout


def test_a_shell_in_it_has_paddle_with_the_device(home: Path, flags: list[str]) -> None:
    assert flags
    script = "import paddle; print(paddle.device.get_all_custom_device_type())"
    done = run_cli(home, "shell", "--target", "loopback", "--command", f"python -c '{script}'")
    assert (done.returncode, done.stdout) == (0, "['loopback']\n"), done.stderr


def test_levels_that_fail_are_shown_and_the_next_run_tries_again(
    home: Path, flags: list[str], stack_file: Path
) -> None:
    """A level fails when its probe says nothing for longer than it may."""
    smoke = stack_file.with_name("smoke.toml")
    text = smoke.read_text("utf-8")
    smoke.write_text(re.sub(r"(?m)^device = \d.*$", "device = 0.01", text), "utf-8")
    for _ in range(2):
        done = run_cli(home, "provision", *flags)
        assert done.returncode == 8, done.stdout + done.stderr
        assert re.search(r"(?m)^  device .* FAILED ", done.stdout), done.stdout
        assert flags[-1] in done.stderr
