"""A machine in small: a home, a package index on loopback, and a stack that runs in seconds."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import ROOT, variables
from tests.frame.index import Index, lock_for

SMALL = Path(__file__).parent / "small"
STEPS = ("env/python", "env/alpha", "env/beta", "lib/build", "lib/install")
Result = subprocess.CompletedProcess[str]


def wheel(folder: Path, name: str, version: str) -> Path:
    """A wheel with one module; the same bytes at any time."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(zipfile.ZipInfo(file), text)
    return path


@dataclass
class World:
    """One test's machine. `more` are environment variables of every command."""

    folder: Path
    index: Index
    more: dict[str, str] = field(default_factory=dict)
    home_name: str = "home"
    tool: Path = ROOT

    def __post_init__(self) -> None:
        if not self.stack.parent.exists():
            shutil.copytree(SMALL, self.stack.parent, ignore=shutil.ignore_patterns("__pycache__"))
            self.pin("framework", "alpha-1.0")
            self.pin("paddlenlp", "beta-1.0")

    @property
    def home(self) -> Path:
        """PADDOCK_HOME."""
        return self.folder / self.home_name

    @property
    def stack(self) -> Path:
        """The stack file: a copy for this test to change."""
        return self.folder / "stack" / "stack.toml"

    @property
    def env(self) -> Path:
        """The environment that is made."""
        return self.home / "data" / "envs" / "small"

    @property
    def state(self) -> Path:
        """Journal, logs and scripts."""
        return self.home / "state" / "small"

    def pin(self, layer: str, start: str, *, wrong: bool = False) -> None:
        """Let the lock of a layer hold one wheel of the index; `wrong`: with another hash."""
        found = next(path for path in self.index.wheels if path.name.startswith(start))
        lock = self.stack.parent / "locks" / "1" / f"{layer}.txt"
        lock.parent.mkdir(parents=True, exist_ok=True)
        text = re.sub("sha256:..", "sha256:00", lock_for(found)) if wrong else lock_for(found)
        lock.write_text(text, encoding="utf-8")

    def edit(self, old: str, new: str) -> None:
        """Replace a text that stands in the stack file."""
        text = self.stack.read_text(encoding="utf-8")
        assert old in text
        self.stack.write_text(text.replace(old, new), encoding="utf-8")

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """The variables of a command."""
        own = {"UV_CACHE_DIR": str(self.folder / "uv"), "PADDOCK_INDEX_URL": self.index.url,
               "UV_HTTP_RETRIES": "0"}  # fmt: skip
        return variables(self.home) | own | self.more | dict(more)

    def command(self, *arguments: str, only: str = ",".join(STEPS)) -> list[str]:
        """The command line of `provision` on the small stack, without the smoke tests."""
        given = ["--target", "small", "--stack", str(self.stack)]
        chosen = ["--only", only] if only else []
        return [sys.executable, str(self.tool / "tasks.py"), "provision", *given, *chosen,
                *arguments]  # fmt: skip

    def run(self, *arguments: str, only: str = ",".join(STEPS), **more: str) -> Result:
        """Run `provision` to its end."""
        return subprocess.run(
            self.command(*arguments, only=only), env=self.environment(more), capture_output=True,
            text=True, timeout=120, check=False, stdin=subprocess.DEVNULL, cwd=self.folder,
        )  # fmt: skip

    def good(self, *arguments: str, **more: str) -> str:
        """The output of a run that must succeed."""
        done = self.run(*arguments, **more)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        """Start `provision`, in a process group of its own as a shell does."""
        return subprocess.Popen(
            self.command(*arguments), env=self.environment(more), text=True, cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip

    def entries(self) -> list[dict[str, Any]]:
        """The journal, as JSON values."""
        lines = (self.state / "journal.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def ran(self, since: int = 0) -> list[str]:
        """The steps that were done, in order, after the first `since` entries of the journal."""
        return [e["step"] for e in self.entries()[since:] if e["event"] == "done"]

    def last(self) -> dict[str, str]:
        """The last event of each step."""
        return {entry["step"]: entry["event"] for entry in self.entries()}

    def wait_for(self, words: str, *done: str, seconds: float = 30) -> None:
        """Wait until a log of this world has these words and these steps are done."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            logs = self.state.glob("logs/*/*.log")
            seen = any(words in log.read_text(encoding="utf-8") for log in logs)
            if seen and set(done) <= set(self.ran()):
                return
            time.sleep(0.02)
        raise AssertionError(f"no log says {words!r}, or not all of {done} are done")

    def marked(self) -> list[str]:
        """The command lines of processes that belong to a run of this world."""
        needle = f"PADDOCK_HOME={self.home}\0".encode()
        return list(_with_variable(needle, b"PADDOCK_RUN="))


def _with_variable(*needles: bytes) -> Iterator[str]:
    """The command lines of the processes that carry all of these in their environment."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            content = (folder / "environ").read_bytes() + b"\0"
            if all(needle in content for needle in needles):
                yield (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue


def gone(world: World, seconds: float = 5) -> bool:
    """Whether no process of a run of this world is left, at most after this time."""
    end = time.monotonic() + seconds
    while world.marked() and time.monotonic() < end:
        time.sleep(0.05)
    return not world.marked()


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything below a folder: mode, time and content of each path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, content)
    return found


def kill(process: subprocess.Popen[str]) -> None:
    """SIGKILL to the tool alone; its children go on, as after an out-of-memory kill."""
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=10)


def is_root() -> bool:
    """Whether this runs as root."""
    return os.geteuid() == 0
