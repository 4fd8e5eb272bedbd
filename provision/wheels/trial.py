"""Loads a plugin into Paddle in a process of its own, computes with it, and says how it went."""

from __future__ import annotations

import os
import re
import tempfile
import zipfile
from pathlib import Path
from typing import Final, Literal

import msgspec

from provision.facts.command import Answer, run, signal_name
from provision.run import clean

LIMIT = 20.0  # seconds; a plugin made for another Paddle can hang for ever
_MOST = 8  # times that limit, where the processors have so much else to do

# `exit`: it computes, and then the process hangs or dies at its end.
Verdict = Literal[
    "loads", "skipped", "symbol", "open", "hang", "crash", "exit-hang", "exit-crash", "wrong",
    "error", "registers",
]  # fmt: skip

# Paddle, the device, then sums whose results are exact in binary.
_PROBE = """\
import sys, paddle
device, compute = sys.argv[1], sys.argv[2] == "1"
types = paddle.device.get_all_custom_device_type()
print("paddock-types", *types, flush=True)
if device in types and compute:
    paddle.set_device(device)
    a = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    made = (a + a).numpy().tolist(), paddle.matmul(a, a).numpy().tolist(), str(a.place)
    good = made[:2] == ([[2.0, 4.0], [6.0, 8.0]], [[7.0, 10.0], [15.0, 22.0]]) and device in made[2]
    print("paddock-computed" if good else "paddock-wrong %r" % (made,), flush=True)
"""

_SIGNS: Final[tuple[tuple[Verdict, str], ...]] = (
    ("symbol", r"undefined symbol: \S+"),
    ("open", r"Fail to open library.*"),
    ("skipped", r"Skipped lib \[.*InitPlugin failed.*"),
)


class Trial(msgspec.Struct, frozen=True):
    """What came of a load: the verdict, and the line that shows it."""

    verdict: Verdict
    line: str


class Place(msgspec.Struct, frozen=True):
    """Where a plugin is loaded: the Python with Paddle, and the vendor's folders of libraries."""

    python: Path
    libraries: str = ""


def load(wheel: Path, place: Place, device: str, *, compute: bool, limit: float = LIMIT) -> Trial:
    """Load the plugin of a wheel into the Paddle of an environment that has none of its own.

    With `compute` it has to give right results too. Takes at most `limit` seconds, and longer on a
    machine that is busy: there what is slow would look as if it hung.
    """
    with tempfile.TemporaryDirectory(prefix="paddock-trial-") as folder:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.startswith("paddle_custom_device/"):
                    archive.extract(name, folder)
        argv: list[str | Path] = [place.python, "-W", "ignore", "-c", _PROBE, device]
        seconds = limit * min(_MOST, max(1.0, busy()))
        answer = run([*argv, str(int(compute))], seconds, _variables(folder, place), Path(folder))
        return judge(answer, device, compute=compute)


def busy() -> float:
    """How many processes wait for each processor, over the last minute."""
    return os.getloadavg()[0] / len(os.sched_getaffinity(0))


def _variables(folder: str, place: Place) -> dict[str, str]:
    """The environment in which Paddle finds this plugin and says what it does with it."""
    found = {**clean(os.environ), "CUSTOM_DEVICE_ROOT": f"{folder}/paddle_custom_device",
             "GLOG_v": "0", "GLOG_minloglevel": "0", "GLOG_logtostderr": "1"}  # fmt: skip
    paths = filter(None, [place.libraries, os.environ.get("LD_LIBRARY_PATH")])
    return {**found, "LD_LIBRARY_PATH": ":".join(paths)}


def judge(answer: Answer, device: str, *, compute: bool) -> Trial:
    """The verdict on what the probe printed and how it ended. Pure."""
    said = answer.out + "\n" + answer.err
    done = "paddock-computed" in said
    types = re.search(r"^paddock-types(.*)$", said, re.MULTILINE)
    is_there = bool(types) and device in (types[1].split() if types else [])
    if answer.status == 0 and (done or (is_there and not compute)):
        return Trial("loads" if done else "registers", "")
    if wrong := re.search(r"^paddock-wrong .*", said, re.MULTILINE):
        return Trial("wrong", wrong[0])
    if not done:
        for verdict, pattern in _SIGNS:
            if found := re.search(pattern, said):
                return Trial(verdict, found[0])
    last = answer.lines[-1].strip() if answer.lines else ""
    if answer.status is None:
        return Trial("exit-hang" if done else "hang", last)
    if answer.status < 0:
        return Trial("exit-crash" if done else "crash", signal_name(-answer.status))
    return Trial("error", last or f"exit status {answer.status}")
