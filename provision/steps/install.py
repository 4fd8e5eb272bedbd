"""Kind `install`: the wheels of earlier steps, into the environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from provision.distributions import installed, wheel_name
from provision.overlap import plugin_in_the_way
from provision.stack import Step
from provision.steps.base import Context, Kind, Lack
from provision.steps.packages import recorded


class Install(Kind):
    """Installed from the file alone: no index is asked."""

    template = "steps/install.sh.j2"

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """The folders that hold one wheel each."""
        return {"python": context.site.python,
                "folders": [context.site.wheels / name for name in step.wheels]}  # fmt: skip

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """Another vendor's plugin in the environment would be overwritten."""
        return in_the_way(f"paddle-custom-{context.stack.device}", context)

    def verify(self, step: Step, context: Context) -> list[Path]:
        """What each wheel's distribution has installed."""
        site = context.site.site_packages
        there = installed(site) if site else {}
        shown = []
        for name in step.wheels:
            for wheel in (context.site.wheels / name).glob("*.whl"):
                shown += recorded(there, wheel_name(wheel.name)[:2], "")
        return shown


def in_the_way(distribution: str, context: Context) -> Lack | None:
    """What a plugin of this name would overwrite in the environment; None for nothing."""
    found = plugin_in_the_way(distribution, context.site.site_packages)
    if found is None:
        return None
    return Lack("plugin-overlap", f"{found.distribution} {found.version}")
