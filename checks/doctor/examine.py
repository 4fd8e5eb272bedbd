"""Examines the machine: reads the facts, asks every check, and orders what they say."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from checks.machine.finding import Check, Evidence, Finding, State, UnreadError
from checks.machine.registry import CHECKS
from provision import stack
from provision.facts import pci, snapshot
from provision.facts.snapshot import UNSENT, Facts, Unread
from provision.paths import targets

if TYPE_CHECKING:
    from provision.facts.sent_files import Sent

# By which states of an earlier check a finding of each state is explained.
_EXPLAINED: Mapping[str, tuple[State, ...]] = {
    "absent": ("error", "follows"),
    "warning": ("error", "follows"),
    "error": ("error", "follows"),
    "unknown": ("error", "follows", "unknown"),
}
FALLBACK = "loopback"  # runs everywhere, so it is what a machine without a known card can have


class Report(msgspec.Struct, frozen=True):
    """The result of one examination. `seconds` is how long it took.

    `taken` is when a snapshot was taken (seconds since 1970), None for this machine as it is;
    `sent` is the folder of outputs that tells of the machine, None where there is none.
    """

    facts: Facts
    findings: list[Finding]
    seconds: float
    taken: float | None = None
    sent: Sent | None = None


def examine(
    target: str | None = None, fresh: bool = False, root: Path = Path("/"), container: str = "",
    env: str = "",
) -> Report:  # fmt: skip
    """Examine this machine for a target; for None, the one of its accelerators.

    `fresh` repeats what an earlier run has proved; `root` is the prefix of /proc, /sys and /etc.
    `container` is the name of one that is examined too, "" for none; `env` is a Python environment
    that is examined in place of Paddock's own, "" for that. Raises PaddockError
    `unknown-target`, `stack-*` for a broken stack file, and what snapshot.collect raises.
    """
    begin = time.monotonic()
    cards = snapshot.cards(root)
    wanted = target if target not in (None, "auto") else _own_target(cards())
    loaded = stack.load(stack.stack_file(wanted or FALLBACK))
    facts = snapshot.collect(loaded, fresh, root, container, env, cards)
    return Report(facts, ask(facts), time.monotonic() - begin)


def _own_target(cards: list[pci.Device] | Unread) -> str | None:
    """The target of this machine's accelerators, where this version has it.

    Otherwise the check of the accelerators says so; the rest can still be examined.
    """
    found = None if isinstance(cards, Unread) else pci.target_for(cards)
    return found if found in targets() else None


def ask(facts: Facts, checks: Iterable[Check] = CHECKS) -> list[Finding]:
    """The finding of each check, in order; consequences are marked as such."""
    found: dict[str, Finding] = {}
    for check in checks:
        found[check.id] = _answer(check, facts, found)
    return list(found.values())


def _answer(check: Check, facts: Facts, found: Mapping[str, Finding]) -> Finding:
    """The finding of one check, or `follows` where an earlier one explains it.

    What stands behind something that is absent cannot be asked at all. Behind an error it is
    asked, and only a bad answer is taken for a consequence; behind something unknown, only
    another unknown.
    """
    if check.devices and facts.device not in check.devices:
        return Finding("apart", id=check.id)
    if facts.sent and not _rests_on_what_was_sent(check, facts):
        return Finding("unknown", "unsent", id=check.id)
    parents = [found[name] for name in check.needs if found[name].case != "unsent"]
    if cause := next((one for one in parents if one.state == "absent"), None):
        return Finding("follows", id=check.id, follows=cause.id)
    finding = msgspec.structs.replace(_ask(check, facts), id=check.id)
    explained = _EXPLAINED.get(finding.state, ())
    cause = next((one for one in parents if one.state in explained), None)
    if cause is None:
        return finding
    root = cause.follows or cause.id
    return Finding("follows", evidence=finding.evidence, id=check.id, follows=root)


def _rests_on_what_was_sent(check: Check, facts: Facts) -> bool:
    """Whether the answer of a check stands, where only outputs tell of the machine.

    What such a fact does not tell is no evidence. An answer that depends on the tools' outputs has
    to show one of them: a file that was not sent is not a file that is not there.
    """
    finding = _ask(check, facts)
    if finding.case == "unread":
        return False
    outputs = [] if isinstance(facts.outputs, Unread) else facts.outputs
    without = _ask(check, msgspec.structs.replace(facts, outputs=UNSENT))
    if finding == without:
        return True
    names = {name for one in outputs for name in (one.source, one.real) if name}
    # A file may have any name, also one that is a part of some other place's.
    return any(evidence.where in names for evidence in finding.evidence)


def _ask(check: Check, facts: Facts) -> Finding:
    """Run one check. A check that cannot read or that crashes has found nothing out."""
    try:
        return check.run(facts)
    except UnreadError as error:
        return Finding("unknown", "unread", evidence=[Evidence(str(error), "collector")])
    except Exception as error:
        line = f"{type(error).__name__}: {error}"
        return Finding("unknown", "crashed", evidence=[Evidence(line, f"check {check.id}")])
