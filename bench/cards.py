"""What the doctor costs where the vendor's tool is slow: 16 cards, each answer after one second.

The tool is a stand-in on PATH that prints our own tables. What the doctor adds to one answer is to
be small; cards in trouble are asked about once more, all side by side; and a tool that hangs costs
its time limit once. For that the limit is shortened, in a copy of the project. PATH is plain: a
search for interpreters through the shims of pyenv may take longer than any of this.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from bench.cost import Command, CommandFailed, Cost, in_turn
from bench.places import bare, scratch, tool
from bench.result import Result
from provision.paths import ROOT
from tests.read.drawn import npu_table
from tests.read.samples import B3, MAP, b3

N = 5
CARDS = 16
SICK = 4
LIMIT = 2.0  # seconds, in the copy
_LEAST = 0.9
_TARGET = "ascend910b"
_FOUND = (10, 11, 12)  # of the doctor: with errors too it has done its work
_PARTS = ("provision", "checks", "images", "templates")
_HEALTH = "\tHealth Status                  : Alarm\n\tError Code                     : 80E01801\n"
_SCRIPT = """\
#!/bin/sh
echo "$*" >>{folder}/asked
sleep {seconds}
case "$*" in
info) cat {folder}/table ;;
"info -m") cat {folder}/map ;;
*) cat {folder}/health ;;
esac
"""


def cards() -> list[Result]:
    """The doctor minus a bare Invoke task, in answers of the tool, or in time limits."""
    with scratch() as folder:
        well = _answers(folder / "well", 1, in_trouble=0)
        sick = _answers(folder / "sick", 1, in_trouble=SICK)
        hung = _answers(folder / "hung", 3600, in_trouble=0)
        limit = Command(["sleep", f"{LIMIT}"])
        return [
            _measure("doctor - invoke / npu-smi", _doctor(folder, well), _one(well), 1),
            _measure(f"the same, {SICK} cards in alarm", _doctor(folder, sick), _one(sick), 2),
            _measure("the same, npu-smi hangs", _short(folder, hung), limit, 1),
        ]


def _measure(name: str, doctor: Command, probe: Command, rounds: int) -> Result:
    """The doctor against as many answers, or limits, as follow one after the other.

    Raises CommandFailed where it did not wait for them: then it did not read them either.
    """
    with scratch() as folder:
        ours, plain, probed = in_turn([doctor, bare(folder, "build"), probe], N)
    walls = [median(cost.wall for cost in side) for side in (ours, plain, probed)]
    detail = "wall {:.2f} s, invoke {:.2f} s, one answer {:.2f} s".format(*walls)
    figure = relative(ours, plain, probed) / rounds
    if figure < _LEAST:
        raise CommandFailed(f"{name}: {figure:.3g}; the doctor did not wait for npu-smi")
    more = f", {rounds} in a row" if rounds > 1 else ""
    return Result(name, figure, "x", 1.2, N, detail + more)


def _one(answers: Path) -> Command:
    return Command([answers / "npu-smi", "info"])


def relative(ours: Sequence[Cost], plain: Sequence[Cost], probed: Sequence[Cost]) -> float:
    """Our wall time without that of a bare task, over that of a probe: the median of the rounds."""
    rounds = zip(ours, plain, probed, strict=True)
    return median((a.wall - b.wall) / c.wall for a, b, c in rounds)


def _answers(folder: Path, seconds: float, in_trouble: int) -> Path:
    """A folder with the stand-in; it notes what it was asked in `asked`."""
    folder.mkdir()
    dies = [b3(npu, health="Alarm" if npu < in_trouble else "OK") for npu in range(CARDS)]
    texts = {"table": npu_table(B3, dies, []), "map": MAP, "health": _HEALTH,
             "npu-smi": _SCRIPT.format(folder=folder, seconds=seconds)}  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "npu-smi").chmod(0o755)
    return folder


def _doctor(folder: Path, answers: Path) -> Command:
    """The doctor with these answers; its trial of the compiler is kept in a home of its own."""
    examine = tool("doctor", "--target", _TARGET, home=folder / "home")
    path = {"PATH": f"{answers}:/usr/local/bin:/usr/bin:/bin"}
    return replace(examine, statuses=_FOUND, variables={**examine.variables, **path})


def _short(folder: Path, answers: Path) -> Command:
    """The same of a copy of the project in which all limits of npu-smi are LIMIT."""
    copy = folder / "copy"
    copy.mkdir()
    shutil.copy(ROOT / "tasks.py", copy)
    for part in _PARTS:
        shutil.copytree(ROOT / part, copy / part)
    shorten(copy / "images" / "questions.toml")
    ours = _doctor(folder, answers)
    return replace(ours, argv=[ours.argv[0], copy / "tasks.py", *ours.argv[2:]], folder=copy)


def shorten(questions: Path) -> None:
    """Give the questions to npu-smi another limit."""
    text = questions.read_text(encoding="utf-8")
    rows = re.split(r"(?m)^(?=\[\[)", text)
    rows = [re.sub(r"(?m)^limit = .*$", f"limit = {LIMIT}", row) if '"npu-smi"' in row else row
            for row in rows]  # fmt: skip
    questions.write_text("".join(rows), encoding="utf-8")
