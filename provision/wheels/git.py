"""The few calls of git that a build needs; what git says is kept for the error."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from provision.errors import PaddockError
from provision.facts.command import Answer, run
from provision.network import Network, hidden
from provision.paths import TEMPLATES
from provision.symptoms import classify

LIMIT = 1800.0  # seconds; Paddle's own repository is large
UNREACHED = ("no-network", "bad-certificate", "offline-missing")
# How the lines begin in which git says why.
_FOLLOWS = "aborting due to possible repository corruption"  # after what is really wrong
_TELLING = ("ssh:", "remote: fatal:", "fatal:", "error:")
# Of what git says it is known what it means.
_CODES = {"no-network": "source-unreached", "bad-certificate": "bad-certificate",
          "offline-missing": "offline-missing", "disk-full": "disk-full"}  # fmt: skip
# Set in a hook of git's, say, these name another repository than that of the folder, or change what
# paths mean in it (git(1), "Environment Variables").
_ELSEWHERE = frozenset(f"GIT_{name}" for name in (
    "DIR", "WORK_TREE", "COMMON_DIR", "INDEX_FILE", "OBJECT_DIRECTORY", "NAMESPACE", "SHALLOW_FILE",
    "ALTERNATE_OBJECT_DIRECTORIES", "GRAFT_FILE", "PREFIX", "QUARANTINE_PATH", "DEFAULT_HASH",
    "LITERAL_PATHSPECS", "GLOB_PATHSPECS", "NOGLOB_PATHSPECS", "ICASE_PATHSPECS",
))  # fmt: skip
# Whatever the user has set: no hooks, and bare repositories are read.
_ALWAYS = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=", "-c",
           "safe.bareRepository=all")  # fmt: skip
# Said where a server gives no commit but the tips of its branches, or no part of a history: those
# before version 2 of git's protocol without uploadpack.allowReachableSHA1InWant, and plain files.
_WHOLE_ONLY = re.compile(r"unadvertised object|shallow capabilities")


def git(
    folder: Path | None, *arguments: str | Path, network: Network | None = None,
    limit: float = LIMIT,
) -> Answer:  # fmt: skip
    """Run git in the top folder of a repository, never in one around it; it asks nobody for a
    password. Raises PaddockError `source-missing`.

    Only with a network it may take long: then it ends after `limit` seconds, and with this process.
    """
    argv = ["git", *_ALWAYS, *(["-C", str(folder)] if folder else []), *arguments]
    try:
        if network:
            return run(argv, limit, _variables(folder) | network.environment())
        done = subprocess.run(
            argv, env=_variables(folder), stdin=subprocess.DEVNULL, capture_output=True,
            encoding="utf-8", errors="replace", check=False,
        )  # fmt: skip
        return Answer(done.returncode, done.stdout, done.stderr)
    except OSError as error:
        raise PaddockError("source-missing", source="git", reason=error.strerror) from None


def _variables(folder: Path | None) -> dict[str, str]:
    """The environment of git."""
    kept = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    if folder:  # in a folder whose repository is broken git would go on to one around it
        kept["GIT_CEILING_DIRECTORIES"] = str(folder.resolve().parent)
    # From git 2.32 on; unlike an option this reaches the git that hands out another repository.
    system = os.environ.get("GIT_CONFIG_SYSTEM") or str(TEMPLATES / "wheels" / "gitconfig")
    return kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8", "GIT_OPTIONAL_LOCKS": "0",
                   "GIT_CONFIG_SYSTEM": system}  # fmt: skip


def must(
    source: str, folder: Path | None, *arguments: str | Path, network: Network | None = None
) -> str:
    """What git prints. Raises PaddockError `source-missing`, or of the network, with its words."""
    answer = git(folder, *arguments, network=network)
    if answer.status == 0:
        return answer.out.strip()
    raise failed(source, folder, answer)


def failed(source: str, folder: Path | None, answer: Answer) -> PaddockError:
    """The error `source-missing`, or of the network, with git's words."""
    lines = answer.lines[-5:]
    code = _CODES.get(classify(lines), "source-missing")
    return PaddockError(
        code, tuple(lines), source=hidden(source),
        reason=reason(answer), step="source", path=folder or "", status=answer.status, log="-",
        remedy="git",
    )  # fmt: skip


def reason(answer: Answer) -> str:
    """Why git failed, in one line. What two gits say at once comes in any order."""
    if answer.status is None:
        return "no end in time"
    lines = answer.lines[-5:]
    said = [one for one in lines if one.startswith(_TELLING)] + lines[-1:]
    if not said:
        return f"exit status {answer.status}"
    first = next((one for one in said if _FOLLOWS not in one), said[0])
    return first.removeprefix("remote: ").removeprefix("fatal: ").rstrip(". ")


