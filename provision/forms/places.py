"""The places that a rendered text names: below one folder, wherever the text is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from provision.site import Site


@dataclass(frozen=True)
class Places(Site):
    """A target's folders below `home`, which need not be on this machine."""

    home: Path

    def home_of(self, kind: str) -> Path:
        """Where the folders of one kind are."""
        return self.home / kind

    @property
    def stack(self) -> Path:
        """A copy of what the steps read of the target's own files."""
        return self.home / "stack" / self.target

    @property
    def packages(self) -> Path:
        """Links to the vendors' packages."""
        return self.home / "packages" / self.target
