"""The lines that a judge looks for: for each fixed word of such a line what is taken from it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Final

from checks.judge import figures
from checks.judge.levels import all_levels
from checks.judge.names import known, names
from checks.judge.numbers import clock
from checks.judge.places import ON, spot_at, text_at
from checks.judge.seen import MANY, Broken, Memory, Seen
from checks.logs.literals import words
from checks.logs.window import Window

_EARLIER = 4096

Taker = Callable[[Seen, Window, int, int], None]

_PASS = re.compile(r"Running IR pass \[(\w+)\]")
_CHANGED = re.compile(r"detected (\d+) subgraphs")
_SIZE = r"(\d+(?:\.\d+)? ?[KMGT]?i?B)"
_MEMORY = {
    "size": re.compile(rf"(?:Cannot allocate|Tried to allocate) {_SIZE}"),
    "device": re.compile(r"(?i)\b(?:npu|gcu)[ :]+(\d+)"),
    "total": re.compile(rf"{_SIZE} total"),
    "allocated": re.compile(rf"{_SIZE} (?:memory has been|already) allocated"),
    "free": re.compile(rf"(?:available memory is only {_SIZE}|{_SIZE} free)"),
    "operator": re.compile(r"\[operator < (\w+) > error\]|\bop[ =:]+(\w+)"),
    "tensor": re.compile(r"\btensor[ =:]+'?([A-Za-z][\w.@/]*[\w@])"),
    "rank": re.compile(r"(?i)\brank[ :=]*(\d+)"),
}
# Memory of a card, not of the machine; a call of aclrtMalloc is an error only where it says so.
_OF_CARD = re.compile(
    r"(?i)(?:npu|gcu|ascend).*(?:memory|alloc)|memory.*(?:npu|gcu)|Malloc.*fail|MemAlloc fail"
)
_LAYER = re.compile(r"layers?[._](\d+)")
_FUSED = re.compile(r"autofuse_\w+")
_BOOLEAN = re.compile(r"(torch_npu(?:\.\w+)+|npu_\w+)['\"]?[\s:=,)]+(True|False)\b")
_ATTRIBUTE = re.compile(r"module '(torch_npu(?:\.\w+)*)' has no attribute '(\w+)'")
_LISTED = re.compile(
    r"""^\s*(?:torch_npu\.)?(npu_\w+)\s*$|['"](?:torch_npu\.)?(npu_\w+)['"]""", re.M
)


def _proof(seen: Seen, window: Window, place: int, log: int) -> None:
    """A line of a device's plugin."""
    line = text_at(window, *window.line(place))
    for device, pattern, is_end in _proofs():
        found = seen.ends if is_end else seen.proofs
        if device not in found and pattern.search(line):
            found[device] = spot_at(window, place, log)


@functools.cache
def _proofs() -> list[tuple[str, re.Pattern[str], bool]]:
    """Device, pattern, and whether it is the plugin's last line, for all targets."""
    return [
        (one.device, re.compile(pattern), is_end)
        for one in all_levels().values()
        for pattern, is_end in [*((line, False) for line in one.proof.lines), (one.proof.end, True)]
        if pattern
    ]


def _skipped(seen: Seen, window: Window, place: int, log: int) -> None:
    seen.skipped = seen.skipped or spot_at(window, place, log)


def _passed(seen: Seen, window: Window, place: int, log: int) -> None:
    """A pass that ran, and what it changed: told before the next one runs."""
    text = text_at(window, place, place + 2 * ON)
    if (match := _PASS.match(text)) and (match[1] in seen.passes or len(seen.passes) < 10 * MANY):
        own = text[match.end() :].partition("Running IR pass")[0]
        changed = sum(int(one) for one in _CHANGED.findall(own)) if "detected" in own else None
        seen.passes[match[1]] = changed


def _output(seen: Seen, window: Window, place: int, log: int) -> None:
    """A sample answer: what stands between this heading and the next."""
    answer = text_at(window, place, place + 4 * ON).lstrip("*").removeprefix("Output").lstrip("*")
    if len(seen.outputs) < MANY:
        seen.outputs.append(len(answer.partition("*****")[0].strip()))


