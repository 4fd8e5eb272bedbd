"""Are the package indexes that are set addresses at all?"""

from __future__ import annotations

from checks.machine.finding import Check, Finding, known
from checks.machine.setting import judge
from provision.facts.snapshot import Facts


def _run(facts: Facts) -> Finding:
    return judge(known(facts.settings).indexes)


CHECK = Check("network-index", _run)
