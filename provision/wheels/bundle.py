"""Sources as a bundle of git: a repository in one file, for where no network is."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from provision.errors import PaddockError
from provision.facts.command import Answer
from provision.wheels import git
from provision.words import text

_FIRST = (b"# v2 git bundle\n", b"# v3 git bundle\n")  # gitformat-bundle(5)
_DAMAGED = re.compile(r"early EOF|index-pack died|unrecognized header|pack is corrupted")


def is_bundle(path: Path) -> bool:
    """Whether the file begins as a bundle does. Raises OSError."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(_FIRST[0])) in _FIRST


def repository(bundle: Path, folder: Path) -> Path:
    """The bare repository with all that a bundle has, made once in `folder`, whole or not at all.

    Raises PaddockError `package-damaged`, `disk-full`, `source-missing` with git's words.
    """
    if folder.is_dir():
        return folder
    draft = folder.with_name(f"{folder.name}.{os.getpid()}")
    for left in folder.parent.glob(f"{folder.name}.*"):
        if left == draft or not Path("/proc", left.suffix[1:]).is_dir():  # its process was killed
            shutil.rmtree(left, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    answer = git.git(None, "clone", "--quiet", "--template=", "--mirror", bundle, draft)
    # Of one that ends among its refs git makes an empty repository.
    has_refs = answer.status == 0 and bool(git.git(draft, "for-each-ref", "--count=1").out)
    if has_refs and not folder.is_dir():
        draft.rename(folder)
    shutil.rmtree(draft, ignore_errors=True)
    if has_refs:
        return folder
    raise _error(bundle, folder, answer)


def _error(bundle: Path, folder: Path, answer: Answer) -> PaddockError:
    """Why there is no repository in a bundle; what was cut among its refs gives an empty one."""
    if answer.status == 0:
        return PaddockError("package-damaged", file=bundle, reason=text("source.cut"))
    if _DAMAGED.search(answer.err) and "No space left" not in answer.err:
        return PaddockError("package-damaged", file=bundle, reason=git.reason(answer))
    return git.failed(str(bundle), folder, answer)
