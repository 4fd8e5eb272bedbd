"""Wheels built by `provision --in container` in that very container, from a clone on this machine.

The sources are the small tree, the vendor's SDK in the image is a stand-in; Paddle is the real one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from provision.paths import IMAGES
from tests.conftest import run_cli
from tests.lab.machine import LABEL
from tests.lab.vendor.bare import bare_image
from tests.recipes.upstream import ascend, git, upstream
from tests.vendor.test_built_wheels import HEAD, PADDLE, STEPS, done, part

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
RELEASE = "3.0.0"  # that of the boxes, whose Python it is installed for by other tests too
SDK = "/usr/local/Ascend"
AFTER = 'after = ["host/toolkit", "host/kernels", "host/nnal"]\n'
ASK = """
import importlib.metadata, paddlenlp_ops
print(importlib.metadata.version("paddle-custom-npu"), paddlenlp_ops.answer)
"""
Ended = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clone, and a stack with the shipped steps that build."""
    folder = tmp_path_factory.mktemp("a 家")
    upstream(folder)
    shipped = (IMAGES / "ascend910b/stack.toml").read_text("utf-8") + "\n"
    steps = "".join(part(shipped, f'[[steps]]\nname = "{name}"') for name in STEPS)
    assert AFTER in steps
    head = HEAD.replace("SETTINGS", "/usr/local/set_env.sh").replace(PADDLE, RELEASE)
    text = head + part(shipped, "[packages.plugin]") + steps.replace(AFTER, "")
    locks = folder / "stack/locks" / RELEASE
    locks.mkdir(parents=True)
    (folder / "stack/stack.toml").write_text(text, "utf-8")
    shutil.copy(IMAGES / "loopback" / "locks" / RELEASE / "framework.txt", locks)
    return folder


@pytest.fixture(scope="module")
def flags(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The flags for a container of an image with the SDK; both are gone after the tests."""
    folder, name = tmp_path_factory.mktemp("image"), f"{LABEL}-{uuid.uuid4().hex[:12]}"
    tool, vendor = folder / "root/opt/paddock/home/cache/tool", folder / "root/usr/local"
    for one in (tool.parent, vendor):
        one.mkdir(parents=True)
    tool.symlink_to("/opt/paddock/cache/tool")
    ascend(vendor)
    variables = f"declare -a words=({SDK}); export ASCEND_CUSTOM_PATH=${{words[0]}}\n"
    (vendor / "set_env.sh").write_text(variables)
    (folder / "Dockerfile").write_text(f"FROM {bare_image()}\nCOPY root /\n")
    build = ["docker", "build", "--quiet", "--tag", f"{LABEL}:{name}", str(folder)]
    subprocess.run(build, env={**os.environ, "DOCKER_BUILDKIT": "0"}, check=True,
                   capture_output=True)  # fmt: skip
    given = ["--in", "container", "--image", f"{LABEL}:{name}", "--name", name, "--yes"]
    yield ["--stack", str(place / "stack/stack.toml"), *given]
    subprocess.run(["docker", "rm", "--force", name], check=False, capture_output=True)
    subprocess.run(["docker", "rmi", f"{LABEL}:{name}"], check=False, capture_output=True)


def sources(clone: Path) -> list[str]:
    return ["--plugin-source", str(clone), "--ops-source", str(clone)]


def good(place: Path, *words: str) -> Ended:
    ended = run_cli(place / "home", *words)
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    return ended


def test_the_plugin_and_its_operators_are_built_there(place: Path, flags: list[str]) -> None:
    """The headers of Python come, and what else the recipe calls."""
    ended = good(place, "provision", *flags, *sources(place / "PaddleCustomDevice"))
    assert [name for name in done(ended) if "/" in name] == [
        "container/start", "container/sources", "image/packages", "env/python", "framework/paddle",
        "plugin/build", "model/ops",
    ]  # fmt: skip
    said = good(place, "shell", "--target", "npu", "--command", f"python -c '{ASK}'")
    assert said.stdout == f"{RELEASE} 2\n"


def test_again_there_is_nothing_to_do(place: Path, flags: list[str]) -> None:
    """Without the sources, and from a clone of the same commit that lies elsewhere."""
    other = place / "elsewhere"
    git(place, "clone", "--quiet", str(place / "PaddleCustomDevice"), str(other))
    for given in ([], sources(other)):
        ended = good(place, "provision", *flags, *given)
        assert "nothing to do" in ended.stdout
        assert ("no sources given" in ended.stdout) == (not given)
        assert done(ended) == []
