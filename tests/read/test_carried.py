"""What carries a text here changes nothing that it says: logs, mails, web pages, terminals."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable

import pytest

from provision.facts.texts.reading import read
from tests.read.drawn import npu_table
from tests.read.samples import A3, A3_DIES, PROCESSES, SAMPLES, WIDE, b3

TABLES = ("npu-smi info", "efsmi")
LONG = [name for name, (_, text) in SAMPLES.items() if len(text.splitlines()) > 4]


def before(prefix: str) -> Callable[[str], str]:
    """What puts a prefix, with the number of the line, before each line."""
    return lambda text: "\n".join(
        prefix.format(second=i % 60, line=i + 1) + line for i, line in enumerate(text.splitlines())
    )


def web_page(text: str) -> str:
    """A page whose blanks do not collapse."""
    return f"<pre><code>{html.escape(text).replace('  ', ' &nbsp;')}</code></pre>"


def narrow(width: int) -> Callable[[str], str]:
    """A terminal that breaks lines, copied without the blanks at their ends."""
    return lambda text: "\n".join(
        line[at : at + width].rstrip()
        for line in text.splitlines()
        for at in range(0, len(line) or 1, width)
    )


CARRIERS: dict[str, Callable[[str], str]] = {
    "mail": before("> "),
    "answered mail": before("> > "),
    "docker logs": before("2026-01-02T03:04:{second:02}.123456789Z "),
    "kubernetes": before("2026-01-02T03:04:{second:02}.123456789+08:00 stdout F "),
    "pod": before("[pod/train-0/main] "),
    "journal": before("Jan 02 03:04:{second:02} box-7 collect.sh[4711]: "),
    "journal iso": before("2026-01-02T03:04:{second:02}+0800 box-7 collect[4711]: "),
    "syslog": before("Jan  2 03:04:{second:02} box-7 collect.sh: "),
    "python": before("2026-01-02 03:04:{second:02},123 - INFO - "),
    "bracket": before("[2026-01-02 03:04:{second:02}] [INFO] "),
    "compose": before("train-1  | "),
    "comment": before("# "),
    "code": before("    // "),
    "numbered": before("{line:6}\t"),
    "grep -n": before("{line}:"),
    "list of strings": lambda text: json.dumps(text.splitlines(), indent=4),
    "indented": before("        "),
    "web": web_page,
    "breaks": lambda text: html.escape(text).replace("\n", "<br>\n"),
    "no-break blanks": lambda text: text.replace("  ", " \xa0"),
    "blanks at the end": lambda text: text.replace("\n", "  \n"),
    "doubled": lambda text: text.replace("\n", "\n\n"),
    "warned": lambda text: f"/usr/bin/x: no version information available\n{text}",
    "watched": lambda text: (
        f"Every 2.0s: npu-smi info    box-7: Fri Jan  2 03:04:05 2026\n\n{text}"
    ),
    "fenced": lambda text: f"````\n{text}\n````\n",
}


@pytest.mark.parametrize("name", LONG)
def test_a_carrier_changes_nothing(name: str) -> None:
    kind, text = SAMPLES[name]
    plain = text.expandtabs(8)
    said = read(plain)
    for carrier, carried in CARRIERS.items():
        if carrier == "watched" and kind == "env":
            continue  # a list that is all variables has one line now that is none
        assert read(carried(plain)) == said, carrier


@pytest.mark.parametrize("width", [60, 79, 80, 90, 100, 120])
@pytest.mark.parametrize("name", [n for n, (kind, _) in SAMPLES.items() if kind in TABLES])
def test_a_narrow_terminal_changes_no_table(name: str, width: int) -> None:
    text = SAMPLES[name][1]
    assert read(narrow(width)(text)) == read(text)


@pytest.mark.parametrize("name", [n for n, (kind, _) in SAMPLES.items() if kind in TABLES])
@pytest.mark.parametrize(
    "carrier",
    [
        lambda text: re.sub(" +", " ", text),
        lambda text: json.dumps({"stdout": text}),
        lambda text: text.replace("-", "–"),
    ],
    ids=["one blank for many", "a string", "dashes of a word processor"],
)
def test_what_is_done_to_tables_changes_nothing(name: str, carrier: Callable[[str], str]) -> None:
    text = SAMPLES[name][1]
    assert read(carrier(text)) == read(text)


def test_a_frame_of_other_characters_changes_nothing() -> None:
    text = npu_table(WIDE, [b3(0), b3(1)], PROCESSES)
    drawn = str.maketrans({"|": "│", "+": "┼", "-": "─", "=": "═"})
    assert read(text.translate(drawn)) == read(text)


def test_what_only_some_lines_begin_with_stays() -> None:
    text = npu_table(A3, A3_DIES, None)
    mixed = "# npu-smi info\n" + text + "# cat /sys/module/enflame/version\n1.5.0.1\n"
    kinds = [read(mixed)["kind"], *(part["kind"] for part in read(mixed)["more"])]
    assert kinds == ["npu-smi info", "kernel module"]


def test_numbers_of_lines_go_though_buses_count_too() -> None:
    buses = "".join(f"{bus}:00.0 1200: 19e5:d802 (rev 20)\n" for bus in ("07", "08", "09"))
    slots = [device["slot"] for device in read(before("{line}:")(buses))["devices"]]
    assert slots == ["07:00.0", "08:00.0", "09:00.0"]


def test_numbers_that_do_not_count_the_lines_stay() -> None:
    heading = "NPU ID  Chip ID  Chip Logic ID  Chip Name"
    text = f"$ npu-smi info -m\n{heading}\n0  0  0  910B3\n1  0  1  910B3\n"
    assert [chip["npu_id"] for chip in read(text)["chips"]] == [0, 1]
