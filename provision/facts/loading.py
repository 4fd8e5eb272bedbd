"""Loads Paddle with its plugins in a subprocess, and says what came of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from provision.facts.command import Answer, run, signal_name

LIMIT = 60.0  # seconds; a cold import of Paddle on a slow disk takes more than 20

# `skipped`: Paddle declined the plugin (made for another release); `symbol`: it needs a symbol
# that it does not find; `broken`: no library that the loader takes; `raises`: the import fails
# with the plugin and succeeds without; `paddle`: Paddle itself does not import.
Verdict = Literal[
    "loads", "skipped", "symbol", "broken", "hangs", "crashes", "raises", "paddle", "absent",
    "unknown",
]  # fmt: skip

_LOG = re.compile(r"^[IWEF]\d{4} [\d:.]+\s+\d+ \S+\] ")
_MARK = "paddock-device-types "
_MEMORY = "paddock-host-memory "
# After the import, the plugins that are loaded are asked whether they are a stand-in of ours.
_PROBE = f"""\
import ctypes, json, os, paddle
rows = open("/proc/self/maps", errors="surrogateescape").read().splitlines()
found = []
for path in sorted(set(row.split(maxsplit=5)[-1] for row in rows if ".so" in row)):
    try:
        ask = ctypes.CDLL(path, os.RTLD_NOLOAD | os.RTLD_NOW).loopback_device_type
    except (OSError, AttributeError):
        continue
    ask.restype = ctypes.c_char_p
    found.append(ask().decode())
print({_MEMORY!r} + json.dumps(found))
print({_MARK!r} + json.dumps(paddle.device.get_all_custom_device_type()), flush=True)
"""


class Loaded(msgspec.Struct, frozen=True):
    """A verdict with the line that shows it and where that line came from.

    `types` have registered; those of `host_memory` are served there by a plugin of ours. `said` is
    what a skipped plugin itself printed just before Paddle skipped it.
    """

    verdict: Verdict
    line: str
    where: str
    types: list[str] = []
    said: list[str] = []
    host_memory: list[str] = []


def load(
    python: Path, device: str, limit: float = LIMIT, variables: Mapping[str, str] = os.environ
) -> Loaded:
    """Import Paddle in this interpreter and judge whether `device` registered.

    Where that ends badly, Paddle is imported once more without plugins, to tell whose fault it is.
    Takes as long as these imports, at most twice `limit` seconds.
    """
    made = judge(_import(python, limit, variables), device)
    if made.verdict in ("hangs", "crashes", "raises", "unknown"):
        alone = _import(python, limit, {**variables, "CUSTOM_DEVICE_ROOT": ""})
        if alone.status != 0 or _types(alone) is None:
            return Loaded("paddle", _last(alone), "import paddle, without plugins")
    return made


def _import(python: Path, limit: float, variables: Mapping[str, str]) -> Answer:
    """What an import of Paddle says. Its log goes to standard error, whatever the user set."""
    env = {**variables, "GLOG_v": "0", "GLOG_minloglevel": "0", "GLOG_logtostderr": "1"}
    try:
        return run([python, "-W", "ignore", "-c", _PROBE], limit, env, cwd=python.parent)
    except OSError as error:
        return Answer(127, "", f"{python}: {error.strerror}")


def judge(answer: Answer, device: str) -> Loaded:
    """The verdict on an import. Pure."""
    where = "import paddle"
    types = _types(answer)
    for verdict, pattern in (*_SIGNS, *(() if types else _NO_PLUGIN)):
        if line := _line(answer, pattern):
            said = _said(answer, line) if verdict == "skipped" else []
            return Loaded(verdict, line, where, types or [], said)
    if answer.status is None:
        return Loaded("hangs", _last(answer), where, types or [])
    if answer.status < 0:
        return Loaded("crashes", f"{signal_name(-answer.status)}: {_last(answer)}", where)
    if answer.status > 0 or types is None:
        return Loaded("raises", _last(answer), where)
    if device in types:
        line, memory = f"registered: {', '.join(types)}", _listed(answer, _MEMORY) or []
        return Loaded("loads", line, where, types, host_memory=memory)
    return Loaded("unknown", f"registered: {', '.join(types) or 'nothing'}", where, types)


# What Paddle and the loader write, most telling first: an undefined symbol may be reported inside
# "Fail to open library". "no custom engine Plugin symbol" is no failure, so it is not here.
_SIGNS: tuple[tuple[Verdict, str], ...] = (
    ("symbol", r"undefined symbol: \S+"),
    ("broken", r"Fail to open library"),
    ("skipped", r"Skipped lib \[.*InitPlugin failed"),
)
# Of a library beside a plugin Paddle says it too: only where nothing registered it is why.
_NO_PLUGIN: tuple[tuple[Verdict, str], ...] = (
    ("skipped", r"Skipped lib \[.*fail to find InitPlugin"),
)


def _types(answer: Answer) -> list[str] | None:
    """The device types that the probe printed; None when it did not get that far."""
    return _listed(answer, _MARK)


def _listed(answer: Answer, mark: str) -> list[str] | None:
    """The names that the probe printed after a mark; None where it did not."""
    lines = [line for line in answer.out.splitlines() if line.startswith(mark)]
    return [str(name) for name in json.loads(lines[-1].removeprefix(mark))] if lines else None


def _line(answer: Answer, pattern: str) -> str | None:
    """The first line with a sign, without the log's time stamp."""
    line = next((line for line in answer.lines if re.search(pattern, line)), None)
    return line and _LOG.sub("", line.strip())


def _said(answer: Answer, sign: str) -> list[str]:
    """The lines before the one with the sign, back to the log's own line before it."""
    lines = answer.lines
    end = next(number for number, line in enumerate(lines) if line.strip().endswith(sign))
    logged = [number for number, line in enumerate(lines[:end]) if _LOG.match(line)]
    return [line.strip() for line in lines[max(logged, default=-1) + 1 : end]]


def _last(answer: Answer) -> str:
    """The last line, as the most telling one of a traceback or a crash."""
    last = answer.last
    if answer.status is None:
        return f"no end within the time limit; last line: {last or '-'}"
    return last or f"exit status {answer.status}"
