"""Is Huawei's driver installed? Its version file tells, and what else of it is there."""

from __future__ import annotations

from checks.machine import here
from checks.machine.finding import Check, Evidence, Finding, State, UnreadError, known
from checks.machine.lines import version
from provision.facts import ascend_driver
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread

_SOURCE = "CANN documentation, driver installation: /usr/local/Ascend/driver/version.info"
_FILE = "/usr/local/Ascend/driver/version.info"


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    if file := ascend_driver.driver(outputs):
        return Finding("ok", evidence=[version(*file)])
    if closed := ascend_driver.unreadable(outputs, "/driver/version.info"):
        evidence = [Evidence(closed.text, closed.source)]
        return Finding("unknown", "closed", {"path": closed.source}, evidence)
    if facts.sent:  # a file that was not sent is not absent
        raise UnreadError(_FILE)
    return _missing(facts, outputs)


def _missing(facts: Facts, outputs: list[Output]) -> Finding:
    """The file is not to be seen: what else of the driver is there tells what that means."""
    traces = _traces(facts)
    evidence = [Evidence("not there", _FILE), *traces]
    state: State = "warning" if here.npu_answers(facts) else "error"
    if here.in_container(facts):
        case = "unmounted" if traces else "container"
        return Finding(state, case, {}, evidence, source=_SOURCE)
    if not traces:
        return Finding("error", "absent", {}, evidence, source=_SOURCE)
    if not here.is_root(facts):
        return Finding("unknown", "hidden", {"path": _FILE}, evidence, f"sudo cat {_FILE}", _SOURCE)
    info = ascend_driver.install_info(outputs)
    path = info.fields.get(ascend_driver.PATH_KEY, "") if info else ""
    if path and path.rstrip("/") != "/usr/local/Ascend" and _has_module(facts):
        # Installed with --install-path: what it says is read from npu-smi.
        line = f"{ascend_driver.PATH_KEY}={path}"
        return Finding("ok", evidence=[Evidence(line, ascend_driver.INFO)])
    return Finding(state, "incomplete", {}, evidence, source=_SOURCE)


def _traces(facts: Facts) -> list[Evidence]:
    """What of the driver is there though its version file is not."""
    found: list[Evidence] = []
    if not isinstance(facts.kernel, Unread):
        loaded, files = ascend_driver.modules(facts.kernel), ascend_driver.files(facts.kernel)
        found += [Evidence(one.name, "/sys/module") for one in loaded or ()]
        found += [Evidence(one.path, "/lib/modules") for one in files or ()]
    nodes = [one for one in here.nodes(facts) if one.vendor == ascend_driver.VENDOR]
    found += [Evidence(one.path, "/dev") for one in nodes]
    tool = next((one for one in here.outputs(facts) if one.source == ascend_driver.TOOL), None)
    found += [Evidence(tool.real, tool.source)] if tool and tool.real else []
    return found[:5]


def _has_module(facts: Facts) -> bool:
    return not isinstance(facts.kernel, Unread) and bool(ascend_driver.modules(facts.kernel))


CHECK = Check("driver-installed", _run, needs=("accelerator-count",), devices=("npu",))
