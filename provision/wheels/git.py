"""The few calls of git that a build needs; what git says is kept for the error."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from provision.errors import PaddockError
from provision.facts.command import Answer, run
from provision.network import Network, hidden
from provision.symptoms import classify

LIMIT = 1800.0  # seconds; Paddle's own repository is large
_NETWORK = ("no-network", "bad-certificate")


def git(folder: Path | None, *arguments: str | Path, network: Network | None = None) -> Answer:
    """Run git in a folder; it asks nobody for a password. Raises PaddockError `source-missing`.

    Only with a network it may take long: then it does not outlive this process.
    """
    argv = ["git", *(["-C", str(folder)] if folder else []), *arguments]
    quiet = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        if network:
            return run(argv, LIMIT, {**os.environ, **network.environment(), **quiet})
        done = subprocess.run(
            argv, env={**os.environ, **quiet}, stdin=subprocess.DEVNULL, capture_output=True,
            encoding="utf-8", errors="replace", check=False,
        )  # fmt: skip
        return Answer(done.returncode, done.stdout, done.stderr)
    except OSError as error:
        raise PaddockError("source-missing", source="git", reason=error.strerror) from None


def must(
    source: str, folder: Path | None, *arguments: str | Path, network: Network | None = None
) -> str:
    """What git prints. Raises PaddockError `source-missing`, or of the network, with its words."""
    answer = git(folder, *arguments, network=network)
    if answer.status == 0:
        return answer.out.strip()
    lines = answer.lines[-5:]
    code = classify(lines)
    reason = next((one for one in lines if one.startswith(("fatal:", "error:"))), lines[-1:] or "?")
    raise PaddockError(
        code if code in _NETWORK else "source-missing", tuple(lines), source=hidden(source),
        reason=str(reason).removeprefix("fatal: "), step="source", path=folder or "",
        status=answer.status, log="-", remedy="git",
    )  # fmt: skip


def is_repository(path: Path) -> bool:
    """Whether the folder is the top of a repository of its own, with a work tree or bare."""
    is_bare = (path / "HEAD").is_file() and (path / "objects").is_dir()
    return is_bare or (path / ".git").exists()


def commit_of(path: Path, ref: str) -> str | None:
    """The commit that a ref of a local repository names: a branch also by its remote's name."""
    for name in (ref, f"origin/{ref}"):
        answer = git(path, "rev-parse", "--verify", "--quiet", "--end-of-options",
                     f"{name}^{{commit}}")  # fmt: skip
        if answer.status == 0:
            return answer.out.strip()
    return None


def changed(path: Path, but: Iterable[str] = ()) -> list[str]:
    """What in a work tree differs from its commit, these paths left out; [] for a bare repository.

    New files count: a build takes every source file that it finds. Submodules are looked at by
    themselves.
    """
    left_out = [f":(exclude,literal){name}" for name in but]
    answer = git(path, "status", "--porcelain", "--ignore-submodules=all", "--", ".", *left_out)
    return answer.out.splitlines() if answer.status == 0 else []
