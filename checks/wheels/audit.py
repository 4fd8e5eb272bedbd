"""The audit of one wheel: it is read once, then every question is asked about it."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from checks.machine import plugin_abi, plugin_cann, plugin_libc, plugin_libraries, plugin_pair
from checks.machine.finding import APART, Check, Evidence, Finding, UnreadError
from checks.wheels import archive, contents, fit, form, imports, libraries, links, origin, trial
from checks.wheels import place as places
from checks.wheels.archive import UnsafeError
from checks.wheels.contents import Contents
from checks.wheels.place import Place
from checks.wheels.subject import Subject, Trial, parsed
from provision.amounts import size
from provision.errors import PaddockError

_CAUSE = ("error", "follows")


class Question(NamedTuple):
    """What is asked about a wheel; `needs` are the questions whose bad answers explain its own."""

    id: str
    ask: Callable[[Subject], Finding]
    needs: tuple[str, ...] = ()


class Audit(msgspec.Struct, frozen=True):
    """The answers about one wheel. `python` and `paddle` are the versions that it was held against.

    `target` is whose environment that was, "" for an environment of the user's own; `libraries` are
    the vendor's folders, as a path of the loader, in which libraries were looked for besides.
    """

    path: str
    name: str
    version: str
    tags: list[str]
    target: str
    python: str
    paddle: str | None
    libraries: str
    findings: list[Finding]


def _of_doctor(check: Check, *needs: str) -> Question:
    """A check of the doctor, asked as if the wheel were installed."""

    def ask(subject: Subject) -> Finding:
        devices = check.devices
        is_asked = subject.is_plugin and (not devices or subject.facts.device in devices)
        return check.run(subject.facts) if is_asked and subject.facts.environment else APART

    return Question(check.id, ask, needs)


_FORM = ("wheel-name", "wheel-metadata", "wheel-record")
QUESTIONS = (
    Question("wheel-name", form.name),
    Question("wheel-metadata", form.metadata),
    Question("wheel-record", form.record, ("wheel-metadata",)),
    Question("wheel-tag", fit.tag),
    Question("wheel-requires", fit.requires),
    Question("wheel-libraries", libraries.sound),
    Question("wheel-manylinux", libraries.manylinux),
    Question("wheel-runpath", libraries.runpath),
    Question("wheel-stack", libraries.stack),
    Question("wheel-provenance", origin.provenance),
    Question("wheel-conflict", origin.conflict),
    Question("wheel-surroundings", links.surroundings),
    _of_doctor(plugin_pair.CHECK),
    _of_doctor(plugin_libraries.CHECK, "wheel-libraries"),
    _of_doctor(plugin_libc.CHECK, "plugin-libraries"),
    _of_doctor(plugin_abi.CHECK, "plugin-libraries", "plugin-pair"),
    _of_doctor(plugin_cann.CHECK, "wheel-surroundings"),
    Question("wheel-installs", imports.installs, (*_FORM, "wheel-tag")),
    Question(
        "wheel-symbols", links.symbols,
        ("wheel-libraries", "plugin-pair", "plugin-libraries", "plugin-abi", "plugin-cann",
         "wheel-surroundings"),
    ),
    Question(
        "plugin-loads", imports.registers,
        ("wheel-libraries", "plugin-pair", "plugin-libraries", "plugin-libc", "plugin-abi",
         "plugin-cann", "wheel-symbols"),
    ),
)  # fmt: skip


def audit(
    path: Path, place: Place, *, importing: bool, rivals: tuple[Path, ...] = (),
    tried: Trial | None = None,
) -> Audit:  # fmt: skip
    """Examine a wheel for a place; with `importing` also by installing and importing it there.

    `tried` is a load that was made otherwise. Raises PaddockError `bad-wheel`,
    `temporary-full`.
    """
    name = parsed(path.name)
    with tempfile.TemporaryDirectory(prefix="paddock-wheel-") as scratch:
        site = Path(scratch).resolve() / "site"
        site.mkdir()
        try:
            subject = _read(path, place, site, rivals)
        except UnsafeError as error:
            found = [Finding("error", error.case, error.values, id="wheel-archive")]
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise PaddockError("temporary-full", path=tempfile.gettempdir()) from None
        else:
            found = _asked(subject, place, tried, importing=importing)
        found = [_plain(one, f"{site}/") for one in found]
    own = place.target if place.environment else ""
    version, tags = (name.version, name.tags) if name else ("", [])
    return Audit(str(path), name.name if name else "", version, tags, own, place.python,
                 place.paddle, place.libraries, found)  # fmt: skip


def _read(path: Path, place: Place, site: Path, rivals: tuple[Path, ...]) -> Subject:
    """The wheel with how it would link in the place. Raises UnsafeError, PaddockError."""
    name = parsed(path.name)
    with archive.opened(path) as whole:
        files = [archive.installed(one) for one in whole.namelist()]
        places.overlay(site, place, files, name.name if name else "")
        held = contents.read(whole, site)
    linked, apart = links.split(places.linked(held.libraries.values(), site, place), place.paddle)
    facts = places.facts(place, linked, *((name.name, name.version) if name else ("", "")))
    return Subject(path, name, held, facts, site, place.paddle, place.python, linked, apart, rivals)


def _asked(
    subject: Subject, place: Place, tried: Trial | None, *, importing: bool
) -> list[Finding]:
    """The answer to every question; what a graver one explains only follows from that."""
    found = {"wheel-archive": _sound(subject.contents)}
    for one in QUESTIONS:
        if one.id == "wheel-installs" and importing:
            subject = _tried(subject, place, found)
        if one.id == "wheel-symbols" and tried:  # after what an installer alone can tell
            subject = replace(subject, trial=tried)
        found[one.id] = _explained(one, _answer(one, subject), found)
    return list(found.values())


def _sound(held: Contents) -> Finding:
    whole = size(sum(one.size for one in held.members.values()))
    line = f"files: {len(held.members)}, {whole}"
    return Finding("ok", evidence=[Evidence(line, "archive")], id="wheel-archive")


def _tried(subject: Subject, place: Place, found: Mapping[str, Finding]) -> Subject:
    """The wheel after a trial; without one where there is no Paddle, or where it cannot work."""
    bad = [one for one in (*_FORM, "wheel-tag", "wheel-libraries") if found[one].state in _CAUSE]
    if place.paddle is None or bad:
        return subject
    files = [archive.installed(name) for name in subject.contents.members]
    name = subject.name.name if subject.name else ""
    try:
        made = trial.attempt(subject.path, place, files, name)
    except OSError as error:
        made = Trial(untried=str(error))
    return replace(subject, trial=made)


def _answer(question: Question, subject: Subject) -> Finding:
    """One answer. A question that crashes on an odd wheel has found nothing out."""
    try:
        return msgspec.structs.replace(question.ask(subject), id=question.id)
    except UnreadError as error:
        finding = Finding("unknown", "unread", evidence=[Evidence(str(error), "wheel")])
    except Exception as error:
        line = f"{type(error).__name__}: {error}"
        finding = Finding("unknown", "crashed", evidence=[Evidence(line, question.id)])
    return msgspec.structs.replace(finding, id=question.id)


def _explained(question: Question, made: Finding, found: Mapping[str, Finding]) -> Finding:
    """A bad answer is a consequence where a question that it needs has one as bad."""
    if made.state in ("ok", "apart"):
        return made
    explains = (*_CAUSE, "unknown") if made.state == "unknown" else _CAUSE
    cause = next((found[n] for n in question.needs if found[n].state in explains), None)
    if cause is None:
        return made
    root = cause.follows or cause.id
    return Finding("follows", evidence=made.evidence, id=question.id, follows=root)


def _plain(finding: Finding, site: str) -> Finding:
    """A finding that calls the wheel's files as they are called in it."""
    values = {name: value.replace(site, "") for name, value in finding.values.items()}
    evidence = [Evidence(one.line.replace(site, ""), one.where.replace(site, ""))
                for one in finding.evidence]  # fmt: skip
    return msgspec.structs.replace(finding, values=values, evidence=evidence)
