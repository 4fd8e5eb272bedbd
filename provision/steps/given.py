"""Kind `given`: a wheel that no index has, from the folder of packages into the environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from provision.distributions import installed, normal, wheel_name
from provision.stack import Step
from provision.steps.base import Context, Kind, Lack
from provision.steps.built import order
from provision.steps.install import in_the_way
from provision.steps.packages import recorded
from provision.steps.vendor import missing, notes, path, row
from provision.vendor import deps, look
from provision.vendor.shown import shown
from provision.wheels import recipe
from provision.words import text


class Given(Kind):
    """Installed from the file alone: no index is asked."""

    template = "steps/given.sh.j2"

    def skips(self, step: Step, context: Context) -> str:
        """Where the same is built from sources."""
        found = _built(step, context)
        return text("skip.built", step=found.name) if found and order(found, context) else ""

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """The wheel with its digest, and the environment's interpreter."""
        file = path(row(step, context), context)
        digest = look.digest(file) if look.is_readable(file) else ""
        return {"python": context.site.python, "file": file, "folder": file.parent,
                "name": file.name, "sha256": digest, "trusted": context.site.trusted}  # fmt: skip

    def identity(self, step: Step, context: Context, script: str) -> str:
        """The wheel that is wanted: where it lay when it was installed does not matter.

        Of one from sources it is their commit, too: that of the file, else what is installed.
        """
        package = row(step, context)
        found, there = deps.find(package, context), shown(package, context).version
        version = there if found is None or found.archive else wheel_name(found.path.name)[1]
        return " ".join([self.template, str(deps.wanted(package, context)),
                         *version.split("+")[1:]])  # fmt: skip

    def verify(self, step: Step, context: Context) -> list[Path]:
        """What the pinned distribution has installed."""
        package, site = row(step, context), context.site.site_packages
        there, name = installed(site) if site else {}, normal(package.distribution)
        pin = deps.known(context)[package.pin]
        # One that was built from sources has their commit behind the version.
        own = (one for one in there if one[0] == name and one[1].partition("+")[0] == pin)
        return recorded(there, next(own, (name, pin)), ".so")

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """It has to be there, and no other plugin. Raises PaddockError `package-*`."""
        package = row(step, context)
        is_plugin = normal(package.distribution).startswith("paddle-custom-")
        rival = in_the_way(package.distribution, context) if is_plugin else None
        return rival or _or_build(missing([package], context), step, context)

    def note(self, step: Step, context: Context) -> str:
        """A digest that nobody has published, and other versions that are left alone."""
        return "; ".join(notes(row(step, context), context))


def _built(step: Step, context: Context) -> Step | None:
    """The step that builds the same package from sources."""
    return next((one for one in map(context.step, step.needs)
                 if one.kind == "built" and one.package == step.package), None)  # fmt: skip


def _or_build(lack: Lack | None, step: Step, context: Context) -> Lack | None:
    """What is missing, and how it could be had from sources."""
    found = _built(step, context)
    if lack is None or found is None or not found.recipe:
        return lack
    told = text("package.or-build", file=lack.remedy, flag=f"--{found.flag}",
                repository=recipe.load(found.recipe).repository)  # fmt: skip
    return lack._replace(details=(*lack.details, told))
