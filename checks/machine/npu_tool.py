"""Does `npu-smi` answer, and does PATH lead to it?"""

from __future__ import annotations

import re

from checks.machine import here
from checks.machine.finding import Check, Evidence, Finding, UnreadError, known
from checks.machine.lines import holder, last, line_of
from checks.machine.vendor_tool import answered
from provision.facts import ascend_driver
from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread
from provision.facts.texts.npu_errors import Failure, Failures, codes
from provision.words import language

_SOURCE = "hicann/driver: dcmi_interface_api.h, npu_smi.h; images/dcmi_codes.toml"
# Public reports of these codes: https://github.com/vllm-project/vllm-ascend/issues/2698 (-8005),
# https://github.com/Ascend/cann-container-image/issues/46 (-8020), notes about a 310P (-9005).
_CASES = {-8005: "internal", -8020: "busy", -9005: "board"}
_COMMANDS = {"internal": "dmesg | tail -50", "unreached": "dmesg | tail -50",
             "busy": "cat /proc/uda/namespace_node"}  # fmt: skip
_LIBRARY = re.compile(r"(lib[\w.+-]{1,80}\.so[\w.]{0,20}): cannot open shared object")
_DENIED = re.compile(r"Permission denied|权限不够")


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    shown = ascend_driver.table(outputs)
    if shown:
        if facts.sent and (refused := next(filter(_refuses, outputs), None)):
            return _sometimes(refused, shown[1])
        line = line_of(shown[1], "npu-smi") or "answers"
        return answered(facts, "npu-smi", line, shown[1], _SOURCE)
    asked = next((one for one in outputs if one.source == ascend_driver.TOOL), None)
    asked = asked or next((one for one in outputs if _tells(one)), None)
    if asked is None:
        raise UnreadError("npu-smi was not asked")
    if asked.problem == "absent":
        return _absent(facts, asked)
    if asked.problem == "silent":
        evidence = [last(asked), *_holders(facts)]
        return Finding("error", "silent", {}, evidence, "dmesg | tail -50", _SOURCE)
    return _failed(facts, asked)


def _absent(facts: Facts, asked: Output) -> Finding:
    """In a container it has to be mounted; on a host the driver brings it."""
    # Of a machine that was only told of, nobody saw whether the driver is there.
    absent = "unfound" if facts.sent else "absent"
    case = "unmounted" if here.in_container(facts) else absent
    places = Evidence("no npu-smi", "PATH, /usr/local/bin, /usr/local/sbin")
    evidence = [last(asked) if facts.sent else places]
    return Finding("error", case, {}, evidence, source=_SOURCE)


def _failed(facts: Facts, output: Output) -> Finding:
    """It said something else than a table."""
    failure = _failure(output)
    if failure and failure.code is not None:
        return _coded(facts, failure, output)
    if library := _LIBRARY.search(output.text):
        line = line_of(output, library[1])
        evidence, values = [_where(line, output)], {"library": library[1]}
        return Finding("error", "library", values, evidence, f"ldd {output.real}", _SOURCE)
    if _DENIED.search(output.text):
        return Finding("error", "denied", {}, [last(output)], f"ls -l {output.real}", _SOURCE)
    if output.problem or output.status or failure:
        values = {"status": "?" if output.status is None else str(output.status)}
        return Finding("error", "fails", values, [last(output)], source=_SOURCE)
    return Finding("unknown", "layout", {}, [last(output)], source=_SOURCE)


def _sometimes(refused: Output, shown: Output) -> Finding:
    """Of two outputs one is an error: they were taken at two times, or at two places."""
    failure = _failure(refused)
    line = failure.text if failure else ""
    evidence = [_where(line, refused), _where(line_of(shown, "npu-smi") or "answers", shown)]
    values = {"code": str(failure.code if failure else "?")}
    return Finding("warning", "sometimes", values, evidence, source=_SOURCE)


def _refuses(output: Output) -> bool:
    """Whether it is an error of the whole tool, not of one question."""
    failure = _failure(output)
    return failure is not None and failure.code in _CASES


def _tells(output: Output) -> bool:
    """Whether a failure is one of the tool, not of a question about a card that is not there."""
    failure = _failure(output)
    return failure is not None and (failure.code is not None or "npu-smi" in failure.text)


def _failure(output: Output) -> Failure | None:
    """The first error that it told, one with a code before others."""
    errors = [one for part, _ in found([output], Failures) for one in part.errors]
    return next((one for one in errors if one.code is not None), next(iter(errors), None))


def _coded(facts: Facts, failure: Failure, output: Output) -> Finding:
    """A return code of DCMI or of npu-smi itself."""
    code = failure.code or 0
    row = codes().get(code)
    meaning = "?" if row is None else row.zh if language() == "zh" else row.en
    case = _CASES.get(code, "code" if row else "code-unknown")
    if case == "internal" and facts.sent:  # nobody saw the module, the nodes and the user
        case = "unreached"
    values = {"code": str(code), "name": row.name if row else "?", "meaning": meaning}
    evidence = [_where(failure.text, output)]
    if case == "busy":
        evidence += _holders(facts)
    return Finding("error", case, values, evidence, _COMMANDS.get(case, ""), _SOURCE)


def _holders(facts: Facts) -> list[Evidence]:
    """Who has the cards open, as far as can be seen from here."""
    if isinstance(facts.holders, Unread):
        return []
    own = [one for one in facts.holders.holders if one.path.startswith("/dev/davinci")]
    return [holder(one) for one in own[:5]]


def _where(line: str, output: Output) -> Evidence:
    return Evidence(line, output.real or output.source)


CHECK = Check(
    "npu-tool", _run, devices=("npu",),
    needs=("driver-installed", "driver-install-info", "driver-module", "driver-nodes"),
)  # fmt: skip
