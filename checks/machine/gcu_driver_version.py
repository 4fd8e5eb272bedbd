"""Is the driver that runs the one that is installed, and of one family with its tool?"""

from __future__ import annotations

from collections.abc import Iterator

from checks.machine.finding import Check, Evidence, Finding, known
from checks.machine.lines import line_of
from provision import versions
from provision.facts import enflame
from provision.facts.kernel import Kernel
from provision.facts.snapshot import Facts

_SOURCE = "outputs of efsmi in public reports: tool and driver of one release share two numbers"
_FAMILY = 2  # numbers


def _run(facts: Facts) -> Finding:
    kernel = known(facts.kernel)
    running = enflame.driver_version(kernel, known(facts.outputs))
    if running is None:
        evidence = [Evidence("no version", "efsmi, /sys/module/enflame/version")]
        return Finding("unknown", "unreadable", {}, evidence)
    module = enflame.module_version(kernel)
    loaded = module[1] if module else running[0]
    shown = [Evidence(f"driver {running[0]}", running[1])]
    for installed, where in _installed(kernel):
        if versions.same_release(installed, loaded) is False:
            values = {"loaded": loaded, "installed": installed}
            evidence = [*shown, Evidence(f"installed {installed}", where)]
            return Finding("warning", "reboot", values, evidence, "reboot")
    return _tool(facts, running[0]) or Finding("ok", evidence=shown)


def _installed(kernel: Kernel) -> Iterator[tuple[str, str]]:
    """The versions that the next boot of this kernel would load, and where they were read."""
    for file in kernel.files or ():
        if file.name in enflame.MODULES and file.kernel == kernel.release and file.version:
            yield file.version, file.path


def _tool(facts: Facts, driver: str) -> Finding | None:
    """A tool of another family than the driver's. Dates and counts are not compared."""
    shown = enflame.table(known(facts.outputs))
    tool = shown[0].tool_version if shown else None
    if not shown or not tool or versions.compare(tool, driver) is None:
        return None
    family = ".".join(driver.split(".")[:_FAMILY])
    if versions.begins(tool, family) is not False:
        return None
    line = line_of(shown[1], "Driver Ver") or f"efsmi {tool}, driver {driver}"
    values = {"tool": tool, "driver": driver}
    return Finding("warning", "tool", values, [Evidence(line, shown[1].source)], source=_SOURCE)


CHECK = Check("gcu-driver-version", _run, needs=("gcu-module",), devices=("gcu",))
