"""`provision --in container` as a person meets it: the host's part, then the container's."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from checks import bring
from provision import guard
from provision.amounts import duration
from provision.console import show, show_json
from provision.container import box, engine, images, load
from provision.container.inside import Inside
from provision.container.place import Place
from provision.container.settings import Settings, on_this_machine
from provision.container.sources import Copy
from provision.container.told import Reported
from provision.container.work import Work
from provision.engine import Options
from provision.errors import PaddockError
from provision.network import hidden
from provision.progress import Progress, as_step, progress
from provision.vendor import licences
from provision.wheels import recipe
from provision.words import text

Say = Callable[[str], None]


def provision(place: Place, *, yes: bool, json: bool) -> int:
    """Bring the stack to the wanted state in a container and prove it. Returns the exit status.

    Raises PaddockError: `busy`, those of the engine, what a step meets, `smoke-failed`.
    """
    began = time.monotonic()
    say: Say = (lambda line: None) if json else show
    place.check()
    client = engine.connect()
    _on_host(place, say, yes=yes, json=json)
    there = next(iter(box.ours(client, place.options.target)), None)
    name = there.name if there else place.name
    say(text("inside.title", target=place.options.target, container=name))
    with guard.exclusive(place.options.site), guard.signals(), progress(json=json) as shown:
        options = place.options
        agreed = licences.accept(options.site, options.licences, options.folder)
        for line in (*agreed, *plan_lines(place)):
            say(line)
        image, digest = images.obtain(client, place.image, shown)
        work = _started(place, client, place.settings(image, digest), shown)
        done = _done(work, say)
    changed = done["changed"] or done["smoke"] is not None
    seconds = time.monotonic() - began
    if json:
        show_json(done | {"place": "container", "container": name, "image": place.image.name,
                          "digest": digest, "sources": _told(place), "changed": changed,
                          "volumes": sorted(map(str, place.wanted.volumes)),
                          "seconds": round(seconds, 3)})  # fmt: skip
        return 0
    if done["stand_in"]:
        say(text("provision.stand-in", stand_in=done["stand_in"]))
    if not changed:
        say(text("provision.nothing", count=done["steps"], time=duration(seconds)))
        return 0
    for line in _ending(place, work, duration(seconds)):
        say(line)
    return 0


def dry_run(place: Place, *, json: bool) -> int:
    """Show what would be done. Nothing is changed, and no engine is asked."""
    place.check()
    if json:
        made = place.settings().made
        del made["image"]
        show_json({
            "schema": "paddock/container-plan/1", "target": place.options.target,
            "release": place.wanted.release, "container": place.name, "image": place.image.name,
            "digest": place.image.digest, **made, "steps": place.inside,
            "host": place.outside, "left": place.left, "sources": _told(place),
        })  # fmt: skip
        return 0
    if place.outside:
        bring.dry_run(_for_host(place), json=False)
    show(text("inside.title", target=place.options.target, container=place.name))
    for line in plan_lines(place):
        show(line)
    return 0


def plan_lines(place: Place) -> Iterator[str]:
    """The image, what the container gets of the machine and why, and which step is whose."""
    image, made = place.image, place.settings().made
    kind = "recorded" if image.recorded else "pinned" if image.digest else "first"
    yield text(f"inside.image.{kind}", image=image.name, digest=image.digest)
    mounts = made["mounts"]
    assert isinstance(made["devices"], list) and isinstance(mounts, dict)  # noqa: S101
    yield text("inside.gets", devices=" ".join(made["devices"]) or "-",
               mounts=" ".join(mounts) or "-")  # fmt: skip
    if place.wanted.volumes:
        volumes = text("plan.comma").join(map(str, place.wanted.volumes))
        yield text("inside.volumes", volumes=volumes)
    variable = on_this_machine(place.options.network)
    yield text("inside.network.host", variable=variable) if variable else text("inside.network.own")
    if place.wanted.privileged:
        yield text("inside.privileged")
    comma = text("plan.comma")
    yield text("inside.steps", steps=comma.join(place.inside) or "-")
    if place.left:
        yield text("inside.left", steps=comma.join(place.left))
    for step, order in place.orders:
        ref = order.ref or order.identity[:12]
        yield text("inside.sources", step=step.name, source=hidden(order.origin), ref=ref)
    if place.unsourced:
        flags = comma.join(f"--{step.flag}" for step in place.unsourced)
        steps = comma.join(step.name for step in place.unsourced)
        yield text("inside.unsourced", flags=flags, steps=steps)


def _told(place: Place) -> list[dict[str, str | None]]:
    """The sources as JSON values; `ref` is null where what is checked out or given counts."""
    return [{"step": step.name, "source": hidden(one.origin), "ref": one.ref or None}
            for step, one in place.orders]  # fmt: skip


def _for_host(place: Place) -> Options:
    """What is asked of the host: its own steps, and no sources, as nothing is built there."""
    begin = place.options.begin if place.options.begin in place.outside else None
    return replace(place.options, only=tuple(place.outside), begin=begin, sources=())


def _on_host(place: Place, say: Say, *, yes: bool, json: bool) -> None:
    """The steps that belong to the host: they hold, or they run there as ever."""
    if not place.outside:
        return
    from checks.chain import Face, carry_out

    say(text("inside.host"))
    try:
        carry_out(_for_host(place), Face.here(json=json, yes=yes))
    except PaddockError as error:
        if error.code != "package-missing":
            raise
        again = {"target": f"{place.options.target} --in container"}  # the command to repeat
        raise PaddockError(error.code, error.details, **{**error.values, **again}) from None


def _started(place: Place, client: Any, settings: Settings, shown: Progress) -> Work:
    """The container, running; where it has to be made or started, that is shown as a step."""
    found = box.fitting(client, settings)
    is_up = found is not None and found.status == "running"
    with contextlib.nullcontext() if is_up else as_step(shown, "container/start"):
        inside = box.running(client, settings, found)
    log = place.options.site.logs / time.strftime("container-%Y%m%d-%H%M%S.log")
    return Work(place, inside, shown, Path(log))


def _sources(place: Place, inside: Inside, shown: Progress) -> dict[str, Path]:
    """Where the sources are in the container, by their flags; what is not there yet is copied.

    With `--from` an address is asked again what its ref names now.
    """
    copies = [Copy(inside, step.flag, recipe.load(step.recipe or ""), order)
              for step, order in place.orders]  # fmt: skip
    asked_again = bool(place.options.begin)
    gone = [one for one in copies if not one.is_there or (asked_again and one.is_address)]
    if gone:
        from checks.build_recipe import ALL

        with guard.exclusive(ALL), as_step(shown, "container/sources"):
            for one in gone:
                one.put(place.options.network)
    return {one.flag: one.path for one in copies}


def _done(work: Work, say: Say) -> dict[str, Any]:
    """All that is done in there, as the run in there has told it; its levels are shown."""
    place = work.place
    if work.clear():
        say(text("inside.cleared"))
    load.load(work.inside, place.wanted, place.options.deps)
    sources = _sources(place, work.inside, work.progress)
    work.packages()
    if not place.asked:  # what was asked for is the host's, or in the image
        return bring.summary_json(place.options.target, 0, [], None, 0.0)
    try:
        done = work.steps(sources)
    except Reported as error:
        _levels(error.told.get("smoke"), say)
        raise
    _levels(done["smoke"], say)
    return done


def _levels(told: object, say: Say) -> None:
    """Show the levels of a report as it was told, where there is one."""
    if told is None:
        return
    import msgspec

    from checks.smoke.report import SmokeReport
    from checks.smoke.show import level_lines

    report = msgspec.convert(told, SmokeReport)
    if report.stand_in:
        say(f"  {report.stand_in}")
    for level in report.levels:
        for line in level_lines(level):
            say(line)


def _ending(place: Place, work: Work, took: str) -> Iterator[str]:
    """How a run ended that had something to do, and what can be typed next."""
    yield text("provision.only" if place.options.only else "provision.done",
               time=took, log=work.log)  # fmt: skip
    if not place.options.only and not place.proves:
        yield text("provision.unproved")
    yield text("inside.next", target=place.options.target)
