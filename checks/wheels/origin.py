"""Where the wheel comes from, and what it would overwrite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from checks.machine.finding import APART, Evidence, Finding
from checks.wheels import archive
from checks.wheels.contents import own_texts
from checks.wheels.subject import Subject, parsed
from provision import overlap, versions
from provision.digest import sha256
from provision.distributions import normal
from provision.errors import PaddockError
from provision.facts.installed import Environment
from provision.overlap import Overlap
from provision.papers import statement, statement_beside

_SLSA = "https://slsa.dev/spec/v1.0/provenance"


def provenance(subject: Subject) -> Finding:
    """The statement beside it, if there is one, is about this file and about the Paddle here."""
    file = statement_beside(subject.path)
    try:
        said = statement.read(subject.path)
    except (OSError, msgspec.MsgspecError) as error:
        return Finding("warning", "form", {"file": file.name, "reason": str(error)}, source=_SLSA)
    if said is None:
        return APART
    digest, values = sha256(subject.path), {"file": file.name}
    if not statement.is_about(said, digest):
        evidence = [Evidence(f"sha256 {digest}", subject.path.name)]
        return Finding("error", "other", values, evidence, source=_SLSA)
    made = said.paddle
    if made and subject.paddle and versions.same_release(made, subject.paddle) is False:
        values |= {"made": made, "paddle": subject.paddle}
        return Finding("warning", "paddle", values, [Evidence(f"paddle {made}", file.name)])
    return Finding("ok", evidence=[Evidence(f"sha256 {digest}", file.name)])


def conflict(subject: Subject) -> Finding:
    """No other distribution, installed or examined with it, has one of its files."""
    found = [*_installed(subject), *_examined(subject)]
    if not found:
        return Finding("ok", evidence=[Evidence("no file in common", subject.where)])
    worst = min(found, key=lambda one: one.same)
    evidence = [Evidence(one.file, f"{one.distribution} {one.version}") for one in found[:4]]
    values = {"file": worst.file, "other": worst.distribution, "count": str(len(found))}
    if worst.same:
        return Finding("warning", "same", values, evidence)
    return Finding("error", "differ", values, evidence, source="PaddleCustomDevice, setup.py.in")


def _digests(subject: Subject) -> dict[str, str]:
    """Its files by where they are installed -> the digest in its list, "" for none."""
    contents = subject.contents
    listed = {name: contents.record.get(name, ("", ""))[0] for name in contents.members}
    return _installed_as(listed)


def _installed_as(digests: Mapping[str, str]) -> dict[str, str]:
    return {str(archive.installed(name)): digest for name, digest in digests.items()}


def _installed(subject: Subject) -> Iterator[Overlap]:
    """What installed distributions share with it."""
    there = subject.facts.environment
    if isinstance(there, Environment) and subject.name:
        for folder in there.folders:
            yield from overlap.overlaps(subject.name.name, _digests(subject), Path(folder))


def _examined(subject: Subject) -> Iterator[Overlap]:
    """What the other wheels of this command share with it."""
    own = _digests(subject)
    for path in subject.rivals:
        name = parsed(path.name)
        if name and subject.name and normal(name.name) != normal(subject.name.name):
            theirs = _record(path)
            for file in sorted(own.keys() & theirs.keys()):
                yield Overlap(file, name.name, name.version, own[file] == theirs[file])


def _record(wheel: Path) -> dict[str, str]:
    """The same of another wheel; none of one that is damaged, which is told of itself."""
    try:
        with archive.opened(wheel) as whole:
            listed = overlap.rows(own_texts(whole)[1].get("RECORD", ""))
            return _installed_as({name: listed.get(name, "") for name in whole.namelist()})
    except (archive.UnsafeError, PaddockError):
        return {}
