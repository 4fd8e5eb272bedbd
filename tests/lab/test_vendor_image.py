"""The images of the vendors' targets, built from a bare Ubuntu: the vendor's stack is made inside.

The packages are the lab's, Paddle is the real one, and the plugin's wheel has no plugin in it. Each
target is built by one of Docker's builders, as two builds of each would take minutes. For the S60
it is the article's way, with TopsPlatform and four Debian packages; no index has Paddle's version
of the article, so that another takes its place.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from provision.paths import IMAGES
from tests.lab.boxes.image import UBUNTU
from tests.lab.machine import CERTIFICATES, LABEL, base_image
from tests.lab.vendor import ascend, enflame, wheels
from tests.render.building import build, docker, path_of, tidy

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
BUILDERS = {"s60": "buildkit", "ascend910b": "classic"}
SECRET = f"# a mark of the bundle: {uuid.uuid4()}\n"
# What the lab's installers say in their heads, and no other file does.
PACKAGE = b"generated using Makeself"


@dataclass(frozen=True)
class Built:
    """An image, and how to build it again."""

    target: str
    tag: str
    flags: tuple[str, ...]
    home: Path
    bundle: Path
    deps: Path

    def build(self) -> subprocess.CompletedProcess[str]:
        """Run the command."""
        path = path_of(BUILDERS[self.target])
        return build(self.home, *self.flags, bundle=self.bundle, PATH=path)

    def run(self, script: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Run a script of the shell in a container of the image."""
        return docker("run", "--rm", "--init", *options, self.tag, "sh", "-c", script)


def packages(target: str, folder: Path) -> None:
    """What `image` needs for this target."""
    if target == "s60":
        enflame.platform(folder)
        wheels.plugin(folder, "gcu")
    else:
        ascend.write(folder)
        wheels.plugin(folder, "npu")


@pytest.fixture(scope="module", params=BUILDERS)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Built]:
    """The image of a target. The base has Python 3.10, and neither OpenMP nor a vendor's stack."""
    target, base = str(request.param), base_image(UBUNTU)
    home, deps = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("deps")
    packages(target, deps)
    bundle = home / "bundle.pem"
    bundle.write_text(CERTIFICATES.read_text("utf-8") + SECRET)
    tag = f"{LABEL}:image-{uuid.uuid4().hex[:8]}"
    shutil.copytree(IMAGES / target, home / target)
    _adapted(home / target / "stack.toml")
    flags = ("--stack", str(home / target / "stack.toml"), "--base", base, "--image", tag,
             "--deps", str(deps), "--builder", BUILDERS[target])  # fmt: skip
    one = Built(target, tag, flags, home, bundle, deps)
    done = one.build()
    try:
        assert done.returncode == 0, done.stdout + done.stderr[-6000:]
        yield one
    finally:
        tidy(tag, done.stderr)


def _adapted(file: Path) -> None:
    """The stack without PaddleNLP and the weights, which take a minute to come; and for the S60
    with the article's pins of what Enflame hands out."""
    head, *steps = file.read_text("utf-8").split("[[steps]]")
    kept = [one for one in steps if 'name = "model/' not in one]
    assert len(kept) <= len(steps) - 3
    rider, platform = '"1.2.0.301", topsrider = "3.2.109", tops = "1.2.0.301"', enflame.PLATFORM
    assert (rider in head) == (file.parent.name == "s60")
    head = head.replace(rider, f'"1.0.5.1", platform = "{platform}", tops = "{platform}"')
    file.write_text("[[steps]]".join([head, *kept]), "utf-8")


def test_it_says_what_it_is(built: Built) -> None:
    (found,) = json.loads(docker("image", "inspect", built.tag).stdout)
    labels = found["Config"]["Labels"]
    assert labels["org.opencontainers.image.version"] == "3.0.0"
    assert labels["paddock.pin.plugin"] == "3.0.0"
    assert len(labels["paddock.lock.sha256"]) == 64
    assert found["Config"]["User"] == ""  # and the Dockerfile says why


