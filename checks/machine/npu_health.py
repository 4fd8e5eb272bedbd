"""Does npu-smi say that each NPU is well? For one that is not, with its error codes."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from checks.machine.finding import Check, Evidence, Finding, UnreadError, known
from checks.machine.lines import line_of
from provision.facts import ascend_driver
from provision.facts.cards import well
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.facts.texts.blocks import Block

_SOURCE = "npu-smi: OK, Warning, Alarm, Critical, UNKNOWN; Ascend/mind-cluster, fault codes"
_KIND = "npu-smi info -t health"
_SICK = ("alarm", "critical")
_CODE = "Error Code"


class _Said(msgspec.Struct, frozen=True):
    """What was said of one NPU; its id is "?" where that is not told, the word "" for none."""

    npu: str
    word: str
    evidence: Evidence

    @property
    def low(self) -> str:
        """The word for comparing."""
        return self.word.lower()

    @property
    def bad(self) -> bool:
        """Whether it is not the word of a healthy one."""
        return well(self.word or None) is False


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    rows = list(_rows(outputs))
    asked = ascend_driver.blocks(outputs, _KIND)
    worse = {one.npu for one in rows if one.bad}
    rows += [one for one in map(_asked, asked) if one.word and one.npu not in worse]
    if not rows:
        raise UnreadError("npu-smi info")
    bad = [one for one in rows if one.bad]
    if bad:
        return _finding(bad, asked)
    if not any(one.word for one in rows):
        return Finding("unknown", "unsaid", {}, [one.evidence for one in rows])
    return Finding("ok", evidence=[one.evidence for one in rows[:16]])


def _finding(bad: list[_Said], asked: list[tuple[Block, Output]]) -> Finding:
    """The worst of what was said."""
    sick = [one for one in bad if one.low in _SICK]
    unclear = [one for one in bad if one.low == "unknown"]
    worst = sick or [one for one in bad if one not in unclear] or unclear
    ids = list(dict.fromkeys(one.npu for one in worst))
    coded = [(block, output) for block, output in asked
             if _id(block) in ids and block.values.get(_CODE)]  # fmt: skip
    values = {"npus": ", ".join(ids), "word": worst[0].word}
    if coded:
        values["codes"] = " ".join(str(block.values[_CODE]) for block, _ in coded)
    evidence = [one.evidence for one in bad] + [_coded(*row) for row in coded]
    command = f"npu-smi info -t health -i {ids[0]}" if ids[0] != "?" else ""
    if sick:
        case = "alarm" if coded else "alarm-uncoded"
        return Finding("error", case, values, evidence, command, _SOURCE)
    if worst is unclear:
        return Finding("unknown", "unclear", values, evidence, command, _SOURCE)
    case = "warning" if coded else "warning-uncoded"
    return Finding("warning", case, values, evidence, command, _SOURCE)


def _rows(outputs: list[Output]) -> Iterator[_Said]:
    """The cards of the table."""
    if shown := ascend_driver.table(outputs):
        for card in shown[0].cards:
            word = card.health or ""
            line = line_of(shown[1], f"| {card.npu_id} {card.name} ", word)
            evidence = Evidence(line or f"{card.npu_id} {card.name} {word}", shown[1].source)
            yield _Said(str(card.npu_id), word, evidence)


def _asked(row: tuple[Block, Output]) -> _Said:
    """What `-t health` said of one NPU."""
    block, output = row
    word = str(block.values.get("Health Status") or "")
    return _Said(_id(block), word, Evidence(f"Health Status : {word}", output.source))


def _coded(block: Block, output: Output) -> Evidence:
    """The codes, with what they mean where that was printed."""
    meaning = block.values.get("Error Information") or ""
    return Evidence(f"{_CODE} : {block.values[_CODE]}; {meaning}"[:400], output.source)


def _id(block: Block) -> str:
    return "?" if block.npu_id is None else str(block.npu_id)


CHECK = Check("npu-health", _run, needs=("npu-tool",), devices=("npu",))
