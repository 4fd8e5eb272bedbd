"""The steps in a container: packages of the system, the plan by Paddock itself, the smoke tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provision import events
from provision.container.inside import Inside
from provision.container.place import Place
from provision.container.settings import private
from provision.container.told import MARK, Reported, Teller
from provision.errors import PaddockError
from provision.facts.pythons import admitted
from provision.network import hidden
from provision.progress import Progress
from provision.render import render
from provision.vendor import licences
from provision.wheels import recipe
from provision.words import language, text

PACKAGES = "image/packages"


@dataclass(frozen=True)
class Work:
    """What is done in a container that runs and has the tool in it."""

    place: Place
    inside: Inside
    progress: Progress
    log: Path

    @property
    def teller(self) -> Teller:
        """Runs commands there; what may hold passwords reaches their environment alone."""
        network = self.place.options.network
        offline = {"UV_OFFLINE": "1", "PIP_NO_INDEX": "1"} if network.offline else {}
        variables = {"PADDOCK_LANG": language(), events.VARIABLE: "1", **private(network)}
        return Teller(self.inside, variables | offline, self.progress, self.log)

    def clear(self) -> bool:
        """End what a killed run has left at work there; returns whether there was anything.

        Raises PaddockError `installer-busy` where that is a vendor's installer, as on the host.
        """
        if left := self.inside.lasting():
            raise PaddockError("installer-busy", process=left[0], step=left[1])
        return self.inside.end(MARK)

    def packages(self) -> None:
        """The packages of the system that the result and the builds need. Raises PaddockError."""
        image = self.place.wanted.stack.image
        values = {"packages": image.packages if image else [], **self._builds()}
        if any(values.values()):
            self.teller.script(PACKAGES, render("container/packages.sh.j2", values))

    def _builds(self) -> dict[str, Any]:
        """The programs that builds from sources call, which have packages of their names, and the
        Pythons whose headers they may include; nothing where nothing is built."""
        recipes = [recipe.load(step.recipe or "") for step, _ in self.place.orders]
        names = {one.name for found in recipes for one in found.programs}
        is_compiled = any(one.build == "cmake" for one in recipes)
        wanted = self.place.wanted
        found = admitted(wanted.stack.pythons(wanted.release)) if is_compiled else []
        return {"programs": sorted(names | {"git"}) if recipes else [],
                "pythons": [f"python{version}" for version in found]}  # fmt: skip

    def steps(self, sources: Mapping[str, Path]) -> dict[str, Any]:
        """The steps by Paddock itself, and the proof, as `paddock/provision/1`.

        `sources` are paths in there, by the flags that they are given with.

        Raises PaddockError as `provision` does; packages that are missing belong into the folder
        on this machine.
        """
        options, wanted = self.place.options, self.place.wanted
        words = [str(wanted.home / "tool" / "paddock"), "provision", "--json", "--yes"]
        words += ["--target", wanted.stack.target, "--release", wanted.release]
        words += ["--only", ",".join(self.place.asked), "--jobs", str(options.jobs)]
        words += ["--from", options.begin] if options.begin in self.place.inside else []
        words += ["--deps", str(wanted.home / "packages")] if options.deps else []
        words += [word for flag, path in sources.items() for word in (f"--{flag}", str(path))]
        words += ["--offline"] if options.network.offline else []
        names = sorted(options.licences | licences.accepted(options.site))
        words += ["--accept-eula", ",".join(names)] if names else []
        try:
            return self.teller.ask(words)
        except Reported as error:
            raise self._of_here(error, sources) from None

    def _of_here(self, error: Reported, sources: Mapping[str, Path]) -> Reported:
        """The same failure with what to do on this machine, where the originals are."""
        told = dict(error.told)
        details = [*(told.get("details") or ())]
        if error.code == "package-missing":
            folder = self.place.options.deps or "DIR"
            told["do"] = text("inside.package-missing", folder=folder)
        for step, order in self.place.orders:
            path = str(sources[step.flag])
            if any(path in line for line in details):
                details.append(text("inside.copy", path=path, source=hidden(order.origin)))
        return Reported(told | {"details": details}, error.where)
