"""Does the kernel's log show a known failure of the accelerators' drivers, or of their links?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.logs.catalogue import Failure, failures
from checks.machine import here
from checks.machine.finding import Check, Evidence, Finding, known
from provision.facts.cards import of_device
from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.facts.texts.modules import KernelLog

_GROUPS = ("driver", "container", "machine")  # of the known failures
_AER = re.compile(r"AER: .{0,80}(?:Uncorrect|[Ff]atal)|severity=Uncorrect")
_HARMLESS = "tainting kernel"  # said of each module from outside of the kernel that it then loads
_SOURCE = "the kernel's PCI/pcieaer-howto"


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    logs = [output for output in outputs if output.source.split()[:1] == ["dmesg"]]
    logs += [output for _, output in found(outputs, KernelLog) if output not in logs]
    if not any(output.text and not output.status for output in logs):
        # Only root may read it on many systems; that is no fault of the machine.
        said = [output.text.strip() or output.problem for output in logs] or ["not asked"]
        return Finding("apart", evidence=[Evidence(said[0], "dmesg")])
    if errors := list(_link_errors(facts, logs)):
        values = {"slot": errors[0][0]}
        return Finding("warning", "link", values, [one for _, one in errors[-5:]], source=_SOURCE)
    for failure, line in _known(outputs):
        values = {"id": failure.id, "why": str(failure.cause), "fix": str(failure.fix)}
        command = f"paddock explain {failure.id}"
        return Finding("warning", "known", values, [line], command, failure.source)
    count = sum(len(log.lines) for log, _ in found(outputs, KernelLog))
    return Finding("ok", evidence=[Evidence(f"lines of the drivers: {count}", logs[0].source)])


def _known(outputs: list[Output]) -> Iterator[tuple[Failure, Evidence]]:
    """The known failures that the drivers' lines show, the newest first."""
    for log, output in found(outputs, KernelLog):
        for line in reversed([line for line in log.lines if _HARMLESS not in line]):
            rows = [one for one in failures().values() if one.group in _GROUPS]
            yield from ((one, Evidence(line, output.source)) for one in rows if one.matches(line))


def _link_errors(facts: Facts, logs: list[Output]) -> Iterator[tuple[str, Evidence]]:
    """Errors that the link of a card could not correct."""
    slots = [card.slot for card in of_device(here.cards(facts), facts.device)]
    for output in logs:
        for line in output.text.splitlines():
            slot = next((slot for slot in slots if slot in line), None)
            if slot and len(line) < 2000 and _AER.search(line):  # noqa: PLR2004
                yield slot, Evidence(line.strip(), output.source)


CHECK = Check("kernel-log", _run, needs=("driver-module",), devices=("npu", "gcu"))
