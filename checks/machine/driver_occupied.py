"""Where the driver has to be changed: which processes hold the cards and would stop it?"""

from __future__ import annotations

from checks.machine.finding import Check, Evidence, Finding, known
from checks.machine.lines import holder
from provision import versions
from provision.facts import ascend_driver
from provision.facts.nodes import Holder
from provision.facts.questions import Output
from provision.facts.snapshot import Facts

_SOURCE = "hicann/driver scripts: `The davinci nodes are occupied by some processes`"


def _run(facts: Facts) -> Finding:
    holders = known(facts.holders)
    own = [one for one in holders.holders if one.path.startswith("/dev/davinci")]
    evidence = [holder(one) for one in own[:10]] or [Evidence("none seen", "/proc/PID/fd")]
    if not own or not _is_due(known(facts.outputs)):
        return Finding("ok", evidence=evidence)
    pids = list(dict.fromkeys(one.pid for one in own))
    values = {"count": str(len(pids)), "processes": ", ".join(_named(own, pid) for pid in pids[:5])}
    return Finding("warning", "held", values, evidence, "fuser -v /dev/davinci*", _SOURCE)


def _is_due(outputs: list[Output]) -> bool:
    """Whether driver or firmware are to be installed anew: they do not fit, or another one runs."""
    shown, file = ascend_driver.table(outputs), ascend_driver.driver(outputs)
    running = shown[0].driver_version if shown else None
    on_disk = file[0].version if file else None
    other = bool(running and on_disk and versions.same_release(running, on_disk) is False)
    return other or ascend_driver.fits(outputs) is False


def _named(holders: list[Holder], pid: int) -> str:
    name = next((one.name for one in holders if one.pid == pid), None)
    return f"{pid} ({name})" if name else str(pid)


CHECK = Check("driver-occupied", _run, needs=("driver-installed",), devices=("npu",))
