"""Is NNAL (ATB), which the plugin links, there, in force, and of the same version as CANN?"""

from __future__ import annotations

from checks.machine.cann import shown, toolkit
from checks.machine.finding import APART, Check, Evidence, Finding, State, UnreadError, known
from provision import versions
from provision.facts import ascend_kernels
from provision.facts.ascend import Toolkit
from provision.facts.linking.linkage import Linkage, Needed
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread
from provision.facts.texts.versions import VersionFile

_SOURCE = "https://github.com/PaddlePaddle/Paddle/issues/68398 (libatb.so)"
_NEEDS = ("cann-installed", "cann-several", "cann-environment")
_ATB = "libatb.so"
_FIRST = "8.0.RC1"  # before it there was no such package
Row = tuple[VersionFile, Output]


def _run(facts: Facts) -> Finding:
    tool = toolkit(facts)
    there = ascend_kernels.nnal(known(facts.outputs))
    homes = [one for one in known(facts.folders) if one.variable == "ATB_HOME_PATH"]
    if not homes:
        return _not_in_force(facts, tool, there)
    if gone := next((one for one in homes if one.real is None), None):
        evidence = [Evidence(f"ATB_HOME_PATH={gone.path}", "variable"), *map(_shown, there)]
        return Finding("error", "gone", {"path": gone.path}, evidence, source=_SOURCE)
    # Of several the one in force is below ATB_HOME_PATH.
    near = [pair for pair in there if any(_holds(pair[1].real, one.real) for one in homes)]
    for pair in near or there[:1]:
        if versions.same_release(pair[0].version or "", tool.version) is False:
            values = {"nnal": pair[0].version or "?", "cann": tool.version}
            return Finding(
                "warning", "version", values, [_shown(pair), shown(tool)], source=_SOURCE
            )
    home = Evidence(f"ATB_HOME_PATH={homes[0].path}", "variable")
    return Finding("ok", evidence=[*map(_shown, there), home])


def _not_in_force(facts: Facts, tool: Toolkit, there: list[Row]) -> Finding:
    """What it means that ATB_HOME_PATH is not set."""
    need = _need(facts.linkage)
    lost = [Evidence(f"{_ATB} => not found", need.of)] if need and need.found is None else []
    if not lost and _is_needless(facts, tool.version, need):
        return APART
    state: State = "error" if lost else "warning"
    if there:
        command = _command(there[0][1].source)
        return Finding(state, "unset", {}, [*lost, *map(_shown, there)], command, _SOURCE)
    if facts.sent:
        raise UnreadError("no version file of NNAL")
    evidence = [*lost, Evidence("no nnal/atb/*/version.info", "/usr/local/Ascend")]
    return Finding(state, "none", {"cann": tool.version}, evidence, source=_SOURCE)


def _shown(row: Row) -> Evidence:
    return Evidence(f"NNAL {row[0].version}", row[1].source)


def _need(linkage: list[Linkage] | Unread | None) -> Needed | None:
    """What came of ATB's library where a plugin asks for it."""
    plugins = [] if isinstance(linkage, Unread) or linkage is None else linkage
    wanting = (one for plugin in plugins for one in plugin.needed)
    return next((one for one in wanting if one.name == _ATB), None)


def _is_needless(facts: Facts, cann: str, need: Needed | None) -> bool:
    """Whether ATB is found without its variable, or nobody asks for it."""
    known = isinstance(facts.linkage, list) and bool(facts.linkage)
    return bool(need or known) or versions.compare(cann, _FIRST) == -1


def _holds(file: str, folder: str | None) -> bool:
    """Whether a version file is of the ATB that a folder belongs to."""
    return bool(folder) and f"{folder}/".startswith(file.rpartition("/")[0] + "/")


def _command(source: str) -> str:
    """The script that sets the variables: it is beside the folders of the versions."""
    place, _, rest = source.partition("/nnal/atb/")
    return f"source {place}/nnal/atb/set_env.sh" if rest and place.startswith("/") else ""


CHECK = Check("cann-nnal", _run, needs=_NEEDS, devices=("npu",))
