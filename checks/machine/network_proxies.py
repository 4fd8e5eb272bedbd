"""Are the proxies that are set addresses at all?"""

from __future__ import annotations

from checks.machine.finding import Check, Finding, known
from checks.machine.setting import judge
from provision.facts.snapshot import Facts


def _run(facts: Facts) -> Finding:
    # Most tools take an address without a scheme for http, some refuse it.
    return judge(known(facts.settings).proxies, mild=("no-scheme",))


CHECK = Check("network-proxies", _run)
