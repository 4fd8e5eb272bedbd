"""`provision --in container` of the small stack, on the engine of this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.engine.conftest import WHEELS
from tests.engine.world import STEPS, Result, World, kill, wheel
from tests.frame.index import Index, served
from tests.lab.boxes.image import with_tool
from tests.lab.machine import LABEL
from tests.lab.needs import succeeds

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
HANG = '_misbehave("hang" if Path("/run/hang").exists() else "", Path(wheel_directory))'
SECRET = "p4ss-w0rd"  # noqa: S105


@dataclass
class Contained:
    """A world whose small stack goes into a container of this name."""

    world: World
    image: str
    name: str

    def arguments(self, *more: str) -> list[str]:
        return ["--in", "container", "--image", self.image, "--name", self.name, *more]

    def run(self, *more: str, only: str = ",".join(STEPS), **variables: str) -> Result:
        return self.world.run(*self.arguments(*more), only=only, **variables)

    def good(self, *more: str, only: str = ",".join(STEPS), **variables: str) -> str:
        done = self.run(*more, only=only, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self, **variables: str) -> subprocess.Popen[str]:
        return self.world.start(*self.arguments(), **variables)

    def task(self, *words: str) -> Result:
        """Another task of the tool, in the same home."""
        return subprocess.run(
            [sys.executable, str(ROOT / "tasks.py"), *words], env=self.world.environment({}),
            capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def inside(self, script: str) -> str:
        """What a script of the shell says in the container."""
        command = ["docker", "exec", self.name, "sh", "-c", script]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def done(self) -> list[str]:
        """The steps that the journal in the container has as done, in their order."""
        lines = self.inside("cat /opt/paddock/home/state/small/journal.jsonl").splitlines()
        return [e["step"] for e in map(json.loads, lines) if e["event"] == "done"]

    def wait_for(self, script: str) -> None:
        """Wait until a condition holds in the container."""
        until = time.monotonic() + 60
        while self.inside(f"{script} && echo so") != "so\n":
            assert time.monotonic() < until
            time.sleep(0.05)


def docker(*arguments: str) -> str:
    """Run the client, which must succeed."""
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True)
    return done.stdout


BUILDING = "grep -qs hanging /opt/paddock/home/state/small/logs/*/lib-build.log"
AT_WORK = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c tasks.p[y]"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("wheels")
    with served([wheel(folder, name, version) for name, version in WHEELS]) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, index: Index) -> Iterator[Contained]:
    """A world without a container; its backend hangs while /run/hang is there."""
    world = World(tmp_path, index)
    backend = world.stack.parent / "source" / "backend.py"
    text = backend.read_text(encoding="utf-8")
    old = '_misbehave(os.environ.get("SMALL_BUILD", ""), Path(wheel_directory))'
    assert old in text
    backend.write_text(text.replace(old, HANG), encoding="utf-8")
    made = Contained(world, with_tool(), f"{LABEL}-{uuid.uuid4().hex[:12]}")
    try:
        yield made
    finally:
        subprocess.run(["docker", "rm", "-f", made.name], check=False, capture_output=True)


def hang(place: Contained) -> None:
    """A container with a first step done, where the build will hang."""
    place.good(only="env/python")
    place.inside("touch /run/hang")


def test_all_steps_then_none_and_what_there_is_to_type(place: Contained) -> None:
    """The index is on loopback, so the container has the host's network, and the plan says so."""
    first = place.good()
    assert [line.split()[1] for line in first.splitlines() if line.startswith("  + ")] == [
        "container/start", *place.done()
    ]  # fmt: skip
    assert set(place.done()) == set(STEPS)
    assert "recorded" in first and "PADDOCK_INDEX_URL names an address" in first
    again = place.good()
    assert "nothing to do" in again and "  > " not in again
    told = json.loads(place.run("--json").stdout)
    assert (told["place"], told["container"], told["changed"]) == ("container", place.name, False)
    shown = json.loads(place.task("status", "--json").stdout)["containers"]
    assert [(one["container"], one["state"], one["digest"]) for one in shown] == [
        (place.name, "running", told["digest"])
    ]
    said = place.task("shell", "--target", "small", "--command", "python -c 'import gamma'; exit 5")
    assert (said.returncode, said.stderr) == (5, "")
    assert place.task("down", "--target", "small").returncode == 0
    assert not succeeds("docker", "container", "inspect", place.name)
    assert "there is no container" in place.task("down", "--target", "loopback").stdout


def test_no_secret_is_shown_by_the_engine_or_kept_in_a_log(place: Contained, index: Index) -> None:
    address = index.url.replace("://", f"://someone:{SECRET}@")
    done = place.run(PADDOCK_INDEX_URL=address, FTP_PROXY=f"http://u:{SECRET}@127.0.0.1:9")
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert SECRET not in docker("inspect", place.name)
    assert SECRET not in place.inside("cat /proc/1/environ; env")
    logs = [path.read_text("utf-8") for path in place.world.state.rglob("*.log")]
    assert logs and SECRET not in "".join(logs)


