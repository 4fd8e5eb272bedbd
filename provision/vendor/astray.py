"""What has the name of a package and cannot be taken for it: a person would look for it in vain."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from provision.vendor import deps
from provision.vendor.look import unreadable
from provision.vendor.rows import Package, pattern
from provision.words import text

if TYPE_CHECKING:
    from provision.steps.base import Context


def told(package: Package, context: Context) -> Iterator[str]:
    """A line for each entry of the folders with a name of the package, and what it is; one for each
    folder that cannot be read. Raises PaddockError `package-unreadable`."""
    known = deps.known(context)
    patterns = [pattern(name, known).pattern for name in deps.all_names(package, context)]
    for path in deps.entries(context):
        if any(re.fullmatch(one, path.name, re.IGNORECASE) for one in patterns):
            is_exact = any(re.fullmatch(one, path.name) for one in patterns)
            yield from _kind(path, is_exact=is_exact)
        elif os.path.isdir(path) and not os.access(path, os.R_OK | os.X_OK):  # noqa: PTH112
            yield text("astray.closed", path=path)


def _kind(path: Path, *, is_exact: bool) -> Iterator[str]:
    """What is there in place of a file; nothing for a file, as an archive that was unpacked."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        yield text("astray.link", path=path, target=path.readlink())
    except OSError as error:
        yield str(unreadable(path, error).part("what"))
    else:
        if stat.S_ISDIR(mode):
            yield text("astray.folder", path=path)
        elif not stat.S_ISREG(mode):
            yield text("astray.special", path=path)
        elif not is_exact:
            yield text("astray.case", path=path)
