"""Is NNAL (ATB), which the plugin links, there, in force, and of the same version as CANN?"""

from __future__ import annotations

from checks.cann import toolkit
from checks.finding import APART, Check, Evidence, Finding, State, UnreadError, known
from provision import versions
from provision.facts import ascend_kernels
from provision.facts.linkage import Linkage, Needed
from provision.facts.snapshot import Facts, Unread

_SOURCE = "https://github.com/PaddlePaddle/Paddle/issues/68398 (libatb.so)"
_ATB = "libatb.so"
_FIRST = "8.0.RC1"  # before it there was no such package


def _run(facts: Facts) -> Finding:
    tool = toolkit(facts)
    there = ascend_kernels.nnal(known(facts.outputs))
    homes = [one for one in known(facts.folders) if one.variable == "ATB_HOME_PATH"]
    need = _need(facts.linkage)
    lost = f"{need.of}: {_ATB} => not found" if need and need.found is None else ""
    state: State = "error" if lost else "warning"
    found = [Evidence(f"NNAL {file.version}", output.source) for file, output in there]
    evidence = [*([Evidence(lost, "ELF")] if lost else []), *found]
    if gone := next((one for one in homes if one.real is None), None):
        evidence = [Evidence(f"ATB_HOME_PATH={gone.path}", "variable"), *evidence]
        return Finding("error", "gone", {"path": gone.path}, evidence, source=_SOURCE)
    if not homes and not lost and _is_needless(facts, tool.version, need):
        return APART
    if not there and not homes:
        if facts.sent:
            raise UnreadError("no version file of NNAL")
        evidence.append(Evidence("no nnal/atb/*/version.info", "/usr/local/Ascend"))
        return Finding(state, "none", {"cann": tool.version}, evidence, source=_SOURCE)
    if not homes:
        return Finding(state, "unset", {}, evidence, _command(there[0][1].source), _SOURCE)
    # Of several the one in force is below ATB_HOME_PATH.
    near = [pair for pair in there if any(_holds(pair[1].real, one.real) for one in homes)]
    for file, output in near or there[:1]:
        if versions.same_release(file.version or "", tool.version) is False:
            values = {"nnal": file.version or "?", "cann": tool.version}
            evidence = [Evidence(f"NNAL {file.version}", output.source),
                        Evidence(f"CANN {tool.version}", tool.output.source)]  # fmt: skip
            return Finding("warning", "version", values, evidence, source=_SOURCE)
    home = Evidence(f"ATB_HOME_PATH={homes[0].path}", "variable")
    return Finding("ok", evidence=[*found, home])


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


CHECK = Check("cann-nnal", _run, needs=("cann-installed", "cann-several"), devices=("npu",))
