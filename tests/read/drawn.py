"""Draws the tables of npu-smi and efsmi from values, in the layouts that the tools have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Die(NamedTuple):
    """A chip with the row above it, every value as printed."""

    npu: str
    name: str
    health: str
    power: str
    temp: str
    pages: str
    chip: str
    device: str
    bus: str
    aicore: str
    memory: str
    hbm: str


class Layout(NamedTuple):
    """Which columns a version prints, and how wide it draws."""

    tool: str
    driver: str
    device: str = ""  # the heading of the second column of the chip
    pages: bool = True
    hbm: bool = True
    wide: int = 0
    is_950: bool = False


def rule(widths: Sequence[int], mark: str = "-") -> str:
    """A rule."""
    return "+" + "+".join(mark * width for width in widths) + "+"


def row(widths: Sequence[int], texts: Sequence[str]) -> str:
    """A row."""
    return (
        "|"
        + "|".join(f" {text}".ljust(width) for text, width in zip(texts, widths, strict=True))
        + "|"
    )


def npu_table(
    layout: Layout, dies: Sequence[Die], processes: Sequence[Sequence[str]] | None
) -> str:
    """`npu-smi info`. A process is NPU, chip, id, name, memory; None draws no such table."""
    widths = [8, 18, 15, 52 + layout.wide] if layout.is_950 else [27, 15, 52 + layout.wide]
    whole = sum(widths) + len(widths) - 1
    lines = ["+" + "-" * whole + "+",
             "|" + f" npu-smi {layout.tool:<24} Version: {layout.driver}".ljust(whole) + "|",
             rule(widths), *_headings(layout, widths), rule(widths, "=")]  # fmt: skip
    for number, die in enumerate(dies):
        lines += [row(widths, cells) for cells in _die(layout, die)]
        inner = number + 1 < len(dies) and dies[number + 1].npu == die.npu
        lines.append("+" + "-" * whole + "+" if inner else rule(widths, "="))
    if processes is not None:
        lines += _processes(layout, whole, processes)
    return "\n".join(lines) + "\n"


def _headings(layout: Layout, widths: list[int]) -> list[str]:
    """The two lines of headings."""
    first = f"{'Power(W)':<12}{'Temp(C)':<18}" + ("Hugepages-Usage(page)" if layout.pages else "")
    second = f"{'NPU Util(%)' if layout.is_950 else 'AICore(%)':<12}{'Memory-Usage(MB)':<18}"
    second += "HBM-Usage(MB)" if layout.hbm else ""
    if layout.is_950:
        return [
            row(widths, ["NPU ID", "Name", "Health", first]),
            row(widths, ["", "", "Bus-Id", second]),
        ]
    return [row(widths, [f"{'NPU':<6}Name", "Health", first]),
            row(widths, [f"{'Chip':<6}{layout.device}", "Bus-Id", second])]  # fmt: skip


def _die(layout: Layout, die: Die) -> list[list[str]]:
    """The two rows of a chip."""
    first = f"{die.power:<12}{die.temp:<18}" + (die.pages if layout.pages else "")
    second = f"{die.aicore:<12}{die.memory:<18}" + (die.hbm if layout.hbm else "")
    if layout.is_950:
        return [[die.npu, die.name, die.health, first], ["", "", die.bus, second]]
    chip = f"{die.chip:<6}{die.device}" if layout.device else die.chip
    return [[f"{die.npu:<6}{die.name}", die.health, first], [chip, die.bus, second]]


def _processes(layout: Layout, whole: int, processes: Sequence[Sequence[str]]) -> list[str]:
    """The table of processes."""
    widths = [27, 15, 26, whole - 71]
    place = "NPU ID" if layout.is_950 else f"{'NPU':<8}Chip"
    lines = [rule(widths), row(widths, [place, "Process id", "Process name", "Process memory(MB)"]),
             rule(widths, "=")]  # fmt: skip
    for npu, chip, pid, name, memory in processes:
        if pid:
            where = npu if layout.is_950 else f"{npu:<8}{chip}"
            lines.append(
                "| " + " | ".join([f"{where:<25}", f"{pid:<13}", f"{name:<24}", memory]) + " |"
            )
        else:
            lines.append("|" + f" No running processes found in NPU {npu}".ljust(whole) + "|")
        lines.append(rule(widths, "="))
    return lines


def efsmi_table(
    banner: str, headings: Sequence[Sequence[str]], cards: Sequence[Sequence[Sequence[str]]]
) -> str:
    """`efsmi`: a banner, two rows of headings, two rows a card."""
    widths = [29, 18, 27]
    whole = sum(widths) + 2
    time = "+2026-01-02, 03:04:05 CST" + "-" * (whole - 24) + "+"
    lines = ["-" * (whole + 2), " Enflame System Management Interface ".center(whole + 2, "-"), "",
             time, "|" + banner.ljust(whole) + "|",
             "|" + "-" * whole + "|", *(row(widths, cells) for cells in headings),
             "|" + "=" * whole + "|"]  # fmt: skip
    for card in cards:
        lines += [*(row(widths, cells) for cells in card), rule(widths)]
    return "\n".join(lines) + "\n"
