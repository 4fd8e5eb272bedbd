"""What has to be so before a recipe starts, each thing that is not as a line for the user.

`look` looks; `looks` says what it would look at, and touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from checks.fit.show import run as run_line
from checks.judge.levels import Levels
from checks.launch import cards, demand, hccl, inputs, operators
from checks.launch.found import Found, joined
from checks.launch.wish import Filled
from provision.amounts import size
from provision.errors import PaddockError
from provision.facts import disk, nodes, visible
from provision.words import text


class Place(NamedTuple):
    """Where a level runs: the stack's Python, its variables, where records are kept, and what
    stands before /dev.
    """

    python: Path
    variables: Mapping[str, str]
    records: Path
    root: Path = Path("/")


def look(filled: Filled, known: Levels, place: Place) -> Found:
    """What is missing, and what to know of what is there."""
    target, device, given = known.target, known.device, {**place.variables, **filled.environment}
    lines = [
        *_files(filled), *_cards(filled, device, place.root),
        *(hccl.problems(given) if _talks(filled, device) else ()),
        *operators.unknown(given.get(operators.LIST, ""), place.python, place.variables),
    ]  # fmt: skip
    parts = [inputs.data(filled), inputs.model(filled), *_sizes(filled, target, device)]
    return joined([Found(lines), *parts])


def _talks(filled: Filled, device: str) -> bool:
    """Whether its ranks talk by HCCL."""
    return device == "npu" and filled.recipe.launcher


def _files(filled: Filled) -> Iterator[str]:
    """The program, what it reads, and the files that set its variables."""
    yield from of_checkout(filled)
    for files in filled.recipe.setup:
        if not any(Path(file).is_file() for file in files):
            yield text("launch.pre.setup", files=", ".join(files))


def of_checkout(filled: Filled) -> Iterator[str]:
    """A line for each of the recipe's files that its checkout lacks; none without a checkout."""
    if filled.checkout is None:
        return
    recipe, folder = filled.recipe, filled.folder
    if not (folder / recipe.program).is_file():
        yield text("launch.pre.program", path=f"{recipe.folder}/{recipe.program}")
    for name in recipe.needs:
        if not (folder / name).exists():
            yield text("launch.pre.needs", path=folder / name)


def _variable(device: str) -> visible.Variable:
    """The variable by which a process chooses among the cards."""
    rows = visible.variables()
    return next(one for one in rows if one.device == device and one.where == "process")


def _cards(filled: Filled, device: str, root: Path) -> Iterator[str]:
    """Each card needs its device node, as the variable counts them."""
    variable = _variable(device)
    there = visible.numbers(nodes.collect(root), variable.nodes)
    counted = list(range(len(there))) if variable.counts == "order" else there
    shown, chosen = ", ".join(map(str, counted)) or "-", ",".join(map(str, filled.cards))
    for card in filled.cards:
        if visible.choose(variable, str(card), there).problem:
            yield text("launch.pre.cards", card=card, there=shown)
    if visible.choose(variable, chosen, None).problem == "order":
        yield text("launch.pre.cards-order", name=variable.name, cards=chosen)


def _sizes(filled: Filled, target: str, device: str) -> Iterator[Found]:
    """Room in the cards' memory, and on the disk."""
    try:
        asked = demand.demand(filled, target)
    except PaddockError as error:
        yield Found([demand.refusal(error)])
        return
    yield memory(asked, target, chosen(filled, cards.look(device)))
    yield Found(list(_disk(filled, demand.saved_bytes(filled, asked))))


def chosen(filled: Filled, all_cards: Sequence[cards.Card] | None) -> list[cards.Card]:
    """The cards of a run among all; none where the tool does not show each of them."""
    there = all_cards or ()
    known = bool(there) and max(filled.cards) < len(there)
    return [there[one] for one in filled.cards] if known else []


def memory(asked: demand.Demand, target: str, mine: Sequence[cards.Card]) -> Found:
    """Whether the run fits. Where the cards are not known, only what fits on no kind is refused."""
    found = demand.fitting(asked, target, mine)
    worst, best = found.verdicts[0], found.verdicts[-1]
    values = {"run": run_line(asked.run), "model": asked.model.name, "needed": size(worst.needed)}
    notes = [] if found.seen else [text("launch.note.card-unknown")]
    decisive = worst if found.seen else best
    told = {**values, "card": decisive.card, "memory": size(decisive.memory),
            "idle": size(decisive.idle or 0), "left": size(abs(decisive.left))}  # fmt: skip
    if decisive.verdict == "no":
        change = " ".join(found.changes[0]) if found.changes else text("launch.pre.no-change")
        return Found([text("launch.pre.memory", change=change, **told)], notes)
    notes.append(text(f"launch.note.memory.{decisive.verdict}", **told))
    if not found.seen and worst.verdict == "no":
        lost = [one.card for one in found.verdicts if one.verdict == "no"]
        notes.append(text("launch.note.memory-some", cards=", ".join(lost)))
    return Found([], notes)


def _disk(filled: Filled, wanted: int) -> Iterator[str]:
    """Room for the checkpoints where the recipe writes them."""
    target = filled.arguments.get("output_dir") or filled.recipe.exported
    if target and wanted:
        room = disk.room("output", filled.folder / target)
        if room.free < wanted:
            values = {"free": size(room.free), "path": room.path, "wanted": size(wanted)}
            yield text("launch.pre.disk", **values)


def looks(filled: Filled, target: str, device: str) -> Iterator[str]:
    """What `look` would look at, a line each. Nothing of this machine is touched."""
    recipe, tool = filled.recipe, " ".join(cards.TOOLS[device])
    files = [recipe.program, *recipe.needs, *(" | ".join(files) for files in recipe.setup)]
    yield text("launch.look.files", files=", ".join(files))
    numbers = ",".join(map(str, filled.cards))
    yield text("launch.look.cards", nodes=_variable(device).nodes, cards=numbers)
    if name := filled.arguments.get("dataset_name_or_path"):
        yield text("launch.look.data", path=name)
    if name := filled.arguments.get("model_name_or_path"):
        yield text("launch.look.model", path=name)
    asked = demand.demand(filled, target)
    values = {"run": run_line(asked.run), "model": asked.model.name}
    yield text("launch.look.memory", needed=size(asked.per_card), tool=tool, **values)
    if wanted := demand.saved_bytes(filled, asked):
        path = filled.arguments.get("output_dir") or recipe.exported
        yield text("launch.look.disk", wanted=size(wanted), path=path)
    if _talks(filled, device):
        taken = hccl.ports(filled.environment)
        yield text("launch.look.hccl", begin=taken.start, end=taken.stop - 1)
    if names := filled.environment.get(operators.LIST):
        yield text("launch.look.operators", names=names)
    yield text("launch.look.watch", tool=tool)
