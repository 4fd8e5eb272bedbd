"""The way of `provision`: stack -> lock -> facts -> plan -> run, for one target on this machine."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from provision import seal
from provision.errors import PaddockError
from provision.network import Network
from provision.paths import IMAGES, cache_dir
from provision.site import Site

if TYPE_CHECKING:
    from provision.journal import Entry, Witness
    from provision.plan import Planned
    from provision.progress import Progress
    from provision.run import Runner
    from provision.stack import Stack
    from provision.steps.base import Context, Sources
    from provision.vendor.remote import Remote


_HALF = ".tmp??????"  # what uv calls a file until it is whole


@dataclass(frozen=True)
class Options:
    """What the user asked for. `target` is a name, never `auto`; `jobs` counts compilers."""

    target: str
    release: str | None = None
    stack: Path | None = None
    begin: str | None = None
    only: tuple[str, ...] = ()
    network: Network = field(default_factory=Network)
    jobs: int = 1
    deps: Path | None = None
    any_system: bool = False
    server: str = ""
    """The address of a server with vendors' packages, with its password if it has one."""
    licences: frozenset[str] = frozenset()
    """The names of licences that the person accepts."""
    sources: tuple[tuple[str, Sources], ...] = ()
    """What is to be built from, each with its flag."""

    @property
    def site(self) -> Site:
        """Where the target lives."""
        return Site(self.target)

    @property
    def folder(self) -> Path:
        """The folder of the target's data."""
        return self.stack.parent if self.stack else IMAGES / self.target

    @property
    def fingerprint(self) -> str:
        """What a seal has to match."""
        built = "".join(f"\0{one}" for one in self.sources)
        return seal.fingerprint(self.folder, f"{self.release or ''}\0{self.stack or ''}{built}")


def holding(options: Options) -> int | None:
    """How many steps hold where there is nothing to do; None where a plan has to be made.

    Reads no more than the seal and the times of files.
    """
    if options.begin or options.only or not options.folder.is_dir():
        return None
    return seal.holds(options.site, options.fingerprint)


def prepare(options: Options) -> Context:
    """The stack, and the facts that a plan needs.

    Raises PaddockError of the classes `stack-*`, `unknown-*`, `no-steps`, and `bad-option` for a
    licence that no package of the target has.
    """
    from provision import stack
    from provision.facts.pythons import bounds, interpreters
    from provision.steps.base import Context

    loaded = stack.load(options.stack or stack.stack_file(options.target))
    release = loaded.release(options.release)
    if not loaded.steps:
        raise PaddockError("no-steps", target=loaded.target)
    found = next(interpreters(bounds(loaded.pythons(release))), None)
    return Context(
        loaded, options.folder, release, options.site, found[0] if found else None,
        "cp{}{}".format(*found[1]) if found else "", options.deps, options.any_system,
        remote=_remote(options), sources=sources(options, loaded),
    )  # fmt: skip


def sources(options: Options, stack: Stack) -> dict[str, Sources]:
    """What is to be built, by flag. Raises PaddockError `flags-apart` where no step is for it."""
    known = {step.flag for step in stack.steps if step.flag}
    for flag, _ in options.sources:
        if flag not in known:
            raise PaddockError("flags-apart", one=f"--{flag}", other=f"--target {stack.target}")
    return dict(options.sources)


def _remote(options: Options) -> Remote:
    """Where packages may be downloaded from. Raises PaddockError `bad-option`."""
    from provision.vendor import licences
    from provision.vendor.remote import Remote

    licences.check(options.licences, options.folder)
    accepted = options.licences | licences.accepted(options.site)
    if not options.server:
        return Remote(None, accepted, options.network.offline)
    from provision.vendor.server import Server

    return Remote(Server(options.server, options.network), accepted, options.network.offline)


def runner(context: Context, options: Options, progress: Progress) -> Runner:
    """What carries out a plan, and later starts the smoke tests in the same surroundings.

    The run's name holds the time and a random part: it names the folder of its logs, and marks
    its processes.
    """
    import uuid

    from provision.run import Runner, Settings

    name = time.strftime("%Y%m%d-%H%M%S-") + uuid.uuid4().hex[:8]
    settings = Settings(options.network, options.jobs, name)
    return Runner(context, settings, settings.variables(cache_dir()), progress)


def tidy(site: Site) -> int:
    """End what a killed run left running; returns the number of processes.

    Its installer may have left folders without RECORD, which no installer can replace, and files
    that it was still copying: they go, and so does what an undo had begun to remove. Raises
    PaddockError `installer-busy` where a vendor's installer or uninstaller goes on, which must not
    be cut short.
    """
    from provision.journal import Journal
    from provision.orphans import end_orphans, still_lasting

    last = Journal(site.journal).last().values()
    open_ = [one for one in last if one.event in ("start", "removing")]
    for one in open_:
        if one.run and (process := still_lasting(f"{one.run}/{one.step}")):
            raise PaddockError("installer-busy", step=one.step, process=process)
    ended = sum(end_orphans(run) for run in {one.run for one in open_ if one.run})
    if any(one.event == "removing" for one in open_):
        from provision.undo import remains

        for left in remains(site):
            shutil.rmtree(left)
    _drop_halves(site, is_killed=bool(open_))
    return ended


def _drop_halves(site: Site, *, is_killed: bool) -> None:
    """Remove from the environment what an installer of Python packages has left half done."""
    for info in site.site_packages.glob("*.dist-info") if site.site_packages else ():
        if not (info / "RECORD").exists():
            shutil.rmtree(info)
    for half in site.site_packages.rglob(_HALF) if is_killed and site.site_packages else ():
        if half.is_file():
            half.unlink(missing_ok=True)


def put_seal(context: Context, options: Options, planned: list[Planned]) -> None:
    """Seal a state in which every step holds, those tests that the target has included.

    Nothing is sealed where files cannot show that a step still holds.
    """
    from provision.journal import Journal

    last = Journal(context.site.journal).last()
    wanted = [one for one in planned if one.state != "skipped"]
    shown = [_witnesses(one, context, last.get(one.name)) for one in wanted]
    if None not in shown:
        flat = [(w.path, w.size, w.mtime) for of_one in shown for w in of_one or ()]
        seal.put(options.site, options.fingerprint, len(wanted), flat)


def _witnesses(one: Planned, context: Context, entry: Entry | None) -> list[Witness] | None:
    """The files that show that a step holds; None where no file does.

    A step of the machine may stand in no journal, since somebody else has done it.
    """
    from provision.journal import Witness
    from provision.steps.base import NotSo

    if not one.kind.by_machine:
        return entry.witnesses if entry else []
    try:
        return [Witness.of(path) for path in one.kind.verify(one.step, context)] or None
    except (NotSo, OSError):  # changed this moment
        return None


def write_locks(options: Options) -> list[Path]:
    """Resolve the wanted release, or all of them, anew; returns the files written."""
    from provision import lock
    from provision.run import Settings

    context = prepare(options)
    variables = Settings(options.network, options.jobs, "lock").variables(cache_dir())
    releases = [context.release] if options.release else list(context.stack.releases)
    return [
        path
        for release in releases
        for path in lock.write(options.folder, context.stack, release, variables)
    ]
