"""Did the TopsRider installer end well, by its log?"""

from __future__ import annotations

from checks.machine.finding import APART, Check, Evidence, Finding, State, known
from provision.facts.enflame import MODULES
from provision.facts.outputs import found
from provision.facts.snapshot import Facts, Unread
from provision.facts.texts.notes import Install

_SOURCE = "TopsRider's installer, log of a good run (T9k guide for Enflame, 2025-03)"


def _run(facts: Facts) -> Finding:
    logs = sorted(found(known(facts.outputs), Install), key=lambda pair: pair[1].source)
    if not logs:
        return APART
    install, output = logs[-1]  # their names are dates, and only the last run counts
    case = _case(install)
    lines = [line for line in output.text.splitlines() if line.strip()]
    evidence = [Evidence(_line(case, lines, install), output.source)]
    if case == "ok":
        return Finding("ok", evidence=evidence)
    values = {"done": str(install.installed or len(install.parts)), "total": str(install.total)}
    state: State = "warning" if _driver_runs(facts) else "error"
    return Finding(state, case, values, evidence, f"less {output.source}", _SOURCE)


def _case(install: Install) -> str:
    """What the log shows."""
    if install.archive_good is False:
        return "archive"
    if not install.finished:
        return "unfinished" if install.total else "no-end"
    short = install.total is not None and (install.installed or 0) < install.total
    return "parts" if short else "ok"


def _line(case: str, lines: list[str], install: Install) -> str:
    """The line that shows the case: of the archive's test, or where the log ends."""
    if case == "archive":
        return next((line for line in lines if "Verifying archive" in line), lines[-1]).strip()
    if install.finished:
        return next(line for line in lines if "Install Finished" in line).strip()
    return lines[-1].strip()


def _driver_runs(facts: Facts) -> bool:
    """Whether the driver is loaded all the same, by an earlier or another installation."""
    loaded = () if isinstance(facts.kernel, Unread) else facts.kernel.loaded or ()
    return any(module.name in MODULES for module in loaded)


CHECK = Check("gcu-topsrider", _run, devices=("gcu",))
