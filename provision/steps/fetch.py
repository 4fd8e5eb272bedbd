"""Kind `fetch`: what steps need of a vendor's package, downloaded and unpacked beside other work.

No stack file has such steps: `provision.fetching` adds them to a plan.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from provision.paths import ROOT
from provision.stack import Step
from provision.steps.base import Context, Kind, NotSo
from provision.vendor import deps
from provision.vendor.public import published
from provision.vendor.rows import Package, matches


class Fetch(Kind):
    """Satisfied by a file that can be used as it is."""

    template = "steps/fetch.sh.j2"
    by_machine = True
    can_wait = True

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """The arguments of `provision.vendor.download`, which runs with this Python."""
        package = context.stack.packages[step.package or ""]
        found = deps.find(package, context)
        if found is None or found.is_here:
            return {"python": sys.executable, "root": ROOT, "arguments": []}
        offer, file = found.offer, found.archive
        words: list[str | Path] = []
        if offer:
            file = context.site.downloads / offer.name
            words += ["--url", offer.url, "--referer", offer.referer]
        if found.archive or (offer and _is_archive(offer.name, package, context)):
            words += ["--unpack", context.site.unpacked]
        name = file.name if file else ""
        digest = offer.sha256 if offer else published(context.folder).get(name, "")
        words += ["--sha256", digest, "--", file or ""]
        return {"python": sys.executable, "root": ROOT, "arguments": words}

    def variables(self, step: Step, context: Context) -> Mapping[str, str]:
        """The user and the password of one's own server."""
        found = deps.find(context.stack.packages[step.package or ""], context)
        server = context.remote.server
        is_own = found and found.offer and found.offer.login
        return {"PADDOCK_DEPS_AUTH": server.login} if server and is_own else {}

    def verify(self, step: Step, context: Context) -> list[Path]:
        """Nothing of it has to be fetched any more.

        Whether an archive has held what was expected is told by the steps that need it.
        """
        found = deps.find(context.stack.packages[step.package or ""], context)
        if found and not found.is_here:
            raise NotSo(found.path.name)
        return [found.path] if found else []


def _is_archive(name: str, package: Package, context: Context) -> bool:
    patterns = (matches(one, deps.known(context)) for one in package.archives)
    return any(pattern and pattern.fullmatch(name) for pattern in patterns)
