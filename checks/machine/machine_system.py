"""Is this system one for which the vendor's installer knows packages, for these cards?"""

from __future__ import annotations

from checks.machine import here, told_cards
from checks.machine.finding import APART, Check, Evidence, Finding, UnreadError, known
from provision import systems
from provision.facts.cards import of_device
from provision.facts.outputs import found
from provision.facts.snapshot import Facts, Unread
from provision.facts.texts.system import OsRelease

_SOURCE = "ascend-deployer 26.0.0, compatibility_config.py (2026-08)"


def _run(facts: Facts) -> Finding:
    if here.in_container(facts):
        return APART  # the list is about the host, on which the driver is
    listed = {name for row in systems.systems() for name in row.generations}
    generations = sorted(_generations(facts) & listed)
    if not generations:
        return APART  # there is no list for these cards
    release = next(found(known(facts.outputs), OsRelease), None)
    if not release:
        raise UnreadError("/etc/os-release")
    system, output = release
    version = system.fields.get("VERSION") or system.version_id or ""
    arch = known(facts.machine).arch
    evidence = [Evidence(f"{system.name or system.id}, VERSION={version}, {arch}", output.source)]
    values = {"system": f"{system.id} {version}", "arch": arch, "generation": generations[0],
              "listed": _listed(generations[0], arch) or "-"}  # fmt: skip
    answers = {systems.supported(one, system.id, version, arch) for one in generations}
    if "unlisted" in answers:
        return Finding("warning", "unlisted", values, evidence, source=_SOURCE)
    if None in answers:
        return Finding("unknown", "open", values, evidence, source=_SOURCE)
    return Finding("ok", evidence=evidence)


def _generations(facts: Facts) -> set[str]:
    """Those of the cards on the bus; where nobody looked there, of the cards that a tool shows."""
    if isinstance(facts.accelerators, Unread):
        if told := told_cards.models(here.outputs(facts), facts.device):
            return told
        raise UnreadError(facts.accelerators.reason)
    cards = of_device(facts.accelerators, facts.device)
    return {card.generation for card in cards if card.generation}


def _listed(generation: str, arch: str) -> str:
    """The systems of the list, such as `ubuntu 22.04`."""
    rows = [row for row in systems.systems() if row.arch == arch and generation in row.generations]
    return ", ".join(f"{row.id} {row.version} {row.edition}".strip() for row in rows)


CHECK = Check("machine-system", _run, needs=("accelerator-generation",), devices=("npu", "gcu"))
