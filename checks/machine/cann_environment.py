"""Do the variables in force lead to CANN, its libraries, its Python parts and the driver's?"""

from __future__ import annotations

from collections.abc import Sequence

from checks.machine.cann import source_command, toolkit
from checks.machine.finding import Check, Evidence, Finding, State, known
from provision.facts import ascend, ascend_driver
from provision.facts.ascend import Toolkit
from provision.facts.folders import Folder
from provision.facts.questions import Output
from provision.facts.snapshot import Facts

_SOURCE = "CANN documentation, set_env.sh; https://github.com/vllm-project/vllm-ascend/issues/262"
_SINGLE = ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH", "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH")


def _run(facts: Facts) -> Finding:
    folders = known(facts.folders)
    gone = [one for one in folders if one.variable in _SINGLE and one.real is None]
    outputs = known(facts.outputs)
    tools = ascend.toolkits(outputs)
    if gone:
        values = {"name": gone[0].variable, "path": gone[0].path}
        evidence = [Evidence(f"{one.variable}={one.path}", "variable") for one in gone]
        command = source_command(tools[0]) if len(tools) == 1 else ""
        return Finding("error", "gone", values, evidence, command, _SOURCE)
    tool = toolkit(facts)
    case = _case(tools, folders, outputs)
    if case == "ok":
        return Finding("ok", evidence=_shown(tools, folders))
    evidence = [Evidence(_line(case), "variables"), *_shown(tools, folders)]
    values = {"path": tool.root}
    return Finding(_state(case, facts), case, values, evidence, source_command(tool), _SOURCE)


def _state(case: str, facts: Facts) -> State:
    """How bad it is. Where nothing is provisioned yet, no shell needs the variables."""
    if case == "unset" and facts.environment is None:
        return "absent"
    return "warning" if case in ("python", "driver") else "error"


def _case(tools: Sequence[Toolkit], folders: list[Folder], outputs: list[Output]) -> str:
    """What is not set as it should be, the worst first."""
    homes = [one for one in folders if one.variable in _SINGLE]
    libraries = ascend.on_path(tools, folders, "LD_LIBRARY_PATH")
    if not homes and not libraries:
        return "unset"
    if not libraries:
        return "libraries"
    if not homes:
        return "home"
    if not ascend.on_path(tools, folders, "PYTHONPATH"):
        return "python"
    installed = ascend_driver.driver(outputs) is not None
    return "driver" if installed and not _driver_found(folders, outputs) else "ok"


def _driver_found(folders: list[Folder], outputs: list[Output]) -> bool:
    """Whether the loader is led to the driver's libraries, by a variable or by its settings."""
    paths = [one.path for one in folders if one.variable == "LD_LIBRARY_PATH" and one.real]
    paths += [line for output in outputs if output.source.startswith("/etc/ld.so.conf.d/")
              for line in output.text.splitlines()]  # fmt: skip
    return any("/driver/lib64" in path for path in paths)


def _shown(tools: Sequence[Toolkit], folders: list[Folder]) -> list[Evidence]:
    """The variables that lead to a toolkit, each once."""
    lines = {one.variable: f"{one.variable}: {one.path}" for one in reversed(folders)
             if one.real and ascend.owner(tools, one)}  # fmt: skip
    return [Evidence(line, "variable") for line in reversed(lines.values())]


def _line(case: str) -> str:
    """What is missing, in words that hold in every language."""
    return {
        "unset": "ASCEND_TOOLKIT_HOME, LD_LIBRARY_PATH: no CANN",
        "libraries": "LD_LIBRARY_PATH: no CANN",
        "home": "ASCEND_TOOLKIT_HOME, ASCEND_HOME_PATH: not set",
        "python": "PYTHONPATH: no CANN",
        "driver": "LD_LIBRARY_PATH, /etc/ld.so.conf.d: no driver/lib64",
    }[case]


CHECK = Check("cann-environment", _run, needs=("cann-installed", "cann-several"), devices=("npu",))
