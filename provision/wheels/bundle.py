"""Sources as a bundle of git: a repository in one file, for where no network is."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from provision.errors import PaddockError
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
    shutil.rmtree(draft, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    answer = git.git(None, "clone", "--quiet", "--mirror", bundle, draft)
    # Of one that ends among its refs git makes an empty repository.
    has_refs = answer.status == 0 and bool(git.git(draft, "for-each-ref", "--count=1").out)
    if has_refs and not folder.is_dir():
        draft.rename(folder)
    shutil.rmtree(draft, ignore_errors=True)
    if has_refs:
        return folder
    if answer.status == 0:
        raise PaddockError("package-damaged", file=bundle, reason=text("source.cut"))
    if "No space left" in answer.err:
        raise PaddockError("disk-full", step="source", path=folder)
    if _DAMAGED.search(answer.err):
        raise PaddockError("package-damaged", file=bundle, reason=git.reason(answer))
    raise git.failed(str(bundle), None, answer)
