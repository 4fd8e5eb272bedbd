"""The places that a rendered text names: below one folder, wherever the text is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from provision.site import Site


@dataclass(frozen=True)
class Places(Site):
    """A target's folders below `home`, which need not be on this machine."""

    home: Path

    @property
    def env(self) -> Path:
        """The Python environment into which the stack is installed."""
        return self.home / "data" / "envs" / self.target

    @property
    def wheels(self) -> Path:
        """The wheels that are built, one folder a step."""
        return self.home / "data" / "wheels" / self.target

    @property
    def builds(self) -> Path:
        """Build trees."""
        return self.home / "cache" / "build" / self.target

    @property
    def state(self) -> Path:
        """What is done, and what installers have printed."""
        return self.home / "state" / self.target

    @property
    def stack(self) -> Path:
        """A copy of what the steps read of the target's own files."""
        return self.home / "stack" / self.target

    @property
    def packages(self) -> Path:
        """Links to the vendors' packages."""
        return self.home / "packages" / self.target
