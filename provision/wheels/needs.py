"""What a build has to fetch, what of it is here already, and whether the rest can be had."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from provision import distributions
from provision.facts.command import Answer, run
from provision.facts.together import together
from provision.network import Network, hidden
from provision.paths import cache_dir
from provision.run import Settings
from provision.symptoms import classify
from provision.tools import uv
from provision.wheels import git, modules
from provision.wheels.recipe import TOOLS
from provision.wheels.source import Source
from provision.wheels.work import Work
from provision.words import text

_LIMIT = 30.0  # seconds for the answer of a server
_LATER = "Would download"  # uv, of packages that are not in its cache

Kind = Literal["source", "modules", "packages"]


@dataclass(frozen=True)
class Need:
    """One thing that a build needs, and whether it is here.

    `ask` says why it cannot be had from where it is, "" where it can and where only the build
    itself can tell.
    """

    kind: Kind
    name: str
    here: bool
    ask: Callable[[], str]

    def line(self, reason: str) -> str:
        """That it cannot be had, why, and how to bring it."""
        return text(f"gone.{self.kind}", name=self.name, reason=reason)


def needs(work: Work, network: Network) -> list[Need]:
    """The sources, their submodules and the packages of the environment. Nothing is fetched."""
    return [*_source(work, network), *_modules(work, network), *_packages(work, network)]


def lines(found: list[Need]) -> Iterator[str]:
    """For what the network is needed, and what is here."""
    gone, here = ("; ".join(one.name for one in found if one.here is so) for so in (False, True))
    yield text("network.needed", names=gone) if gone else text("network.none")
    if here:
        yield text("network.here", names=here)


def unreached(found: list[Need], network: Network) -> dict[Kind, str]:
    """Of what is neither here nor to be had now, why; all servers are asked side by side."""
    gone = [one for one in found if not one.here]
    asked = together([(lambda: "--offline") if network.offline else one.ask for one in gone])
    return {one.kind: reason for one, reason in zip(gone, asked, strict=True) if reason}


def _source(work: Work, network: Network) -> Iterator[Need]:
    source = work.source
    if source.kind == "remote":
        name = text("need.source", source=hidden(source.origin), ref=source.ref)
        here = git.has(source.root, source.commit)
        yield Need("source", name, here, partial(_silent, [source.origin], network))


def _modules(work: Work, network: Network) -> Iterator[Need]:
    """The submodules. Before the sources are here, all that the recipe names may be needed."""
    source, recipe = work.source, work.recipe
    if not source.has_history:
        return
    is_out = git.is_at(source.root, source.commit)
    given = source.root if is_out or source.kind == "remote" else Path(source.origin)
    if is_out:
        wanted = modules.missing(source, given, recipe, work.known)
    elif not (given / recipe.folder).is_dir():  # elsewhere, or without a work tree
        wanted = [one for one in recipe.modules if one.applies_here(work.known)]
    else:
        wanted = modules.wanted(recipe, given, work.known)
    ask = partial(_silent, _addresses(given, source), network)
    for here in (False, True):
        names = [one.path for one in wanted if modules.is_prepared(source, one.path) is here]
        if names:
            yield Need("modules", text("need.modules", names=", ".join(names)), here, ask)


def _addresses(top: Path, source: Source) -> list[str]:
    """Where the submodules of a repository are, as the user's own clone says, else as recorded.

    Those that are found beside it are left out.
    """
    listed = _urls(top, "--file", ".gitmodules") if (top / ".gitmodules").is_file() else {}
    own = _urls(Path(source.origin)) if source.kind == "repository" else {}
    found = (own.get(key, url) for key, url in listed.items())
    return [url for url in found if not url.startswith(".")]


def _urls(top: Path, *where: str) -> dict[str, str]:
    """The addresses of submodules in a file of git's configuration, by their keys."""
    rows = git.git(top, "config", *where, "--get-regexp", r"^submodule\..*\.url$").out
    return {key: url for key, _, url in (row.partition(" ") for row in rows.splitlines()) if url}


def _silent(addresses: list[str], network: Network) -> str:
    """Why one of these repositories does not answer, "" where all do."""
    for url in addresses:
        argv = ("ls-remote", "--quiet", "--heads", "--end-of-options", url, "no-such-branch")
        answer = git.git(None, *argv, network=network, limit=_LIMIT)
        if answer.status != 0:
            return git.reason(answer)
    return ""


def _packages(work: Work, network: Network) -> Iterator[Need]:
    """Paddle and the tools, where their environment has yet to be made."""
    python = work.python
    if python.env is None:
        return
    release = [f"paddlepaddle {python.paddle}"] if python.paddle else []
    tools = distributions.pins(TOOLS.read_text(encoding="utf-8"), f"{python.version}.0")
    name = text("need.packages", names=", ".join([*release, *tools]))
    here = python.executable.exists() or not _lacks(work, replace(network, offline=True))
    yield Need("packages", name, here, partial(_lacks, work, network))


def _lacks(work: Work, network: Network) -> str:
    """Why the packages cannot be had in this network, "" where they can.

    Offline they have to be in the cache. What is wrong with them themselves the build tells.
    """
    for answer in _resolved(work, network):
        if answer.status != 0 and (network.offline or classify(answer.lines) in git.UNREACHED):
            return answer.lines[-1].strip() if answer.lines else f"no end within {_LIMIT:.0f} s"
        if network.offline and _LATER in answer.err:
            return _LATER
    return ""


def _resolved(work: Work, network: Network) -> Iterator[Answer]:
    """What uv says of installing them, without doing it."""
    python, variables = work.python, Settings(network, 1, "").variables(cache_dir())
    locked: list[str | Path] = ["--no-deps", "--require-hashes"]
    for lock in python.locks:
        locked += ["--requirement", lock]
    loose: list[str | Path] = [*python.loose]
    with tempfile.TemporaryDirectory(prefix="paddock-needs-") as nowhere:
        ask = [uv(), "pip", "install", "--dry-run", "--target", nowhere, "--python"]
        for what in filter(None, (locked, loose)):
            yield run([*ask, python.interpreter, *what], _LIMIT, variables, Path(nowhere))
