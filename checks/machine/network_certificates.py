"""Do the CA bundles that are set exist, and hold certificates?"""

from __future__ import annotations

from checks.machine.finding import Check, Finding, known
from checks.machine.setting import judge
from provision.facts.snapshot import Facts


def _run(facts: Facts) -> Finding:
    return judge(known(facts.settings).certificates)


CHECK = Check("network-certificates", _run)
