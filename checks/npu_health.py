"""Does npu-smi say that each NPU is well? For one that is not, with its error codes."""

from __future__ import annotations

from checks.finding import Check, Evidence, Finding, UnreadError, known
from provision.facts import ascend_driver
from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.facts.texts.blocks import Blocks
from provision.facts.texts.npu_values import Card

_SOURCE = "npu-smi: OK, Warning, Alarm, Critical, UNKNOWN; Ascend/mind-cluster, fault codes"
_KIND = "npu-smi info -t health"
_SICK = ("alarm", "critical")


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    shown = ascend_driver.table(outputs)
    if not shown:
        raise UnreadError("npu-smi info")
    cards, output = shown[0].cards, shown[1]
    told = [card for card in cards if card.health is not None]
    bad = [card for card in told if (card.health or "").upper() != "OK"]
    if not told:
        return Finding("unknown", "unsaid", {}, [_row(card, output) for card in cards])
    if not bad:
        return Finding("ok", evidence=[_row(card, output) for card in told[:16]])
    return _finding(bad, outputs, output)


def _finding(bad: list[Card], outputs: list[Output], output: Output) -> Finding:
    """The worst of what the cards say."""
    sick = [card for card in bad if (card.health or "").lower() in _SICK]
    unclear = [card for card in bad if (card.health or "").lower() == "unknown"]
    worst = sick or [card for card in bad if card not in unclear] or unclear
    evidence = [_row(card, output) for card in bad] + _codes(bad, outputs)
    codes = " ".join(row[0] for row in _rows(worst, outputs)) or "-"
    values = {"npus": ", ".join(str(card.npu_id) for card in worst),
              "word": worst[0].health or "", "codes": codes}  # fmt: skip
    command = f"npu-smi info -t health -i {worst[0].npu_id}"
    if sick:
        return Finding("error", "alarm", values, evidence, command, _SOURCE)
    if worst is unclear:
        return Finding("unknown", "unclear", values, evidence, command, _SOURCE)
    return Finding("warning", "warning", values, evidence, command, _SOURCE)


def _rows(cards: list[Card], outputs: list[Output]) -> list[tuple[str, str, Output]]:
    """Codes and explanation of `-t health` for these cards."""
    ids = {card.npu_id for card in cards}
    told = [(block.values, output) for part, output in found(outputs, Blocks)
            if part.kind == _KIND for block in part.blocks if block.npu_id in ids]  # fmt: skip
    return [(str(values["Error Code"]), str(values.get("Error Information") or "-"), output)
            for values, output in told if values.get("Error Code")]  # fmt: skip


def _codes(cards: list[Card], outputs: list[Output]) -> list[Evidence]:
    return [Evidence(f"Error Code : {codes}; {text}"[:400], output.source)
            for codes, text, output in _rows(cards, outputs)]  # fmt: skip


def _row(card: Card, output: Output) -> Evidence:
    line = ascend_driver.line_of(output, f"| {card.npu_id} {card.name} ", card.health or "")
    return Evidence(line or f"{card.npu_id} {card.name} {card.health or '-'}", output.source)


CHECK = Check("npu-health", _run, needs=("npu-tool", "accelerator-count"), devices=("npu",))
