"""Is NNAL (ATB), which the plugin links, there, in force, and of the same version as CANN?"""

from __future__ import annotations

from checks.cann import toolkit
from checks.finding import Check, Evidence, Finding, State, UnreadError, known
from provision import versions
from provision.facts import ascend
from provision.facts.linkage import Linkage
from provision.facts.snapshot import Facts, Unread

_SOURCE = "https://github.com/PaddlePaddle/Paddle/issues/68398 (libatb.so)"
_ATB = "libatb.so"


def _run(facts: Facts) -> Finding:
    tool = toolkit(facts)
    there = ascend.nnal(known(facts.outputs))
    homes = [one for one in known(facts.folders) if one.variable == "ATB_HOME_PATH"]
    lost = _lost(facts.linkage)
    state: State = "error" if lost else "warning"
    found = [Evidence(f"NNAL {file.version}", output.source) for file, output in there]
    evidence = [*([Evidence(lost, "ELF")] if lost else []), *found]
    if gone := next((one for one in homes if one.real is None), None):
        evidence = [Evidence(f"ATB_HOME_PATH={gone.path}", "variable"), *evidence]
        return Finding("error", "gone", {"path": gone.path}, evidence, source=_SOURCE)
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


def _lost(linkage: list[Linkage] | Unread | None) -> str:
    """The line that shows that a plugin needs ATB and does not find it; "" for none."""
    plugins = [] if isinstance(linkage, Unread) or linkage is None else linkage
    wanting = (one for plugin in plugins for one in plugin.needed)
    lost = next((one for one in wanting if one.name == _ATB and one.found is None), None)
    return f"{lost.of}: {_ATB} => not found" if lost else ""


def _holds(file: str, folder: str | None) -> bool:
    """Whether a version file is of the ATB that a folder belongs to."""
    return bool(folder) and f"{folder}/".startswith(file.rpartition("/")[0] + "/")


def _command(source: str) -> str:
    """The script that sets the variables: it is beside the folders of the versions."""
    place, _, rest = source.partition("/nnal/atb/")
    return f"source {place}/nnal/atb/set_env.sh" if rest and place.startswith("/") else ""


CHECK = Check("cann-nnal", _run, needs=("cann-installed", "cann-several"), devices=("npu",))
