"""What would make a run fit that does not: found by trying, the cheapest first."""

from __future__ import annotations

from checks.fit.judge import Room, varied
from checks.fit.wish import RECOMPUTE, Wish, possible


def changes(room: Room, wish: Wish) -> list[tuple[str, ...]]:
    """What would make a run fit that does not, as sets of changed options.

    Each change was tried alone, at its mildest value that fits; they are in the order of what they
    cost. Where none is enough without more cards, one set of several comes first: the cheapest ones
    together until it fits, without those that are not needed.
    """
    kinds = _kinds(wish)
    alone = {name: told for name in kinds if (told := _alone(room, wish, name))}
    several: list[tuple[str, ...]] = []
    if not alone.keys() - _MORE_CARDS:
        several = _together(room, wish, [name for name in kinds if name not in _MORE_CARDS])
    found = [*several, *((one,) for one in alone.values())]
    return found or _together(room, wish, kinds)


_MORE_CARDS = frozenset({"tp", "cards"})


def _kinds(wish: Wish) -> list[str]:
    """The changes that apply, by cost: without one; time; cards; a smaller task."""
    # Fused operators and sequence parallelism cost nothing. A smaller cache costs some accuracy,
    # stage1 communication, recomputing about a third of the time, a smaller batch more steps,
    # tensor parallelism and more copies more cards. A shorter length and LoRA change the task.
    if wish.train:
        return ["kernels", "sequence-parallel", "sharding", "recompute", "batch", "tp", "cards",
                "seq", "lora"]  # fmt: skip
    return ["kernels", "kv-bits", "batch", "tp", "seq"]


def _values(room: Room, wish: Wish, kind: str) -> list[tuple[str, Wish]]:
    """The values of a change from mild to strong, each as the option that says it."""
    return {
        "kernels": _kernels, "sequence-parallel": _sequence, "sharding": _sharding,
        "recompute": _recompute, "kv-bits": _kv_bits, "batch": _halves, "tp": _tensor,
        "cards": _copies, "seq": _halves, "lora": _lora,
    }[kind](room, wish, kind)  # fmt: skip


def _kernels(room: Room, wish: Wish, kind: str) -> list[tuple[str, Wish]]:
    """Where the target has them."""
    there = wish.kernels == "plain" and room.target.kernels == "fused"
    return [("--kernels fused", varied(wish, kernels="fused"))] if there else []


def _sequence(room: Room, wish: Wish, kind: str) -> list[tuple[str, Wish]]:
    there = wish.tp > 1 and not wish.sequence_parallel
    return [("--sequence-parallel", varied(wish, sequence_parallel=True))] if there else []


def _sharding(room: Room, wish: Wish, kind: str) -> list[tuple[str, Wish]]:
    """Over the cards that hold copies now; stage2 and stage3 not with pipelines."""
    copies = wish.cards // (wish.tp * wish.pp)
    names = ["stage1", *([] if wish.pp > 1 else ["stage2", "stage3"])]
    done = names.index(wish.sharding) if wish.sharding in names else -1
    begin = done + (wish.sharding_degree == copies)
    return [] if copies == 1 else [
        (f"--sharding {name} --sharding-degree {copies}",
         varied(wish, sharding=name, sharding_degree=copies)) for name in names[max(begin, 0):]
    ]  # fmt: skip


def _recompute(room: Room, wish: Wish, kind: str) -> list[tuple[str, Wish]]:
    later = RECOMPUTE[RECOMPUTE.index(wish.recompute) + 1 :]
    return [(f"--recompute {name}", varied(wish, recompute=name)) for name in later]


def _kv_bits(room: Room, wish: Wish, kind: str) -> list[tuple[str, Wish]]:
    return [(f"--kv-bits {n}", varied(wish, kv_bits=n)) for n in (16, 8, 4) if n < wish.kv_bits]


def _halves(room: Room, wish: Wish, kind: str) -> list[tuple[str, Wish]]:
    """Half of the batch or the length, a quarter, and so on."""
    value = int(getattr(wish, kind))
    halves = [value >> n for n in range(1, value.bit_length())]
    return [(f"--{kind} {n}", varied(wish, **{kind: n})) for n in halves]


def _tensor(room: Room, wish: Wish, kind: str) -> list[tuple[str, Wish]]:
    """Twice as many cards for each copy, four times, eight times."""
    grown = [(wish.tp * n, wish.cards * n) for n in (2, 4, 8)]
    return [(f"--tp {tp} --cards {cards}", varied(wish, tp=tp, cards=cards)) for tp, cards in grown]


def _copies(room: Room, wish: Wish, kind: str) -> list[tuple[str, Wish]]:
    """More copies of the model, which share the optimizer's states."""
    whole = wish.tp * wish.pp
    grown = [(wish.cards * n, wish.cards * n // whole) for n in (2, 4, 8)]
    if wish.sharding in ("stage2", "stage3"):
        return []
    return [
        (f"--cards {cards} --sharding stage1 --sharding-degree {degree}",
         varied(wish, cards=cards, sharding="stage1", sharding_degree=degree))
        for cards, degree in grown
    ]  # fmt: skip


def _lora(room: Room, wish: Wish, kind: str) -> list[tuple[str, Wish]]:
    return [] if wish.lora else [("--lora 32", varied(wish, lora=32))]


def _alone(room: Room, wish: Wish, kind: str) -> str | None:
    """The mildest value of one change that fits."""
    return next((told for told, other in _values(room, wish, kind) if room.fits(other)), None)


def _together(room: Room, wish: Wish, kinds: list[str]) -> list[tuple[str, ...]]:
    """The cheapest changes together; empty where even the strongest of all kinds do not fit.

    Kinds join in the order of cost, each as strong as it gets, until it fits. Then, the dearest
    first, each that is not needed goes, and of those that stay each becomes as mild as it may.
    """
    picks: dict[str, int] = {}
    for kind in kinds:
        picks[kind] = -1
        if room.fits(_applied(room, wish, picks)[1]):
            break
    else:
        return []
    for kind in reversed(list(picks)):
        rest = {other: pick for other, pick in picks.items() if other != kind}
        if rest and room.fits(_applied(room, wish, rest)[1]):
            picks = rest
    for kind in reversed(list(picks)):
        tries = ({**picks, kind: pick} for pick in range(len(_values(room, wish, kind))))
        picks = next((one for one in tries if room.fits(_applied(room, wish, one)[1])), picks)
    return [tuple(_applied(room, wish, picks)[0])]


def _applied(room: Room, wish: Wish, picks: dict[str, int]) -> tuple[list[str], Wish]:
    """A run with changes, each at one of its values (-1: the strongest), and the options for it."""
    told = []
    for kind, pick in picks.items():
        values = [one for one in _values(room, wish, kind) if possible(one[1], room.model)]
        if values:
            option, wish = values[min(pick, len(values) - 1)]
            told.append(option)
    return told, wish
