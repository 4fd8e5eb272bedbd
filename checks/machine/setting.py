"""The shared answer of the checks that look at settings."""

from __future__ import annotations

from collections.abc import Sequence

from checks.machine.finding import Evidence, Finding, State
from provision.facts.settings import Setting


def judge(settings: Sequence[Setting], mild: tuple[str, ...] = ()) -> Finding:
    """An error that names the first wrong setting, with all wrong ones as evidence.

    A warning where nothing worse than the `mild` problems was found.
    """
    wrong = [setting for setting in settings if setting.problem]
    evidence = [_evidence(setting) for setting in wrong or settings]
    if not wrong:
        return Finding("ok", evidence=evidence or [Evidence("none set", "variables, pip.conf")])
    wrong.sort(key=lambda setting: setting.problem in mild)
    state: State = "warning" if wrong[0].problem in mild else "error"
    values = {"name": wrong[0].name, "shown": wrong[0].shown}
    return Finding(state, wrong[0].problem, values, evidence)


def _evidence(setting: Setting) -> Evidence:
    where = "pip.conf" if setting.name == "pip.conf" else "variable"
    return Evidence(f"{setting.name}={setting.shown}", where)
