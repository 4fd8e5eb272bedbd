"""A short cut for the run that has nothing to do.

When everything holds, the seal keeps a fingerprint of all that the plan was made from, and the
witnesses of every step. As long as both are unchanged, a full plan would find nothing to do, so
none is made. A stack with a step that no file shows (a card, a loaded module) is never sealed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from pathlib import Path

from provision.files import put_whole
from provision.paths import ROOT, TEMPLATES
from provision.site import Site


def _watched(folder: Path) -> list[Path]:
    """Every file that decides a plan: the target's data, the templates and the engine."""
    found: list[Path] = []
    for top in (folder, TEMPLATES / "steps", ROOT / "provision"):
        for here, folders, files in os.walk(top):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            found += [Path(here, name) for name in sorted(files)]
    return found


def fingerprint(folder: Path, chosen: str) -> str:
    """A digest over names, sizes and times of watched files, what was chosen, Python and kernel.

    Of a link that leads nowhere, and of a file that goes meanwhile, the name alone counts.
    """
    own = f"{chosen}\0{sys.version}\0{sys.prefix}\0{os.uname().release}"
    digest = hashlib.sha256(own.encode())
    for path in _watched(folder):
        digest.update(os.fsencode(path))
        with contextlib.suppress(OSError):
            status = path.stat()
            digest.update(f"\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _file(site: Site) -> Path:
    return site.state / "seal.json"


def put(site: Site, fingerprint: str, steps: int, witnesses: list[tuple[str, int, int]]) -> None:
    """Seal the state of now."""
    content = {"fingerprint": fingerprint, "steps": steps, "witnesses": witnesses}
    put_whole(_file(site), json.dumps(content).encode())


def lift(site: Site) -> None:
    """Remove the seal, before anything changes."""
    _file(site).unlink(missing_ok=True)


def holds(site: Site, fingerprint: str) -> int | None:
    """The number of steps that hold, where the seal is unbroken; else None."""
    try:
        content = json.loads(_file(site).read_text(encoding="utf-8"))
        intact = content["fingerprint"] == fingerprint and all(
            _same(*witness) for witness in content["witnesses"]
        )
        return int(content["steps"]) if intact else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _same(path: str, size: int, mtime: int) -> bool:
    status = os.stat(path)  # noqa: PTH116 - a thousand of them: pathlib would double the time
    return status.st_size == size and status.st_mtime_ns == mtime
