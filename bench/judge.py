"""What judging a big log costs against `grep -c`, and its memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench.grep import against_grep
from bench.places import scratch, tool
from bench.result import Result

MEGABYTES = 150
_SIZE = 2 << 30  # bytes
_WORD = "train_runtime"
_END = f"[2026-03-09 09:00:00,000] [    INFO] - {_WORD}: 3600.0, train_loss: 1.9, epoch: 1.0\n"


def judge() -> list[Result]:
    """`paddock smoke --diagnose` on 2 GiB of a talkative training run."""
    with scratch() as folder:
        log = folder / "run.log"
        _write(log)
        # 12: the log proves no device, so that the verdict is `unknown`.
        mine = replace(tool("smoke", "--diagnose", str(log)), statuses=(12,))
        return against_grep("judge", mine, log, _WORD, MEGABYTES)


def _write(path: Path) -> None:
    """One line of figures to nine of others; all steps of each part count on."""
    with path.open("wb") as file:
        begin = 0
        while file.tell() < _SIZE:
            file.write("".join(_line(begin + n) for n in range(50_000)).encode())
            begin += 50_000
        file.write(_END.encode())


def _line(n: int) -> str:
    clock = f"08:{n // 60 % 60:02d}:{n % 60:02d}"
    if n % 10:
        return f"I0309 {clock}.{n % 997:06d} 42 stream.cc:{n % 997}] wait {n}\n"
    loss = 2.4 - (n % 10_000_000) * 1e-7
    return (
        f"[2026-03-09 {clock},{n % 997:03d}] [    INFO] - loss: {loss:.8f},"
        f" learning_rate: 3e-06, global_step: {n}, interval_runtime: 20.0, ppl: 1.0\n"
    )