STACK = {
    "s60": "dpkg-query -W -f '${db:Status-Status} ' topsfactor tops-sdk eccl topsaten",
    "ascend910b": "cd $ASCEND_TOOLKIT_HOME && cat */ascend_toolkit_install.info"
    " | sed -n 's/^version=//p'",
}
SHOWN = {"s60": "installed installed installed installed ", "ascend910b": "8.0.0\n"}


def test_the_stack_and_paddle_are_in_it_and_work(built: Built) -> None:
    done = built.run(STACK[built.target])
    assert done.stdout == SHOWN[built.target], done.stderr
    assert built.run("dpkg --audit").stdout == ""
    paddle = built.run("python -c 'import paddle; print(paddle.__version__)'")
    assert paddle.stdout == "3.0.0\n", paddle.stderr
    folder = built.run('ls "$CUSTOM_DEVICE_ROOT"')
    assert folder.stdout.split()[0] in ("gcu", "npu"), folder.stderr


def test_the_system_is_as_it_was_but_for_that(built: Built) -> None:
    """Owners and rights have come along, and no compiler has."""
    script = "stat -c '%U %a' /tmp /usr/bin/passwd /var/cache/apt/archives/partial"
    assert built.run(script).stdout == "root 1777\nroot 4755\n_apt 700\n"
    left = (
        "/run/secrets /root/.cache/pip /opt/paddock/packages /opt/paddock/home/cache/uv /tmp/home"
    )
    look = f"command -v g++ gcc cc make cmake; find {left} -type f; env | grep UV_"
    assert built.run(look).stdout == ""


def test_no_layer_holds_a_secret_or_a_package(built: Built) -> None:
    """Not even one that a later layer has removed: all bytes of all layers are looked through."""
    assert "a mark of the bundle" not in docker("history", "--no-trunc", built.tag).stdout
    wanted, rest = (SECRET.encode(), PACKAGE), b""
    with subprocess.Popen(["docker", "save", built.tag], stdout=subprocess.PIPE) as saved:
        assert saved.stdout is not None
        while block := saved.stdout.read(1 << 22):
            assert not [one for one in wanted if one in rest + block]
            rest = block[-100:]
    assert saved.returncode == 0


def test_its_health_check_runs_and_tells(built: Built) -> None:
    """There is no card here, so it is not healthy; the log says so."""
    options = ("--detach", "--init", "--health-interval=1s", "--health-start-period=1s",
               "--health-retries=1", "--label", LABEL)  # fmt: skip
    name = docker("run", *options, built.tag, "sleep", "infinity").stdout.strip()
    try:
        until = time.monotonic() + 90
        while (health := _health(name))["Status"] == "starting":
            assert time.monotonic() < until, health
            time.sleep(0.5)
    finally:
        docker("rm", "--force", name)
    assert health["Status"] == "unhealthy"
    assert "[accelerator-count]" in health["Log"][0]["Output"]
    assert "[cann-environment]" not in health["Log"][0]["Output"]


def _health(name: str) -> dict[str, Any]:
    inspected = docker("inspect", "--format", "{{json .State.Health}}", name)
    found: dict[str, Any] = json.loads(inspected.stdout)
    return found


def test_a_second_build_does_nothing_anew(built: Built) -> None:
    before = docker("image", "inspect", "--format", "{{.Id}}", built.tag).stdout
    done = built.build()
    assert done.returncode == 0, done.stderr[-4000:]
    after = docker("image", "inspect", "--format", "{{.Id}}", built.tag).stdout
    assert after == before, done.stderr[-20000:]  # which step was not taken from the cache


@pytest.mark.parametrize("built", ["s60"], indirect=True)
def test_a_base_without_the_stack_and_no_package_is_told(built: Built) -> None:
    """The builder's last lines, which the error shows, name the file and who hands it out."""
    for file in (*built.deps.glob("*.run"), *built.deps.glob("*.tar.gz")):
        file.unlink()
    done = built.build()
    assert done.returncode == 7
    assert "developer-enflame@" in done.stderr
    assert ".run" in done.stderr
