"""A folder of a model: its files, what its index promises, and its config."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from checks.checkpoint.fault import Fault, Whole
from checks.checkpoint.file import UNFINISHED, WEIGHTS, look
from checks.fit.model import config_of, of_file, require_llama
from provision.errors import PaddockError
from provision.facts import small

_INDEX = ".index.json"
_LARGEST = 256 << 20  # bytes of an index
_LAYER = re.compile(r"(?:^|\.)layers\.(\d{1,6})\.")
_SHOWN = 3  # names of many
# One of so many: model-00001-of-00003.safetensors counts from 1, model_state.tp00_of_02.pdparams,
# by rank, from 0.
_PART = re.compile(
    r"(?P<before>.*?)(?P<number>\d{1,6})(?P<of>[-_]of[-_])(?P<all>\d{1,6})(?P<after>\D.*)"
)
# What folders of adapters have (LoRA and prefix tuning of PaddleNLP, PEFT): no whole model.
_ADAPTERS = frozenset({"lora_config.json", "prefix_config.json", "adapter_config.json"})


class Looked(msgspec.Struct, frozen=True):
    """A file of a folder, its size in bytes (None: unread), and what is wrong with it."""

    file: str
    size: int | None
    faults: list[Fault]


class _Index(msgspec.Struct, frozen=True):
    """An index: which file holds which tensor. `metadata` is as each program likes it."""

    weight_map: dict[str, str]
    metadata: dict[str, Any] | None = None


def examine(path: Path) -> list[Looked]:
    """A folder's files, or one file. Raises PaddockError `no-checkpoint` where there is neither."""
    if not small.is_folder(path):
        if small.is_file(path) is False:
            raise PaddockError("no-checkpoint", path=small.shown(path))
        return [_one(path, look(path))]
    names = small.names(path) or []
    files = {name: look(path / name) for name in names if WEIGHTS.fullmatch(name)}
    found = [_one(path / name, seen) for name, seen in files.items()]
    indexed: set[str] = set()
    found += [Looked(name, None, [Fault(name="unfinished")])
              for name in names if name.endswith(UNFINISHED)]  # fmt: skip
    whole = {name: seen.tensors for name, (seen, _) in files.items() if isinstance(seen, Whole)}
    for name in (name for name in names if name.endswith(_INDEX)):
        found.append(Looked(name, None, list(_index(path / name, set(files), whole, indexed))))
    found += _parts(set(files), indexed)
    if not files:
        found.append(Looked(small.shown(path), None, [Fault(name="no-weights")]))
    if not any(name.endswith(".pdiparams") for name in files):  # a static model has none of these
        found.append(Looked("config.json", None, list(_config(path, names, whole))))
    return found


def _one(path: Path, seen: tuple[object, int | None]) -> Looked:
    fault, size = seen
    return Looked(small.shown(path.name), size, [fault] if isinstance(fault, Fault) else [])


def _parts(there: set[str], indexed: set[str]) -> Iterator[Looked]:
    """What the names promise: each part says how many there are.

    Parts that an index names are its matter: it says which files there have to be.
    """
    sets: dict[tuple[str, ...], dict[int, str]] = {}
    for name in sorted(there):
        if found := _PART.fullmatch(name):
            of = (
                found["before"],
                str(len(found["number"])),
                found["of"] + found["all"] + found["after"],
            )
            sets.setdefault((*of, found["all"]), {})[int(found["number"])] = name
    for (before, width, after, count), parts in sets.items():
        if indexed.intersection(parts.values()):
            continue
        first = 0 if 0 in parts or before.endswith("tp") else 1
        lost = [f"{before}{number:0{width}}{after}" for number in range(first, first + int(count))
                if number not in parts]  # fmt: skip
        if lost:
            fault = Fault(name="no-part", values={"all": str(int(count)), **_some(lost)})
            yield Looked(small.shown(next(iter(parts.values()))), None, [fault])


def _index(
    path: Path, there: set[str], whole: dict[str, dict[str, int]], indexed: set[str]
) -> Iterator[Fault]:
    """What an index promises, against the files that are there; its files join `indexed`."""
    try:
        index = msgspec.json.decode(small.data(path, _LARGEST) or b"", type=_Index)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        yield Fault(name="index", values={"reason": str(error)[:100]})
        return
    wanted = set(index.weight_map.values())
    indexed |= wanted
    for name in sorted(wanted - there):
        yield Fault(name="no-shard", values={"file": small.shown(name[:100])})
    told = {name: tensors for name, tensors in whole.items() if name in wanted and tensors}
    lost = [one for one, name in index.weight_map.items() if name in told and one not in told[name]]
    if lost:
        yield Fault(name="not-in-shard", values=_some(lost))
    sizes = {tensor: size for tensors in told.values() for tensor, size in tensors.items()}
    more = [one for one in sizes if one not in index.weight_map]
    if more:
        yield Fault(name="not-in-index", values=_some(more), harmless=True)
    total = (index.metadata or {}).get("total_size")
    if total is not None and set(told) == wanted and sum(sizes.values()) != total:
        values = {"wanted": str(total)[:30], "found": str(sum(sizes.values()))}
        yield Fault(name="total", values=values, harmless=True)


def _config(
    folder: Path, names_there: list[str], whole: dict[str, dict[str, int]]
) -> Iterator[Fault]:
    """The config, and whether every layer that it says has tensors (where names are told).

    Of adapters, and of models that are no Llama, nothing is known of the layers: no damage.
    """
    if _ADAPTERS.intersection(names_there):
        yield Fault(name="adapter", harmless=True)
        return
    path = folder / "config.json"
    try:
        if reason := _other(path, config_of(path)):
            yield Fault(name="other-model", values={"reason": reason}, harmless=True)
            return
        model = of_file(path)
    except PaddockError as error:
        yield Fault(name="config", values={"reason": str(error.values["reason"])})
        return
    names = [name for tensors in whole.values() for name in tensors]
    layers = {int(found[1]) for name in names if (found := _LAYER.search(name))}
    lost = [str(n) for n in range(model.num_hidden_layers) if n not in layers]
    if layers and lost:
        yield Fault(name="no-layers", values={"all": str(model.num_hidden_layers), **_some(lost)})


def _other(path: Path, values: dict[str, Any]) -> str:
    """Why a config is none of a Llama as it is known here; "" where it is."""
    try:
        require_llama(path, values)
    except PaddockError as error:
        return str(error.values["reason"])
    return ""


def _some(names: list[str]) -> dict[str, str]:
    """How many, and the first of them."""
    shown = ", ".join(small.shown(name[:80]) for name in names[:_SHOWN])
    return {"count": str(len(names)), "names": shown + (", ..." if len(names) > _SHOWN else "")}
