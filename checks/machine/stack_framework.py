"""Is Paddle, with what it needs, installed as locked?"""

from __future__ import annotations

from checks.machine.differences import judge
from checks.machine.finding import Check, Finding
from provision.facts.snapshot import Facts


def _run(facts: Facts) -> Finding:
    return judge(facts, ("framework",))


CHECK = Check("stack-framework", _run, needs=("environment-python", "leftover-run"))
