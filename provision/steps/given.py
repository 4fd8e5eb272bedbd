"""Kind `given`: a wheel that no index has, from the folder of packages into the environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from provision.digest import sha256
from provision.distributions import installed, normal
from provision.stack import Step
from provision.steps.base import Context, Kind, Lack
from provision.steps.install import in_the_way
from provision.steps.packages import recorded
from provision.steps.vendor import missing, notes, path, row
from provision.vendor import deps


class Given(Kind):
    """Installed from the file alone: no index is asked."""

    template = "steps/given.sh.j2"

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """The wheel with its digest, and the environment's interpreter."""
        file = path(row(step, context), context)
        digest = sha256(file) if file.is_file() else ""
        return {"python": context.site.python, "file": file, "folder": file.parent,
                "name": file.name, "sha256": digest, "trusted": context.site.trusted}  # fmt: skip

    def identity(self, step: Step, context: Context, script: str) -> str:
        """The wheel that is wanted: where it lay when it was installed does not matter."""
        return f"{self.template} {deps.wanted(row(step, context), context)}"

    def verify(self, step: Step, context: Context) -> list[Path]:
        """What the pinned distribution has installed."""
        package, site = row(step, context), context.site.site_packages
        pin = normal(package.distribution), deps.known(context)[package.pin]
        return recorded(installed(site) if site else {}, pin, ".so")

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """It has to be there, and no other plugin. Raises PaddockError `package-*`."""
        package = row(step, context)
        is_plugin = normal(package.distribution).startswith("paddle-custom-")
        rival = in_the_way(package.distribution, context) if is_plugin else None
        return rival or missing([package], context)

    def note(self, step: Step, context: Context) -> str:
        """A digest that nobody has published, and other versions that are left alone."""
        return "; ".join(notes(row(step, context), context))
