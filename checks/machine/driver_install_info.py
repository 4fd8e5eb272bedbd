"""Is /etc/ascend_install.info there, with what containers and CANN look for in it?"""

from __future__ import annotations

from checks.machine import here
from checks.machine.finding import Check, Evidence, Finding, UnreadError, known
from checks.machine.lines import line_of
from provision.facts import ascend_driver
from provision.facts.snapshot import Facts

_SOURCE = "https://github.com/vllm-project/vllm-ascend/issues/632; set_env.sh of CANN 9"
_INFO = ascend_driver.INFO


def _run(facts: Facts) -> Finding:
    info = ascend_driver.install_info(known(facts.outputs))
    if info is None:
        return _absent(facts)
    output = info.output
    if output.problem:
        return Finding("unknown", "closed", {}, [Evidence(output.text, output.source)])
    if line := line_of(output, ascend_driver.PATH_KEY, "="):
        return Finding("ok", evidence=[Evidence(line, output.source)])
    evidence = [Evidence(f"no {ascend_driver.PATH_KEY}", output.source)]
    command = f"grep {ascend_driver.PATH_KEY} {_INFO}"
    return Finding("warning", "key", {"name": ascend_driver.PATH_KEY}, evidence, command, _SOURCE)


def _absent(facts: Facts) -> Finding:
    """None. In a container npu-smi may fail for the want of it."""
    if facts.sent:  # a file that was not sent is not absent
        raise UnreadError(_INFO)
    evidence = [Evidence("not there", _INFO)]
    if not here.in_container(facts):
        return Finding("warning", "absent", {}, evidence, f"ls -l {_INFO}", _SOURCE)
    if here.npu_answers(facts):  # Paddle's own images are run without it
        return Finding("ok", evidence=[*evidence, Evidence("answers", ascend_driver.TOOL)])
    return Finding("error", "unmounted", {}, evidence, source=_SOURCE)


CHECK = Check("driver-install-info", _run, needs=("driver-installed",), devices=("npu",))