def begin(folder: Path, *how: str) -> Answer:
    """An empty repository with our settings, or the one that is there made whole."""
    template = TEMPLATES / "repository"
    return git(None, "init", "--quiet", f"--template={template}", *how, folder)


def is_sound(folder: Path) -> bool:
    """Whether all is well in a repository of this tool's; it takes a second or more."""
    looks = (("fsck", "--no-dangling", "--no-progress"), ("status", "--porcelain"))
    return all(git(folder, *look).status == 0 for look in looks)


def is_at(folder: Path, commit: str) -> bool:
    """Whether a repository has its top here and this commit checked out."""
    return (folder / ".git").exists() and commit_of(folder, "HEAD") == commit


def has(folder: Path, commit: str) -> bool:
    """Whether a commit is in the repository that has its top here."""
    found = git(folder, "cat-file", "-e", f"{commit}^{{commit}}")
    return (folder / ".git").exists() and found.status == 0


def take(folder: Path, url: str, commit: str, network: Network) -> Answer:
    """Fetch one commit alone, also one on no branch, from an address.

    `origin` becomes what a clone has there: beside it are the submodules whose addresses are
    relative, and it has the files that a clone made with `--filter` lacks.
    """
    said = git(Path(url), "config", "remote.origin.url") if Path(url).is_dir() else None
    origin = (said.out.strip() if said else "") or url
    git(folder, "config", "remote.origin.url", origin)
    if has(folder, commit):
        return Answer(0, "", "")
    answer = _fetched(folder, url, commit, network)
    if answer.status == 0 or origin == url or network.offline:
        return answer
    other = _fetched(folder, origin, commit, network)
    return other if other.status == 0 else answer


def _fetched(folder: Path, url: str, commit: str, network: Network) -> Answer:
    """The commit from an address; all branches and tags where the server gives no single one."""
    # A pack is there as a whole or not at all; single objects would let a killed fetch look done.
    fetch = ("-c", "fetch.unpackLimit=1", "fetch", "--quiet", "--no-tags", "--update-shallow")
    # By a ref of its own git tells the next time what is here: only what differs is sent then.
    one = ("--depth", "1", "--end-of-options", url, f"+{commit}:refs/paddock/newest")
    answer = git(folder, *fetch, *one, network=network)
    if not _WHOLE_ONLY.search(answer.err):
        return answer
    store = Path(git(folder, "rev-parse", "--absolute-git-dir").out.strip())
    more = ["--unshallow"] if (store / "shallow").is_file() else []
    refs = ("+refs/heads/*:refs/origin/*", "+refs/tags/*:refs/tags/*")
    answer = git(folder, *fetch, *more, "--end-of-options", url, *refs, network=network)
    is_gone = answer.status == 0 and not has(folder, commit)
    return Answer(1, "", f"fatal: not our ref {commit}") if is_gone else answer


def tidy(store: Path) -> None:
    """Remove what a killed git has left where it stores things; nobody else is at work there."""
    for pattern in ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*"):
        for path in store.glob(pattern):
            path.unlink()


def is_repository(path: Path) -> bool:
    """Whether the folder is the top of a repository of its own, with a work tree or bare."""
    return _is_bare(path) or (path / ".git").exists()


def _is_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir()


def commit_of(path: Path, ref: str) -> str | None:
    """The commit that a ref of a local repository names: a branch also by its remote's name."""
    for name in (ref, f"origin/{ref}"):
        answer = git(path, "rev-parse", "--verify", "--quiet", "--end-of-options",
                     f"{name}^{{commit}}")  # fmt: skip
        if answer.status == 0:
            return answer.out.strip()
    return None


def recorded(path: Path, module: str) -> str:
    """The commit of a submodule that a repository's own commit has; "" where it has none there."""
    answer = git(path, "ls-tree", "HEAD", "--", module)
    kind, _, rest = answer.out.partition(" commit ")
    return rest[:40] if kind == "160000" else ""


def changed(path: Path, but: Iterable[str] = ()) -> list[str]:
    """What in a work tree differs from its commit, these paths left out; [] for a bare repository.

    New files count: a build takes every source file that it finds. Submodules are looked at by
    themselves. Raises PaddockError `source-missing` where git cannot tell.
    """
    if _is_bare(path):
        return []
    left_out = [f":(exclude,literal){name}" for name in but]
    argv = ("status", "--porcelain", "--ignore-submodules=all", "--untracked-files=all", "--", ".")
    answer = git(path, *argv, *left_out)
    if answer.status != 0:
        raise failed(str(path), path, answer)
    return answer.out.splitlines()