def test_cancelled_it_leaves_nothing_at_work_and_goes_on(place: Contained) -> None:
    hang(place)
    process = place.start()
    place.wait_for(BUILDING)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert place.inside(AT_WORK) == "0\n"
    assert "interrupted" in place.inside("cat /opt/paddock/home/state/small/journal.jsonl")
    place.inside("rm /run/hang")
    before = place.done()
    place.good()
    assert "lib/build" in place.done()[len(before) :] and "env/python" not in before[1:]


def test_killed_it_ends_what_goes_on_inside_and_resumes(place: Contained) -> None:
    hang(place)
    process = place.start()
    place.wait_for(BUILDING)
    kill(process)
    assert place.inside(AT_WORK) != "0\n"
    place.inside("rm /run/hang")
    done = place.good()
    assert "ended" in done
    assert sorted(place.done()) == sorted(STEPS)  # each of them once


def test_the_container_ends_half_way_and_the_next_run_goes_on(place: Contained) -> None:
    """It was started anew; then it does not run at all when the next run begins."""
    hang(place)
    process = place.start()
    place.wait_for(BUILDING)
    docker("restart", "--time", "1", place.name)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 7, errors
    assert place.name in errors and "goes on" in errors
    place.inside("rm -f /run/hang")
    docker("kill", place.name)
    assert "container/start" in place.good()
    assert sorted(place.done()) == sorted(STEPS)


def test_a_step_that_fails_inside_is_told_with_its_own_status(place: Contained) -> None:
    place.world.pin("framework", "alpha-1.0", wrong=True)
    done = place.run()
    assert done.returncode == 6, done.stdout + done.stderr
    assert place.name in done.stderr
    told = json.loads(place.run("--json").stdout)
    assert (told["schema"], told["code"], told["status"]) == ("paddock/error/1", "wrong-hash", 6)


def test_an_image_without_python(place: Contained, tmp_path: Path) -> None:
    tag = f"{LABEL}:bare-{uuid.uuid4().hex[:8]}"
    dockerfile = f"FROM {place.image}\nRUN rm -f /usr/bin/python3*; rm -rf /opt/paddock\n"
    subprocess.run(["docker", "build", "-q", "-t", tag, "-"], input=dockerfile.encode(),
                   env={**os.environ, "DOCKER_BUILDKIT": "0"}, check=True,
                   capture_output=True)  # fmt: skip
    try:
        place.image = tag
        done = place.run()
        assert done.returncode == 7, done.stderr
        assert "Install Python 3.10" in done.stderr
    finally:
        subprocess.run(["docker", "rm", "-f", place.name], check=False, capture_output=True)
        subprocess.run(["docker", "rmi", "-f", tag], check=False, capture_output=True)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [("--cards 0", "--in container"), ("--in box", "container"),
     ("--in container --name -x", "--name"), ("--in container --image A", "--image"),
     ("--in container --cards 3-1", "--cards"), ("--in container --only no/step", "no/step"),
     ("--in container --index-url file:///tmp", "--index-url"),
     ("--volume /tmp", "--in container"), ("--in container --volume /tmp:/opt", "/opt/paddock"),
     ("--in container --volume /tmp --volume none", "none")],
)  # fmt: skip
def test_a_wrong_choice_is_refused_before_the_engine_is_asked(
    tmp_path: Path, index: Index, arguments: str, word: str
) -> None:
    world = World(tmp_path, index)
    base = [] if "--image" in arguments or "--in" not in arguments else ["--image", "a:1"]
    done = world.run(*arguments.split(), *base, only="", DOCKER_HOST="unix:///nonexistent")
    assert done.returncode == 2, done.stdout + done.stderr
    assert word in done.stderr


def test_without_the_card_nothing_is_made(place: Contained) -> None:
    """The host's part comes first, and this machine has no such card."""
    words = ["provision", "--target", "s60", "--in", "container", "--image", place.image]
    done = place.task(*words, "--name", place.name)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "PCI" in done.stderr
    assert not succeeds("docker", "container", "inspect", place.name)


def test_a_dry_run_asks_no_engine(tmp_path: Path, index: Index) -> None:
    world = World(tmp_path, index)
    flags = ["--in", "container", "--image", "a:1", "--privileged", "--dry-run"]
    flags += ["--volume", f"{tmp_path}:/work:ro", "--volume", "/home"]
    shown = world.run(*flags, DOCKER_HOST="unix:///nonexistent")
    assert shown.returncode == 0, shown.stderr
    assert "privileged" in shown.stdout and "lib/install" in shown.stdout
    assert f"{tmp_path}:/work:ro, /home:/home" in shown.stdout
    told = json.loads(world.run(*flags, "--json", DOCKER_HOST="unix:///nonexistent").stdout)
    assert told["schema"] == "paddock/container-plan/1"
    assert (told["steps"], told["privileged"], told["network"]) == (list(STEPS), True, "host")
    assert told["volumes"] == ["/home:/home", f"{tmp_path}:/work:ro"]
    assert not (world.home / "state" / "small").exists()