def _memory(seen: Seen, window: Window, place: int, log: int) -> None:
    """Memory that ran out on a card; memory of the machine is another matter."""
    begin, end = window.line(place)
    line, more = text_at(window, begin, end), text_at(window, begin - ON, end + 2 * ON)
    spot = spot_at(window, place, log)
    told = any(spot == one.spot for one in seen.memory)
    if told or len(seen.memory) >= MANY or not _OF_CARD.search(line):
        return
    found = {name: _first(pattern, line) for name, pattern in _MEMORY.items()}
    found["operator"] = found["operator"] or _first(_MEMORY["operator"], more)
    found["tensor"] = found["tensor"] or _first(_MEMORY["tensor"], more)
    seen.memory.append(Memory(spot, seen.step, **found))


def _first(pattern: re.Pattern[str], text: str) -> str:
    """The first group of a match that holds something."""
    match = pattern.search(text)
    return next((one for one in match.groups() if one), "") if match else ""


def _broken(seen: Seen, window: Window, place: int, log: int) -> None:
    """A check for NaN and Inf that found some."""
    line = text_at(window, *window.line(place))
    if len(seen.broken) < MANY and not re.search(r"num_nan=0\b.*num_inf=0\b", line):
        operator, tensor = _first(_MEMORY["operator"], line), _first(_MEMORY["tensor"], line)
        layer = _first(_LAYER, line)
        seen.broken.append(Broken(spot_at(window, place, log), seen.step, operator, tensor, layer))


def _fused(seen: Seen, window: Window, place: int, log: int) -> None:
    """A fused operator that the graph engine made by itself."""
    name = _FUSED.match(text_at(window, place, place + 200))
    if name and len(seen.autofused) < 10 * MANY:
        seen.autofused.setdefault(name[0], spot_at(window, place, log))


def _graph(seen: Seen, window: Window, place: int, log: int) -> None:
    seen.graph_engine = seen.graph_engine or spot_at(window, place, log)


def _attribute(seen: Seen, window: Window, place: int, log: int) -> None:
    """Python's own words for a name that is not there."""
    if match := _ATTRIBUTE.search(text_at(window, *window.line(place))):
        seen.absent.setdefault(f"{match[1]}.{match[2]}", spot_at(window, place, log))


def _named(seen: Seen, window: Window, place: int, log: int) -> None:
    """Names of torch_npu in a list of them, or with what `hasattr` answered."""
    line = text_at(window, *window.line(place))
    for name, answer in _BOOLEAN.findall(line):
        full = name if name.startswith("torch_npu") else f"torch_npu.{name}"
        if answer == "True":
            seen.present.add(full)
        else:
            seen.absent.setdefault(full, spot_at(window, place, log))
    for pair in _LISTED.findall(line):
        if row := known(pair[0] or pair[1]):
            seen.listed.add(row.name)


def _traceback(seen: Seen, window: Window, place: int, log: int) -> None:
    if seen.traceback is None:
        seen.traceback = spot_at(window, place, log)
        seen.traceback_time = clock(bytes(window.data[max(place - _EARLIER, 0) : place]))


FALLBACK: Final = b"fallbacking to CPU"  # only counted: one line for each call of a kernel
_FIXED: Final[dict[bytes, Taker]] = {
    b", batch: ": figures.evaluated,
    b"global_step": figures.trained,
    b"loss: nan": figures.not_finite,
    b"loss': nan": figures.not_finite,
    b"loss: inf": figures.not_finite,
    b"loss: -inf": figures.not_finite,
    b"validation results on": figures.result,
    b"Original Tokens: ": figures.tokens,
    b"Total optimization steps": figures.total,
    b"train_runtime": figures.ended,
    b"InitPlugin failed": _skipped,
    b"Running IR pass [": _passed,
    b"***Output": _output,
    b"ut of memory": _memory,
    b"llocation failed": _memory,
    b"annot allocate": _memory,
    b"aclrtMalloc": _memory,
    b"halMemAlloc": _memory,
    b"NAN or INF": _broken,
    b"[PRECISION] [ERROR]": _broken,
    b"autofuse_": _fused,
    b" GE(": _graph,
    b"has no attribute": _attribute,
    b"Traceback (most": _traceback,
}


@functools.cache
def anchors() -> dict[bytes, Taker]:
    """Every word with what it stands for; those of plugins and of torch_npu come from data."""
    found = dict(_FIXED)
    for pattern in (pattern.pattern for _, pattern, _ in _proofs()):
        found.update(dict.fromkeys((word.encode() for word in words(pattern)), _proof))
    own = (name.removeprefix("torch_npu.").encode() for name in names())
    found.update(dict.fromkeys(own, _named))
    return found
