"""Where measures run: scratch folders beside the tool's own, and the ways to start the tool."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.cost import Command
from provision import bootstrap
from provision.paths import ROOT, cache_dir

TARGET = "loopback"
TOP = cache_dir() / "bench"

_BARE = '''\
"""Two tasks, as small as Invoke allows."""

from invoke import task


@task
def build(context):
    """Build it."""


@task
def clean(context):
    """Clean it."""
'''


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder for one measure, removed afterwards.

    It lies below the tool's cache: on the same file system as what a user provisions, where an
    installer can link out of its package cache.
    """
    TOP.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TOP, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def package_cache() -> Path:
    """uv's package cache, warm from whatever used it before; the tests fill the same one."""
    return Path(os.environ.get("UV_CACHE_DIR") or Path.home() / ".cache" / "uv")


def programs() -> Path:
    """The `bin` folder of the tool's own environment, as the launcher makes and uses it."""
    return bootstrap.environment(bootstrap.LOCK) / "bin"


def tool(*arguments: str, home: Path | None = None) -> Command:
    """The tool as `paddock ARGUMENTS` starts it; `home` becomes its PADDOCK_HOME."""
    own = {"PADDOCK_HOME": str(home), "UV_CACHE_DIR": str(package_cache())} if home else {}
    return Command([programs() / "python", ROOT / "tasks.py", *arguments], ROOT, own)


def bare(folder: Path, *arguments: str) -> Command:
    """Invoke of the same environment on a project of two tasks, written into `folder`."""
    (folder / "tasks.py").write_text(_BARE, encoding="utf-8")
    return Command([programs() / "invoke", *arguments], folder)
