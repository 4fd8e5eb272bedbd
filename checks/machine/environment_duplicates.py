"""Is every distribution in the environment once, and whole?"""

from __future__ import annotations

import msgspec

from checks.machine.finding import APART, Check, Evidence, Finding, made_anew, present
from provision.facts.oddities import Oddity
from provision.facts.snapshot import Facts

_SOURCE = "packaging.python.org, recording installed projects; pip: Ignoring invalid distribution"
# The worst first. What was overwritten is broken for whoever imports it.
_NEEDS = ("environment-python", "leftover-run", "stack-framework", "stack-packages")
_ORDER = ("overwritten", "twice", "torn", "shadowed", "leftover")


def _run(facts: Facts) -> Finding:
    if facts.sent:  # a list of packages does not tell what is odd about them
        return APART
    there = present(facts.environment)
    if not there.oddities:
        line = f"{len(there.packages)} packages, each once"
        return Finding("ok", evidence=[Evidence(line, there.site_packages or there.python)])
    odd = sorted(there.oddities, key=lambda one: _ORDER.index(one.kind))
    worst = odd[0]
    values = {"names": ", ".join(worst.names), "where": worst.where[0] if worst.where else "",
              "count": str(len(odd))}  # fmt: skip
    evidence = [*map(_evidence, odd[:6])]
    finding = Finding("warning", worst.kind, values, evidence, source=_SOURCE)
    if facts.foreign:
        return msgspec.structs.replace(finding, command=_command(worst, there.python))
    # It may still do its work, which a new one would interrupt: that is for the user to say.
    return msgspec.structs.replace(made_anew(finding, facts), safe=False)


def _evidence(odd: Oddity) -> Evidence:
    return Evidence(f"{odd.kind}: {', '.join(odd.names)}", ", ".join(odd.where))


def _command(odd: Oddity, python: str) -> str:
    """What shows more of it, or makes it good without taking anything away."""
    if odd.kind == "overwritten":
        return f"{python} -m pip show --files {odd.names[-1]}"
    if odd.kind in ("twice", "torn"):
        return f"{python} -m pip install --force-reinstall --no-deps {odd.names[0]}"
    if odd.kind == "shadowed":
        return f"{python} -m pip list -v"
    return f"ls -d {odd.where[0]}" if odd.where else ""


CHECK = Check("environment-duplicates", _run, needs=_NEEDS)
