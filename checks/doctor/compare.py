"""What differs between two machines: first the checks that say something else, then the facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from checks.doctor.compare_outputs import comparable
from checks.doctor.compare_values import Difference, differences
from checks.doctor.examine import ask
from checks.machine.finding import Finding
from provision.errors import SOUND, WARNINGS
from provision.facts.snapshot import UNSENT, Facts
from provision.facts.snapshot_file import Saved, read

Pair = tuple[Finding, Finding]


class Comparison(msgspec.Struct, frozen=True):
    """Two machines, by the names of their files, and in what they differ.

    `unsent` are the facts that one of the two does not tell, so that they were not compared.
    """

    files: tuple[str, str]
    saved: tuple[Saved, Saved]
    checks: list[Pair]
    facts: list[Difference]
    unsent: list[str] = []

    @property
    def status(self) -> int:
        """The exit status: that of warnings where something differs."""
        return WARNINGS if self.checks or self.facts else SOUND


def compare(file_a: str, file_b: str) -> Comparison:
    """Compare two snapshots or folders of outputs.

    Raises PaddockError `bad-snapshot`, and what sent_folder.examine raises.
    """
    a, b = _saved(file_a), _saved(file_b)
    pairs = [pair for pair in zip(ask(a.facts), ask(b.facts), strict=True) if _differ(*pair)]
    sides = [plain(one.facts) for one in (a, b)]
    reason = msgspec.to_builtins(UNSENT)
    unsent = [name for name in sides[0] if reason in (sides[0][name], sides[1][name])]
    known = [{name: one for name, one in side.items() if name not in unsent} for side in sides]
    facts = list(differences(*known))
    if a.facts.sent or b.facts.sent:  # where only outputs tell, nothing is not a value
        facts = [one for one in facts if None not in one[1:]]
    return Comparison((file_a, file_b), (a, b), pairs, facts, unsent)


def _saved(file: str) -> Saved:
    """The machine of a snapshot or of a folder of outputs."""
    if not Path(file).is_dir():
        return read(file)
    from checks.doctor import sent_folder

    report = sent_folder.examine("", Path(file))
    return Saved(report.facts, report.taken or 0.0)


def plain(facts: Facts) -> dict[str, Any]:
    """The facts as plain values, the outputs by what they say."""
    values: dict[str, Any] = msgspec.to_builtins(facts)
    del values["sent"]  # how it was told, not what the machine is
    if isinstance(facts.outputs, list):
        values["outputs"] = comparable(facts.outputs)
    return values


def _differ(a: Finding, b: Finding) -> bool:
    """Whether two findings are other verdicts; other evidence for the same one is none.

    What was not sent of a machine, or does not arise there, is no verdict on it.
    """
    if "unsent" in (a.case, b.case) or "apart" in (a.state, b.state):
        return False
    return (a.state, a.case, a.follows) != (b.state, b.case, b.follows)
