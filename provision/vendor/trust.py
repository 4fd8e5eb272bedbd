"""Digests of vendors' files: the published one, else the one of the first use."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from provision.errors import PaddockError
from provision.site import Site
from provision.vendor.look import digest
from provision.vendor.rows import Package
from provision.vendor.unpacked import seal


def is_ours(path: Path) -> bool:
    """Whether nobody but root and this user can put another file in the place of one.

    In a folder as /tmp is, others cannot replace what is not theirs.
    """
    for one in (file := path.resolve(), *file.parents):
        status = one.stat()
        sticky = one != file and status.st_mode & stat.S_ISVTX
        if status.st_uid not in (0, os.geteuid()) or (status.st_mode & 0o022 and not sticky):
            return False
    return True


def recorded(site: Site) -> dict[str, str]:
    """The digests of the files that were used before, by name."""
    try:
        lines = site.trusted.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.split("  ", 1) for line in lines)
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2}  # noqa: PLR2004


def checked(
    path: Path, package: Package, site: Site, published: Mapping[str, str] | None = None
) -> tuple[str, bool]:
    """The digest of a file, and whether it was known before: by itself, or by its archive's.

    `published` are the digests of files and archives that the vendor tells, by name.

    Raises PaddockError `package-damaged` where the vendor publishes another, `package-changed`
    where another was used before, `package-unreadable`.
    """
    actual, known = digest(path), published or {}
    if _archive_of(path, site) in known.values():
        return actual, True
    told = package.sha256.get(path.name) or known.get(path.name)
    used = recorded(site).get(path.name)
    if told and told != actual:
        reason = f"sha256 {actual[:12]}…, published {told[:12]}…"
        raise PaddockError("package-damaged", file=path, reason=reason)
    if not told and used and used != actual:
        raise PaddockError("package-changed", file=path, record=site.trusted,
                           actual=actual[:12], used=used[:12])  # fmt: skip
    return actual, bool(told or used)


def _archive_of(path: Path, site: Site) -> str:
    """The digest of the archive that a file was unpacked from; "" where it was not."""
    if not path.is_relative_to(site.unpacked):
        return ""
    folder = site.unpacked / path.relative_to(site.unpacked).parts[0]
    try:
        return seal(folder).read_text(encoding="ascii")
    except OSError:
        return ""
