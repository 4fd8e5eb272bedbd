"""The tool's own environments: made once from a hash-pinned lock, with the standard library only.

The launcher runs this file with the Python that the machine has. It must parse on an old one,
down to 3.6, and refuse it with a sentence; so nothing of the tool is imported before that.
"""

import argparse
import contextlib
import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
LOWEST = (3, 10)


def refuse_old_python() -> None:
    """Leave with status 4 and what to install. Written for the Pythons that it refuses."""
    names = ("PADDOCK_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    locale = next((os.environ[name] for name in names if os.environ.get(name)), "")
    words = json.loads((ROOT / "templates" / "words.json").read_text(encoding="utf-8"))
    texts = words["bootstrap.old-python"]
    line = texts["zh" if locale.lower().startswith("zh") else "en"].format(
        found=".".join(str(part) for part in sys.version_info[:3]), path=sys.executable
    )
    sys.stderr.buffer.write((line + "\n").encode("utf-8"))
    raise SystemExit(4)


if sys.version_info < LOWEST:
    refuse_old_python()
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from provision.errors import INTERRUPTED, PaddockError  # noqa: E402
from provision.network import Network, asked  # noqa: E402
from provision.orphans import end_orphans  # noqa: E402
from provision.paths import at_home, cache_dir  # noqa: E402
from provision.stream import say  # noqa: E402
from provision.toolenv import STEP, Making, install  # noqa: E402
from provision.words import text  # noqa: E402


def folder(lock: Path) -> Path:
    """Where the environment of this lock is, made or not. The launcher has the same rule."""
    content = lock.read_bytes() + os.fsencode(os.environ.get("PADDOCK_PYTHON", ""))
    crc, size = subprocess.run(["cksum"], input=content, stdout=-1, check=True).stdout.split()[:2]
    return cache_dir() / "tool" / f"{crc.decode()}-{size.decode()}"


def is_ready(env: Path) -> bool:
    """Whether the environment is there, and its Python too. What has this name is complete."""
    return os.access(env / "bin" / "python", os.X_OK)


def environment(lock: Path, network: "Network | None" = None) -> Path:
    """The environment that holds exactly what `lock` pins; made by `network` when it is not there.

    Raises PaddockError: no network, wrong hash, no space, no permission, no pip, or a failed
    install.
    """
    env = folder(lock)
    if is_ready(env):
        return env
    try:
        env.parent.mkdir(parents=True, exist_ok=True)
        with _alone(env):
            if not is_ready(env):
                _say("bootstrap.making", path=env)
                _make(lock, env, network or Network())
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        code = "disk-full" if full else "read-only"
        raise PaddockError(code, (str(error),), step=STEP, path=env.parent) from error
    return env


def _say(key: str, **values: object) -> None:
    """A line on standard error: standard output belongs to the task."""
    say(sys.stderr, text(key, **values))


@contextlib.contextmanager
def _alone(env: Path) -> "Iterator[None]":
    """Hold the lock of this environment; a killed holder frees it."""
    with (env.parent / f".{env.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("bootstrap.waiting")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(lock: Path, env: Path, network: Network) -> None:
    """Fill a new folder and let the name `env` point to it in one step.

    The folder keeps its own name, as the scripts in an environment know their place.
    """
    end_orphans(str(env))  # what a killed start left running
    for left in env.parent.glob(f"{env.name}.*"):
        shutil.rmtree(left, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=f"{env.name}.", dir=env.parent))
    try:
        install(lock, Making(work, network))
        link = work / "link"
        link.symlink_to(work.name)
        link.replace(env)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def _network(words: "list[str]") -> Network:
    """What the flags of the command say of the network, which its task reads once more.

    Raises PaddockError `bad-option`; a flag without its value is left to the task, too.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--offline", action="store_true")
    for flag in ("--ca-bundle", "--index-url"):
        parser.add_argument(flag, default="")
    try:
        found, _ = parser.parse_known_args(words)
    except argparse.ArgumentError:
        return Network()
    return asked(found.offline, at_home(found.ca_bundle), found.index_url)


def main() -> None:
    """Make the tool's environment and become `tasks.py` in it, with the same arguments."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that a child is ended too
    try:
        python = environment(LOCK, _network(sys.argv[1:])) / "bin" / "python"
    except PaddockError as error:
        parts = {name: error.part(name) for name in ("what", "cause", "do")}
        for line in (*error.details, *text("bootstrap.failed", **parts).split("\n")):
            say(sys.stderr, line)
        raise SystemExit(error.status) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    os.execv(python, [str(python), str(ROOT / "tasks.py"), *sys.argv[1:]])  # noqa: S606


if __name__ == "__main__":
    main()
