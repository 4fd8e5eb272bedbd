"""The steps in a container: packages of the system, the plan by Paddock itself, the smoke tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provision import events
from provision.container.inside import Inside
from provision.container.place import Place
from provision.container.settings import places, private
from provision.container.told import MARK, Teller
from provision.journal import SMOKE
from provision.progress import Progress
from provision.render import render
from provision.words import language

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
        """The packages of the system that the result needs. Raises PaddockError."""
        image = self.place.wanted.stack.image
        if not image or not image.packages:
            return
        script = render("container/packages.sh.j2", {"packages": image.packages})
        self.teller.script(PACKAGES, script)

    def steps(self) -> dict[str, Any]:
        """The steps by Paddock itself, as a document `paddock/provision/1`.

        Raises PaddockError as `provision` does.
        """
        options, home = self.place.options, self.place.wanted.home
        words = ["--yes", "--release", self.place.wanted.release, "--jobs", str(options.jobs)]
        words += ["--only", ",".join(self.place.inside)]
        words += ["--from", options.begin] if options.begin in self.place.inside else []
        words += ["--deps", str(home / "packages")] if options.deps else []
        words += ["--offline"] if options.network.offline else []
        return self._paddock("provision", *map(str, words))

    def proved(self) -> bool:
        """Whether the smoke tests have passed on just this state."""
        return self._proof("holds") == 0

    def prove(self) -> dict[str, Any]:
        """The smoke tests, as a document `paddock/smoke/1`.

        Raises PaddockError `smoke-failed`, `smoke-known`.
        """
        self.progress.started(SMOKE)
        try:
            report = self._paddock("smoke")
        finally:
            self.progress.over(SMOKE)
        self._proof("note")
        return report

    def _paddock(self, task: str, *words: str) -> dict[str, Any]:
        target = self.place.wanted.stack.target
        program = str(self.place.wanted.home / "tool" / "paddock")
        return self.teller.ask([program, task, "--json", "--target", target, *words])

    def _proof(self, action: str) -> int:
        state = places(self.place.wanted).state
        script = render("container/proof.sh.j2", {
            "tool": self.place.wanted.home / "tool", "target": self.place.wanted.stack.target,
            "journal": state / "journal.jsonl", "proof": state / "proved.sha256",
        })  # fmt: skip
        return self.inside.run(["sh", "-c", script, "sh", action], {}, lambda *_: None, MARK)
