"""Is the wheel what its name says: its version, its own metadata, and its list of files?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice, product

import msgspec

from checks.machine.finding import Evidence, Finding, names
from checks.wheels.contents import STRONG, rows
from checks.wheels.subject import Subject, fields
from provision.distributions import normal
from provision.document import Table, tables
from provision.paths import IMAGES

_PEP440 = "PEP 440; packaging.python.org, version specifiers"
_PEP427 = "PEP 427; packaging.python.org, binary distribution format"
_UNSET = "0.0.0"  # what a plugin is called that was built without PADDLE_VERSION
_MOST = 4  # lines of evidence


class Installer(Table, frozen=True):
    """A row of `images/installers.toml`: what a tool makes of a version that PEP 440 forbids."""

    name: str
    takes: bool
    says: str
    source: str
    seen: str


@cache
def installers() -> list[Installer]:
    """What is known about the tools."""
    return tables(IMAGES / "installers.toml", "installers", Installer)


def name(subject: Subject) -> Finding:
    """The file's name is a wheel's, its version is one, and the metadata says the same."""
    found = subject.name
    if found is None:
        return _bad("form", {"file": subject.path.name}, [], _PEP427)
    values = {"name": found.name, "version": found.version}
    if not _is_version(found.version):
        told = [Evidence(f"{one.name}: {'+' if one.takes else 'x'} {one.says}", one.source)
                for one in installers()]  # fmt: skip
        return _bad("version", values, told, _PEP440)
    for key, own in (("name", found.name), ("version", found.version)):
        said = next(iter(subject.metadata.get(key, [])), "")
        if said and not _same(key, own, said):
            told = [Evidence(f"{key.title()}: {said}", "METADATA")]
            return _bad("differ", {"own": own, "said": said}, told, _PEP427)
    if subject.is_plugin and found.version == _UNSET:
        return msgspec.structs.replace(_bad("unset", values, [], ""), state="warning")
    return Finding("ok", evidence=[Evidence(f"{found.name} {found.version}", "file name")])


def _same(key: str, one: str, other: str) -> bool:
    """Whether two texts are one name, or one version."""
    from packaging.version import InvalidVersion, Version

    if key == "name":
        return normal(one) == normal(other)
    try:
        return Version(one.replace("_", "-")) == Version(other)
    except InvalidVersion:
        return one == other


def _is_version(text: str) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        Version(text.replace("_", "-"))
    except InvalidVersion:
        return False
    return True


def metadata(subject: Subject) -> Finding:
    """The wheel's own files are there, of a format that is known, and agree with its name."""
    contents = subject.contents
    if len(contents.infos) > 1:
        return _bad("several", {"folders": names(contents.infos)}, [], _PEP427)
    lost = [one for one in ("METADATA", "WHEEL", "RECORD") if one not in contents.texts]
    if lost:
        return _bad("missing", {"files": names(lost)}, [], _PEP427)
    wheel = fields(contents.texts["WHEEL"])
    version = next(iter(wheel.get("wheel-version", [])), "")
    if version.partition(".")[0] != "1":
        told = [Evidence(f"Wheel-Version: {version}", "WHEEL")]
        return _bad("format", {"version": version or "-"}, told, _PEP427)
    if finding := _folder(subject) or _tags(subject, wheel.get("tag", [])):
        return finding
    if contents.libraries and "true" in wheel.get("root-is-purelib", []):
        told = [Evidence("Root-Is-Purelib: true", "WHEEL")]
        values = {"file": next(iter(contents.libraries))}
        return msgspec.structs.replace(_bad("pure", values, told, _PEP427), state="warning")
    return Finding("ok", evidence=[Evidence(f"Wheel-Version: {version}", "WHEEL")])


def _folder(subject: Subject) -> Finding | None:
    """The folder of the metadata is named as the file is."""
    if subject.name is None:
        return None
    own, _, version = subject.contents.info.removesuffix(".dist-info").partition("-")
    if normal(own) == normal(subject.name.name) and _same("version", version, subject.name.version):
        return None
    return _bad("folder", {"folder": subject.contents.info, "file": subject.path.name}, [], _PEP427)


def _tags(subject: Subject, said: list[str]) -> Finding | None:
    """WHEEL has the tags of the file's name; installers go by the name alone."""
    own = set(subject.name.tags) if subject.name else set()
    if not own or own == {tag for line in said for tag in _alone(line, len(own) + 1)}:
        return None
    told = [Evidence(f"Tag: {tag}", "WHEEL") for tag in said[:_MOST]]
    values = {"own": names(sorted(own)), "said": names(sorted(said)) or "-"}
    return msgspec.structs.replace(_bad("tags", values, told, _PEP427), state="warning")


def _alone(line: str, most: int) -> Iterator[str]:
    """Each tag of a line that names several by dots, as some tools write it; at most so many."""
    sets = (part.split(".") for part in line.lower().split("-"))
    return islice(map("-".join, product(*sets)), most)


def record(subject: Subject) -> Finding:
    """Each file is listed in RECORD with the digest and the size that it has."""
    told = list(_differences(subject))
    if not told:
        if again := _repeated(rows(subject.contents.texts.get("RECORD", ""))):
            values = {"file": again[0], "count": str(len(again))}
            return msgspec.structs.replace(_bad("again", values, [], _PEP427), state="warning")
        count = len(subject.contents.record)
        return Finding("ok", evidence=[Evidence(f"files: {count}", "RECORD")])
    case, file, _ = told[0]
    evidence = [Evidence(f"{other}: {line}", "RECORD") for _, other, line in told[:_MOST]]
    return _bad(case, {"file": file, "count": str(len(told))}, evidence, _PEP427)


def _differences(subject: Subject) -> Iterator[tuple[str, str, str]]:
    """Case, file and line of each file that is not as RECORD has it, the gravest case first."""
    contents, listed = subject.contents, subject.contents.record
    own = {f"{contents.info}/RECORD{end}" for end in ("", ".jws", ".p7s")}
    there = {file: one for file, one in contents.members.items() if file not in own}
    strong = {file for file in there if listed.get(file, ("",))[0].partition("=")[0] in STRONG}
    for file in sorted(strong):
        digest, size = listed[file]
        if there[file].digest != digest.rstrip("=") or size not in ("", str(there[file].size)):
            yield "changed", file, f"{digest} {size} / {there[file].digest} {there[file].size}"
    lines = set(rows(contents.texts.get("RECORD", "")))
    for file in _repeated(lines):
        yield "twice", file, " / ".join(sorted(line[1] for line in lines if line[0] == file))
    for file in sorted(listed.keys() - contents.members.keys()):
        yield "gone", file, "-"
    for file in sorted(there.keys() - listed.keys()):
        yield "unlisted", file, "-"
    for file in sorted((there.keys() & listed.keys()) - strong):
        yield "weak", file, listed[file][0] or "-"


def _repeated(lines: Iterable[tuple[str, str, str]]) -> list[str]:
    """The files that are named in more than one of these rows of RECORD."""
    return sorted(file for file, count in Counter(row[0] for row in lines).items() if count > 1)


def _bad(case: str, values: dict[str, str], evidence: list[Evidence], source: str) -> Finding:
    return Finding("error", case, values, evidence, source=source)
