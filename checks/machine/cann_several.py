"""Do the paths in force lead to one CANN toolkit only?"""

from __future__ import annotations

from collections.abc import Sequence

from checks.machine.cann import shown, source_command
from checks.machine.finding import Check, Evidence, Finding, State, known
from provision import versions
from provision.facts import ascend
from provision.facts.ascend import Toolkit
from provision.facts.folders import Folder
from provision.facts.snapshot import Facts

_SOURCE = "https://github.com/vllm-project/vllm-ascend/issues/6271"
_LIBRARIES = "LD_LIBRARY_PATH"


def _run(facts: Facts) -> Finding:
    tools = ascend.toolkits(known(facts.outputs))
    if len(tools) < 2:  # noqa: PLR2004
        return Finding("ok", evidence=[shown(tool) for tool in tools] or [_none()])
    folders = known(facts.folders)
    loaded = ascend.on_path(tools, folders, _LIBRARIES)
    home = ascend.home(tools, folders)
    if home and loaded and _differ(home, loaded[0]):
        return _bad("error", "home", (loaded[0], home), tools, folders)
    if others := [tool for tool in loaded[1:] if _differ(tool, loaded[0])]:
        mixed = others[0].layout != loaded[0].layout
        state: State = "error" if mixed else "warning"
        pair = (loaded[0], others[0])
        return _bad(state, "layouts" if mixed else "both", pair, tools, folders)
    return Finding("ok", evidence=[shown(tool) for tool in loaded or tools])


def _bad(
    state: State, case: str, pair: Sequence[Toolkit], tools: list[Toolkit], folders: list[Folder]
) -> Finding:
    """What is wrong with two toolkits, of which the first one's libraries win."""
    named = [one for one in folders if one.variable in (_LIBRARIES, "ASCEND_TOOLKIT_HOME")]
    lines = [f"{one.variable}: {one.path}" for one in named if ascend.owner(tools, one)]
    values = {"first": pair[0].version, "one": pair[0].root,
              "second": pair[1].version, "other": pair[1].root}  # fmt: skip
    evidence = [Evidence(line, "variable") for line in lines]
    return Finding(state, case, values, evidence, source_command(pair[0]), _SOURCE)


def _differ(one: Toolkit, other: Toolkit) -> bool:
    """Whether two packages are of different versions; nnae and the toolkit may be of one."""
    return versions.same_release(one.version, other.version) is not True


def _none() -> Evidence:
    return Evidence("no toolkit", "version files")


CHECK = Check("cann-several", _run, needs=("cann-installed",), devices=("npu",))
