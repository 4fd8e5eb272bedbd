"""Does the wheel fit this Python, this processor, this system, and what is installed?"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING

from checks.machine.finding import APART, Evidence, Finding, State, names
from checks.wheels.subject import Subject
from provision.distributions import normal

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_SOURCE = "packaging.python.org, platform compatibility tags"
_METADATA = "packaging.python.org, core metadata"
_FOREIGN = ("win", "macosx", "android", "ios")  # other systems, by how their tags begin


def tag(subject: Subject) -> Finding:
    """One of its tags is among those that pip would take here."""
    from packaging.tags import compatible_tags, cpython_tags, platform_tags

    if subject.name is None:
        return APART
    python = (int(subject.python.split(".")[0]), int(subject.python.split(".")[1]))
    interpreter, here = "cp{}{}".format(*python), list(platform_tags())
    known = [
        *cpython_tags(python, [interpreter], here),
        *compatible_tags(python, interpreter, here),
    ]
    own = subject.name.tags
    evidence = [Evidence(f"Tag: {one}", subject.path.name) for one in own[:4]]
    if {str(one) for one in known} & set(own):
        return Finding("ok", evidence=evidence)
    fitting = {f"{one.interpreter}-{one.abi}" for one in known}
    values = {"tag": own[0], "python": subject.python, "arch": platform.machine(),
              "newest": next((one for one in here if "many" in one), here[0])}  # fmt: skip
    if not any(one.rpartition("-")[0] in fitting for one in own):
        return Finding(_of_python(subject), "python", values, evidence, source=_SOURCE)
    return Finding("error", _platform(own), values, evidence, source=_SOURCE)


def _has(packages: Mapping[str, str], wanted: Requirement) -> bool:
    """Whether a package is there in a version that is admitted."""
    there = packages.get(normal(wanted.name))
    return there is not None and wanted.specifier.contains(there, prereleases=True)


def _of_python(subject: Subject) -> State:
    """How bad it is not to be for this Python: the one that runs this tool proves nothing."""
    return "unknown" if subject.facts.environment is None else "error"


def _platform(tags: list[str]) -> str:
    """Why no platform fits: another system, another processor, or a newer C library."""
    platforms = [one.rpartition("-")[2] for one in tags]
    if all(one.startswith(_FOREIGN) for one in platforms):
        return "system"
    if all(one.startswith("musllinux") for one in platforms):
        return "musl"
    return "libc" if any(one.endswith(f"_{platform.machine()}") for one in platforms) else "arch"


def requires(subject: Subject) -> Finding:
    """The versions of Python and of packages that its metadata asks for are there."""
    fields, there = subject.metadata, subject.facts.environment
    if not fields.keys() & {"requires-python", "requires-dist"}:
        return Finding("ok")
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

    place = {"python_version": ".".join(subject.python.split(".")[:2]),
             "python_full_version": subject.python, "extra": ""}  # fmt: skip
    try:
        ranges = [SpecifierSet(text) for text in fields.get("requires-python", [])]
        wanted = [Requirement(text) for text in fields.get("requires-dist", [])]
        asked = [one for one in wanted if one.marker is None or one.marker.evaluate(place)]
    except ValueError as error:  # of a requirement, a range or a marker
        return Finding("error", "form", {"reason": str(error)}, source=_METADATA)
    if bad := [one for one in ranges if not one.contains(subject.python, prereleases=True)]:
        values = {"wanted": str(bad[0]), "python": subject.python}
        return Finding(_of_python(subject), "python", values, source=_METADATA)
    packages = getattr(there, "packages", None)
    lost = [one for one in asked if not _has(packages, one)] if packages is not None else []
    if packages is None or not lost:
        return Finding("ok", evidence=[Evidence(str(one), "METADATA") for one in asked[:4]])
    evidence = [Evidence(f"{one.name} {packages.get(normal(one.name), '-')}", subject.where)
                for one in lost[:4]]  # fmt: skip
    return Finding(
        "warning", "packages", {"wanted": names(map(str, lost))}, evidence, source=_METADATA
    )
