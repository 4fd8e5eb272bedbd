"""Does `npu-smi` answer, and does PATH lead to it?"""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath

from checks import here
from checks.finding import Check, Evidence, Finding, UnreadError, known
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
_COMMANDS = {"internal": "dmesg | tail -50", "busy": "cat /proc/uda/namespace_node"}
_LIBRARY = re.compile(r"(lib[\w.+-]{1,80}\.so[\w.]{0,20}): cannot open shared object")
_DENIED = re.compile(r"Permission denied|权限不够")


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    shown = ascend_driver.table(outputs)
    if shown:
        return _answered(facts, shown[1])
    asked = next((one for one in outputs if one.source == ascend_driver.TOOL), None)
    asked = asked or next((one for one in outputs if _tells(one)), None)
    if asked is None:
        raise UnreadError("npu-smi was not asked")
    if asked.problem == "absent":
        return _absent(facts)
    if asked.problem == "silent":
        evidence = [_last(asked), *_holders(facts)]
        return Finding("error", "silent", {}, evidence, "dmesg | tail -50", _SOURCE)
    return _failed(facts, asked)


def _answered(facts: Facts, output: Output) -> Finding:
    """It answers; whether a user finds it too."""
    line = ascend_driver.line_of(output, "npu-smi") or "answers"
    evidence = [Evidence(line, output.real or output.source)]
    variables = facts.variables if isinstance(facts.variables, dict) else {}
    folder = str(PurePosixPath(output.real).parent)
    path = variables.get("PATH")
    if not path or not output.real.endswith("/npu-smi") or folder in path.split(os.pathsep):
        return Finding("ok", evidence=evidence)
    command = f"export PATH=$PATH:{folder}"
    return Finding("warning", "outside", {"folder": folder}, evidence, command, _SOURCE)


def _absent(facts: Facts) -> Finding:
    """In a container it has to be mounted; on a host the driver brings it."""
    case = "unmounted" if here.in_container(facts) else "absent"
    evidence = [Evidence("no npu-smi", "PATH, /usr/local/bin, /usr/local/sbin")]
    return Finding("error", case, {}, evidence, source=_SOURCE)


def _failed(facts: Facts, output: Output) -> Finding:
    """It said something else than a table."""
    failure = _failure(output)
    if failure and failure.code is not None:
        return _coded(facts, failure, output)
    if library := _LIBRARY.search(output.text):
        line = ascend_driver.line_of(output, library[1])
        evidence, values = [_where(line, output)], {"library": library[1]}
        return Finding("error", "library", values, evidence, f"ldd {output.real}", _SOURCE)
    if _DENIED.search(output.text):
        return Finding("error", "denied", {}, [_last(output)], f"ls -l {output.real}", _SOURCE)
    if output.problem or output.status or failure:
        values = {"status": "?" if output.status is None else str(output.status)}
        return Finding("error", "fails", values, [_last(output)], source=_SOURCE)
    return Finding("unknown", "layout", {}, [_last(output)], source=_SOURCE)


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
    return [Evidence(f"{one.path}: {one.pid} {one.name or '?'}", "/proc/PID/fd")
            for one in own[:5]]  # fmt: skip


def _last(output: Output) -> Evidence:
    return _where(ascend_driver.last_line(output), output)


def _where(line: str, output: Output) -> Evidence:
    return Evidence(line, output.real or output.source)


CHECK = Check(
    "npu-tool", _run, devices=("npu",),
    needs=("driver-installed", "driver-install-info", "driver-module", "driver-nodes"),
)  # fmt: skip
