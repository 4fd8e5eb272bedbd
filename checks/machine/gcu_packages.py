"""Are the Tops packages that the plugin links against installed, all and whole?"""

from __future__ import annotations

from checks.machine.environment import plugin
from checks.machine.finding import Check, Evidence, Finding, UnreadError, known
from provision import versions
from provision.facts import enflame
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.facts.texts.packages import Package

_SOURCE = "PaddleNLP llm/devices/gcu: dpkg -i topsfactor tops-sdk eccl topsaten"
_GOOD = ("ii", "hi")  # dpkg: installed, and held at this version
Row = tuple[Package, Output]


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    rows = enflame.packages(outputs, enflame.TOPS)
    evidence = [_evidence(row) for row in rows]
    if half := [row for row in rows if row[0].state and row[0].state not in _GOOD]:
        values = {"name": half[0][0].name, "state": half[0][0].state or ""}
        shown = [_evidence(row) for row in half]
        return Finding("error", "half", values, shown, "dpkg --configure -a", _SOURCE)
    if not rows:
        return _none(facts, outputs)
    missing = [name for name in enflame.TOPS if name not in {one.name for one, _ in rows}]
    if missing:
        values = {"missing": ", ".join(missing)}
        return Finding("warning", "partly", values, evidence, source=_SOURCE)
    if odd := _other_release(rows):
        values = {"one": _named(odd[0]), "other": _named(odd[1])}
        return Finding("warning", "releases", values, evidence, source=_SOURCE)
    return Finding("ok", evidence=evidence)


def _none(facts: Facts, outputs: list[Output]) -> Finding:
    """None of them: rightly on a host whose containers have them, not where the plugin is."""
    if not enflame.lists_packages(outputs):
        raise UnreadError("dpkg -l, rpm -qa")
    evidence = [Evidence(f"none of {', '.join(enflame.TOPS)}", "dpkg -l, rpm -qa")]
    if plugin(facts):
        return Finding("error", "none", {}, evidence, source=_SOURCE)
    return Finding("absent", "elsewhere", {}, evidence, source=_SOURCE)


def _other_release(rows: list[Row]) -> tuple[Package, Package] | None:
    """Two of one counting that are of different releases.

    Only those numbered as TopsPlatform is (1.x) came as one set; newer parts count on their own.
    """
    platform = [(one, enflame.release_of(one)) for one, _ in rows]
    platform = [(one, version) for one, version in platform if versions.begins(version, "1")]
    for one, version in platform[1:]:
        if versions.same_release(version, platform[0][1]) is False:
            return platform[0][0], one
    return None


def _named(package: Package) -> str:
    return f"{package.name} {package.version}"


def _evidence(row: Row) -> Evidence:
    package, output = row
    return Evidence(f"{package.state or ''} {_named(package)}".strip(), output.source)


CHECK = Check("gcu-packages", _run, devices=("gcu",))
