"""Digests of vendors' files: the published one, else the one of the first use."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from provision.errors import PaddockError
from provision.site import Site
from provision.vendor.rows import Package


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hex digits; read once as long as it stays the same."""
    status = path.stat()
    return _digest(path, status.st_size, status.st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _digest(path: Path, size: int, mtime: int) -> str:
    value = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            value.update(block)
    return value.hexdigest()


def recorded(site: Site) -> dict[str, str]:
    """The digests of the files that were used before, by name."""
    try:
        lines = site.trusted.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.split("  ", 1) for line in lines)
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2}  # noqa: PLR2004


def checked(path: Path, package: Package, site: Site) -> tuple[str, bool]:
    """The digest of a file, and whether it was known before.

    Raises PaddockError `package-damaged` where the vendor publishes another, `package-changed`
    where another was used before.
    """
    actual = digest(path)
    published, used = package.sha256.get(path.name), recorded(site).get(path.name)
    if published and published != actual:
        reason = f"sha256 {actual[:12]}…, published {published[:12]}…"
        raise PaddockError("package-damaged", file=path, reason=reason)
    if not published and used and used != actual:
        raise PaddockError("package-changed", file=path, record=site.trusted,
                           actual=actual[:12], used=used[:12])  # fmt: skip
    return actual, bool(published or used)
