"""The steps in a container: packages of the system, the plan by Paddock itself, the smoke tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provision import events
from provision.container.inside import Inside
from provision.container.place import Place
from provision.container.settings import places, private
from provision.container.told import MARK, Reported, Teller
from provision.facts.pythons import admitted
from provision.journal import SMOKE
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
        """End what a killed run has left at work there; returns whether there was anything."""
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
        """The steps by Paddock itself, as a document `paddock/provision/1`.

        `sources` are paths in there, by the flags that they are given with.

        Raises PaddockError as `provision` does; packages that are missing belong into the folder
        on this machine.
        """
        options, home = self.place.options, self.place.wanted.home
        words = ["--yes", "--release", self.place.wanted.release, "--jobs", str(options.jobs)]
        words += ["--only", ",".join(self.place.inside)]
        words += ["--from", options.begin] if options.begin in self.place.inside else []
        words += ["--deps", str(home / "packages")] if options.deps else []
        words += [word for flag, path in sources.items() for word in (f"--{flag}", str(path))]
        words += ["--offline"] if options.network.offline else []
        names = sorted(options.licences | licences.accepted(options.site))
        words += ["--accept-eula", ",".join(names)] if names else []
        try:
            return self._paddock("provision", *map(str, words))
        except Reported as error:
            if error.code != "package-missing":
                raise
            do = text("inside.package-missing", folder=options.deps or "DIR")
            raise Reported({**error.told, "do": do}, error.where) from None

    def proved(self) -> str | None:
        """What stood in for a card when the smoke tests passed on just this state, "" for nothing.

        None where they have not.
        """
        status, said = self._proof("holds", "")
        return said if status == 0 else None

    def prove(self) -> dict[str, Any]:
        """The smoke tests, as a document `paddock/smoke/1`.

        Raises PaddockError `smoke-failed`, `smoke-known`.
        """
        self.progress.started(SMOKE)
        try:
            report = self._paddock("smoke", "--level", "proof")
        finally:
            self.progress.over(SMOKE)
        self._proof("note", report["stand_in"] or "")
        return report

    def _paddock(self, task: str, *words: str) -> dict[str, Any]:
        target = self.place.wanted.stack.target
        program = str(self.place.wanted.home / "tool" / "paddock")
        return self.teller.ask([program, task, "--json", "--target", target, *words])

    def _proof(self, action: str, stand_in: str) -> tuple[int, str]:
        """Ask for the proof, or note it: the exit status and what was said."""
        state, said = places(self.place.wanted).state, bytearray()
        script = render("container/proof.sh.j2", {
            "tool": self.place.wanted.home / "tool", "target": self.place.wanted.stack.target,
            "journal": state / "journal.jsonl", "proof": state / "proved.sha256",
            "stand_in": state / "proved.stand-in",
        })  # fmt: skip
        words = ["sh", "-c", script, "sh", action, stand_in]
        status = self.inside.run(words, {}, lambda out, _: said.extend(out or b""), MARK)
        return status, said.decode()
