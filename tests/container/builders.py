"""Where images are built: on this machine by its Docker, on one of its own by Podman and Buildah.

Each place has the image to start from: an Ubuntu with the tool's environment ready.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from provision.paths import ROOT
from tests.conftest import variables
from tests.container.image import for_builds, with_builders
from tests.lab.boxes.box import NESTED, run_in
from tests.lab.machine import running
from tests.render.building import path_of

DOCKER = ("buildkit", "classic")
_CGROUPS = "for folder in /sys/fs/cgroup/*; do mount -o remount,bind,rw $folder; done\n"
Result = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Place:
    """One builder at work: `before` are the words that bring a script of the shell to it.

    Its `folder` has the same path here and there.
    """

    kind: str
    before: tuple[str, ...]
    tool: str
    folder: Path
    base: str

    @property
    def home(self) -> Path:
        """PADDOCK_HOME."""
        return self.folder / "home"

    @property
    def engine(self) -> str:
        """What runs the images that are built; those of Buildah are Podman's, too."""
        return "docker" if self.kind in DOCKER else "podman"

    def argv(self, script: str) -> list[str]:
        """The command that runs a script."""
        return [*self.before, "sh", "-c", script]

    def run(self, script: str) -> Result:
        """Run a script to its end."""
        return subprocess.run(self.argv(script), capture_output=True, text=True, check=False,
                              env=self._variables(), timeout=120)  # fmt: skip

    def says(self, script: str) -> str:
        """What a script says, which must succeed."""
        done = self.run(script)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextlib.contextmanager
    def started(self, script: str) -> Iterator[subprocess.Popen[bytes]]:
        """A script at work, which is killed after."""
        with (self.folder / "said").open("wb") as file, subprocess.Popen(
            self.argv(f"echo $$ > {self.folder}/pid; {script}"), stdout=file, stderr=file,
            env=self._variables(),
        ) as process:  # fmt: skip
            try:
                yield process
            finally:
                self.kill("KILL")

    def kill(self, signal: str) -> None:
        """Send a signal to what was started, and to nothing else of it."""
        self.run(f"kill -{signal} $(cat {self.folder}/pid)")

    def image(self, *words: str) -> str:
        """A script that becomes `paddock image`."""
        flags = " ".join(["--builder", self.kind, "--base", self.base, *words])
        return f"export PADDOCK_HOME={self.home}; exec {self.tool} image {flags}"

    def at_work(self, *needles: str) -> dict[int, str]:
        """The commands that have one of these in their environment, by process.

        Those of a machine are seen from here, too.
        """
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                held = (process / "environ").read_bytes()
                if any(needle.encode() in held for needle in needles):
                    command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(process.name)] = command
        return found

    def wait_for(self, needle: str, word: str) -> None:
        """Wait until a command with this word is at work."""
        until = time.monotonic() + 90
        while not any(word in command for command in self.at_work(needle).values()):
            assert time.monotonic() < until, (self.folder / "said").read_text()[-3000:]
            time.sleep(0.05)

    def end(self, *needles: str) -> None:
        """Kill what is at work."""
        for process in self.at_work(*needles):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _variables(self) -> dict[str, str]:
        """A builder of Docker may need another client than the first."""
        path = {"PATH": path_of(self.kind)} if self.kind in DOCKER else {}
        return variables(self.home) | path


def here(kind: str, folder: Path) -> Place:
    """This machine, by one of Docker's builders."""
    return Place(kind, (), f"{sys.executable} {ROOT / 'tasks.py'}", folder, for_builds())


@contextlib.contextmanager
def others(folder: Path) -> Iterator[Place]:
    """A Debian with Podman and Buildah, which have the image to start from."""
    mounts = ("--volume=/var/lib/containers", f"--volume={folder}:{folder}")
    image = for_builds()
    with running(with_builders(), "--cgroupns", "private", *NESTED, *mounts) as machine:
        run_in(machine, _CGROUPS)
        machine.clone()
        given = ["docker", "exec", "-i", "-w", machine.checkout, machine.name]
        with subprocess.Popen(["docker", "save", image], stdout=subprocess.PIPE) as saved:
            subprocess.run([*given, "podman", "load"], stdin=saved.stdout, check=True,
                           capture_output=True)  # fmt: skip
        tool = "$(find /opt/paddock/cache/tool -maxdepth 1 -type l)/bin/python tasks.py"
        yield Place("", tuple(given), tool, folder, f"localhost/{image}")
