"""The compiler's cache, ccache: used where it works, left out where it does not."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from provision.facts.command import run
from provision.facts.compilers import compiler
from provision.paths import cache_dir

_LIMIT = 30.0  # seconds
_STRICT = (
    "CCACHE_SLOPPINESS", "CCACHE_IGNOREOPTIONS", "CCACHE_IGNOREHEADERS", "CCACHE_COMPILER",
    "CCACHE_PREFIX", "CCACHE_PREFIX_CPP",
)  # fmt: skip


class Ccache(NamedTuple):
    """Whether it is used; `problem` is why not, "" where it is not installed."""

    used: bool
    problem: str = ""


def variables() -> dict[str, str]:
    """What makes it answer in new folders too, and for another compiler never.

    What is empty takes the place of the user's own, here and in a file: for the sake of hits it
    may leave a flag or a header out of account, or call another compiler.
    """
    return dict.fromkeys(_STRICT, "") | {
        "CCACHE_BASEDIR": str(cache_dir()), "CCACHE_NOHASHDIR": "1",
        "CCACHE_COMPILERCHECK": "content",
        "CCACHE_DIR": str(Path(os.environ.get("CCACHE_DIR") or cache_dir() / "ccache").absolute()),
    }  # fmt: skip


@functools.cache
def ccache() -> Ccache:
    """Tried on an empty file. Damaged entries it notices by itself, and a full disk.

    With a folder that cannot be used or a configuration that cannot be read it fails in place of
    the compiler (seen with 4.7.5 and 4.14.2), and the whole build with it.
    """
    found, real = shutil.which("ccache"), compiler()
    if not found or not real:
        return Ccache(False)
    with tempfile.TemporaryDirectory(prefix="paddock-ccache-") as folder:
        empty = ["-c", "-x", "c++", "/dev/null", "-o", f"{folder}/empty.o"]
        answer = run([found, real, *empty], _LIMIT, {**os.environ, **variables()}, Path(folder))
    if answer.status == 0:
        return Ccache(True)
    return Ccache(False, answer.last or f"{answer.status}")
