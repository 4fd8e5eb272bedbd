"""Loads a plugin into Paddle in a process of its own, computes with it, and says how it went."""

from __future__ import annotations

import os
import re
import resource
import signal
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from provision.facts.command import Answer, run, signal_name
from provision.facts.memory_left import memory_left
from provision.paths import cache_dir

LIMIT = 20.0  # seconds; a plugin made for another Paddle can hang for ever
_MOST = 8  # times that limit, where the processors have so much else to do

# `exit`: it computes, and then the process hangs or dies at its end; `absent`: all goes well, and
# its device is not there. Two tell nothing of the plugin: `memory`, there was not enough of it, and
# `paddle`, which does not even import without a plugin.
Verdict = Literal[
    "loads", "skipped", "symbol", "open", "hang", "crash", "exit-hang", "exit-crash", "wrong",
    "error", "registers", "absent", "memory", "paddle",
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

_FLOODED = "MiB of output"  # why a process was ended
_OURS = re.compile(r"^paddock-.*\n?", re.MULTILINE)
_SIGNS: Final[tuple[tuple[Verdict, str], ...]] = (
    ("wrong", r"^paddock-wrong .*"),
    ("symbol", r"undefined symbol: \S+"),
    ("open", r"Fail to open library.*"),
    ("skipped", r"Skipped lib \[.*InitPlugin.*"),
)
# What Python, C++, the loader and Paddle say where memory is short; a full TLS block is no such.
_MEMORY = re.compile(
    r"^.*(?:\bMemoryError\b|std::bad_alloc|[Cc]annot allocate memory(?! in static TLS)"
    r"|failed to map segment from shared object$|ResourceExhausted|Fail to alloc memory).*$",
    re.MULTILINE,
)
_SHORT, _LIMITED = 2 << 30, 16 << 30  # bytes that are left, or allowed, which Paddle may want


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
    machine that is busy: there what is slow would look as if it hung. So it would where all of
    Paddle has yet to be read from a slow disk: what seems to hang is tried twice.
    """
    # Not in /tmp, from which a machine may forbid to run anything: no plugin would load there.
    cache_dir().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="trial-", dir=cache_dir()) as folder:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.startswith("paddle_custom_device/"):
                    archive.extract(name, folder)
        made = _once(Path(folder), place, device, limit, compute=compute)
        if made.verdict == "hang":
            made = _once(Path(folder), place, device, limit, compute=compute)
        return msgspec.structs.replace(made, line=made.line.replace(f"{folder}/", ""))


def _once(folder: Path, place: Place, device: str, limit: float, *, compute: bool) -> Trial:
    """One load of what was unpacked; where Paddle was not imported, the verdict on it alone."""
    words = [_PROBE, device, str(int(compute))]
    answer, scarce = _run(words, place, folder / "paddle_custom_device", limit)
    made = judge(answer, device, compute=compute, scarce=scarce)
    if answer.status != 0 and "paddock-types" not in answer.out and made.verdict != "memory":
        return _alone(place, folder / "none", limit) or made
    return made


def _run(words: Sequence[str], place: Place, root: Path, limit: float) -> tuple[Answer, bool]:
    """Run code with arguments where Paddle takes the plugins of the folder `root`.

    Also whether memory was scarce before.
    """
    scarce = is_scarce()
    seconds = limit * min(_MOST, max(1.0, busy()))
    argv = [str(place.python), "-W", "ignore", "-c", *words]
    return run(argv, seconds, _variables(root, place), root.parent), scarce


def _alone(place: Place, nowhere: Path, limit: float) -> Trial | None:
    """The verdict on Paddle where it does not import without any plugin; None where it does.

    A processor without AVX or a missing libgomp is no fault of the wheel.
    """
    answer, scarce = _run(["import paddle"], place, nowhere, limit)
    if answer.status == 0:
        return None
    line = _ran_out(answer) if scarce else ""
    return Trial("memory", line) if line else Trial("paddle", _end(answer, None, done=False).line)


def is_scarce() -> bool:
    """Whether so little memory is left, or allowed, that Paddle may not get what it wants."""
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    left = memory_left()
    return (left is not None and left < _SHORT) or any(0 <= one < _LIMITED for one in limits)


def short_of_memory(said: str) -> str:
    """The line that tells that memory ran out; "" where none does.

    A plugin for another Paddle may ask for any amount, so it counts only where memory is scarce.
    """
    found = _MEMORY.search(said)
    return found[0].strip() if found else ""


def busy() -> float:
    """How many processes wait for each processor, over the last minute."""
    return os.getloadavg()[0] / len(os.sched_getaffinity(0))


def _variables(root: Path, place: Place) -> dict[str, str]:
    """The environment in which Paddle takes the plugins of a folder and says what it does."""
    from provision.run import clean  # it knows all steps, and a verdict is read without them

    found = {**clean(os.environ), "CUSTOM_DEVICE_ROOT": str(root),
             "GLOG_v": "0", "GLOG_minloglevel": "1", "GLOG_logtostderr": "1"}  # fmt: skip
    paths = filter(None, [place.libraries, os.environ.get("LD_LIBRARY_PATH")])
    return {**found, "LD_LIBRARY_PATH": ":".join(paths)}


def judge(answer: Answer, device: str, *, compute: bool, scarce: bool = False) -> Trial:
    """The verdict on what the probe printed and how it ended; `scarce`: memory was. Pure."""
    said = answer.out + "\n" + answer.err
    done = "paddock-computed" in said
    types = re.search(r"^paddock-types(.*)$", said, re.MULTILINE)
    names = types[1].split() if types else None
    is_there = device in (names or [])
    if answer.status == 0 and (done or (is_there and not compute)):
        return Trial("loads" if done else "registers", "")
    if scarce and (line := _ran_out(answer)):
        return Trial("memory", line)
    sign = None if done else _sign(said, is_there=is_there)
    return sign or _end(answer, names, done=done)


def _sign(said: str, *, is_there: bool) -> Trial | None:
    """What Paddle, the loader or the probe names; what is skipped while the device is there is not
    the plugin, but another library beside it.
    """
    for verdict, pattern in _SIGNS:
        found = re.search(pattern, said, re.MULTILINE)
        if found and not (verdict == "skipped" and is_there):
            return Trial(verdict, found[0])
    return None


def _end(answer: Answer, names: list[str] | None, *, done: bool) -> Trial:
    """How it ended, where nothing names a cause."""
    last = msgspec.structs.replace(answer, out=_OURS.sub("", answer.out)).last
    if answer.status is None:
        return Trial("exit-hang" if done else "hang", last)
    if answer.status < 0:
        shown = last if _FLOODED in answer.err else signal_name(-answer.status)
        return Trial("exit-crash" if done else "crash", shown)
    if answer.status == 0 and names is not None:
        return Trial("absent", f"registered: {', '.join(names) or 'nothing'}")
    return Trial("exit-crash" if done else "error", last or f"exit status {answer.status}")


def _ran_out(answer: Answer) -> str:
    """What shows that memory ran out, "" for nothing: the kernel ends what it has none left for."""
    if line := short_of_memory(answer.err + "\n" + answer.out):
        return line
    killed = answer.status == -signal.SIGKILL and _FLOODED not in answer.err
    return signal_name(signal.SIGKILL) if killed else ""
