"""What a recipe asks of the cards' memory and of the disk, by the formulas of `fit`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from checks.fit import memory, weights
from checks.fit.cards import Card as Kind
from checks.fit.cards import cards_of, target_of
from checks.fit.cards import memory as known_memory
from checks.fit.changes import changes
from checks.fit.command import wish_of
from checks.fit.judge import Room, Verdict, varied
from checks.fit.model import Model, find
from checks.fit.wish import Wish, checked
from checks.launch.cards import Card
from checks.launch.wish import Filled
from provision.errors import PaddockError

_NO = ("", "false", "0", "no", "off", "none")


class Demand(msgspec.Struct, frozen=True):
    """A run as `fit` counts it: the model's sizes, and the run."""

    model: Model
    run: Wish

    @property
    def per_card(self) -> int:
        """Bytes on the fullest card."""
        return memory.most(self.model, self.run)


class Fitting(msgspec.Struct, frozen=True):
    """The verdicts, the worst first; `seen` is False where they are on kinds that may be meant.

    `changes` are what would make it fit on the worst, the cheapest first.
    """

    verdicts: list[Verdict]
    changes: list[tuple[str, ...]]
    seen: bool


def demand(filled: Filled, target: str) -> Demand:
    """The demand of a recipe. Raises PaddockError as `fit` does, where its arguments cannot be."""
    model = find(_model(filled))
    wish = wish_of(target, flags(filled), model, known_memory())
    return Demand(model, checked(wish, model))


def local_model(filled: Filled) -> str:
    """The model's folder, if the argument names one that is here; "" for a name or without."""
    name = filled.arguments.get("model_name_or_path", "")
    here = filled.checkout is not None and bool(name) and (filled.folder / name).is_dir()
    return str(filled.folder / name) if here else ""


def _model(filled: Filled) -> str:
    """What `fit` takes: the folder where it has a config, else the name that the recipe states."""
    folder = local_model(filled)
    return folder if folder and (Path(folder) / "config.json").exists() else filled.recipe.model


def flags(filled: Filled) -> dict[str, Any]:
    """A recipe's arguments as the flags of `fit`; names as PaddleNLP's trainer and programs do."""
    given = {**filled.recipe.defaults, **filled.arguments}
    train = filled.recipe.level == "train"
    lora, recompute = on(given, "lora"), on(given, "recompute")
    fused = on(given, "use_flash_attention") or on(given, "inference_model")
    return {
        "train": train, "infer": not train,
        "batch": given.get("per_device_train_batch_size" if train else "batch_size", ""),
        "seq": str(length(given) or ""), "dtype": _dtype(given),
        "tp": given.get("tensor_parallel_degree", ""),
        "pp": given.get("pipeline_parallel_degree", ""), "cards": str(len(filled.cards)),
        "sharding": given.get("sharding", "").partition(" ")[0],
        "sharding_degree": given.get("sharding_parallel_degree", "") if train else "",
        "sequence_parallel": train and on(given, "sequence_parallel"),
        "recompute": given.get("recompute_granularity", "full") if recompute else "",
        "lora": given.get("lora_rank", "8") if lora else "", "kv_bits": "",
        "kernels": "fused" if fused else "plain",
    }  # fmt: skip


def on(given: dict[str, str], name: str) -> bool:
    """Whether a flag is set: there without a value, or with one that says yes."""
    return name in given and (given[name] == "" or given[name].lower() not in _NO)


def length(given: dict[str, str]) -> int:
    """Tokens of a whole sequence; 0 where the arguments do not tell.

    Training counts the answer in `max_length`; a prediction takes up to `src_length` and writes
    `max_length` more (PaddleNLP, llm/utils/data.py and llm/predict/predictor.py).
    """
    for name in ("max_seq_length", "seq_length"):
        if name in given:
            return int(given[name])
    both = int(given.get("src_length", 0)), int(given.get("max_length", 0))
    return both[1] if "per_device_train_batch_size" in given else sum(both)


def _dtype(given: dict[str, str]) -> str:
    """The dtype; the trainer has a flag for each of the short ones."""
    if "dtype" in given or "per_device_train_batch_size" not in given:
        return given.get("dtype", "")
    return "bfloat16" if on(given, "bf16") else "float16" if on(given, "fp16") else "float32"


def fitting(demand: Demand, target: str, cards: Sequence[Card]) -> Fitting:
    """Whether it fits on these cards, as full as they are now; on the target's kinds for none."""
    known = known_memory()
    kinds = _kinds(target, cards) or cards_of(known, target, "", "")
    rooms = [Room(demand.model, kind, target_of(known, target)) for kind in kinds]
    judged = sorted(((room.judge(demand.run), room) for room in rooms), key=lambda one: one[0].left)
    worst = judged[0]
    helps = [] if worst[0].verdict == "fits" else changes(worst[1], demand.run)
    return Fitting([verdict for verdict, _ in judged], helps, bool(_kinds(target, cards)))


def _kinds(target: str, cards: Sequence[Card]) -> list[Kind]:
    """The cards with the memory that the tool shows, and what others have in use there."""
    if any(card.total is None or card.used is None for card in cards):
        return []
    rows = {(card.name, card.total, card.used) for card in cards}
    return [
        Kind(name=name or target, target=target, mib=total or 0, idle_mib=used or 0, seen="",
             source="")
        for name, total, used in sorted(rows, key=str)
    ]  # fmt: skip


def saved_bytes(filled: Filled, demand: Demand) -> int:
    """What a run writes: the weights at its end, and with each checkpoint the optimizer's states.

    Of a LoRA run the adapters alone. An old checkpoint goes where `save_total_limit` says so.
    """
    if not filled.recipe.saved:
        return 0
    whole = varied(demand.run, tp=1, pp=1, sharding="", sharding_degree=1, cards=1,
                   sequence_parallel=False)  # fmt: skip
    stage = weights.stages(demand.model, whole)[0]
    fixed = weights.parameters(demand.model, whole, stage) * whole.size
    adapters = weights.adapters(demand.model, whole, stage) * whole.size
    one = adapters if filled.recipe.saved == "adapter" else fixed
    if not demand.run.train:
        return one
    return one + (one + weights.state(demand.model, whole, stage).optimizer) * _saves(filled)


def _saves(filled: Filled) -> int:
    """How many checkpoints are there at once."""
    steps, each, limit = (
        int(filled.arguments.get(name, 0))
        for name in ("max_steps", "save_steps", "save_total_limit")
    )
    saves = steps // each if each > 0 else 0
    return min(saves, limit) if limit > 0 else saves


def refusal(error: PaddockError) -> str:
    """Why a demand cannot be counted, in one line."""
    return f"{error.part('what')} {error.part('cause')}".strip()
