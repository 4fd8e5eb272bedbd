"""What explaining a big log costs against `grep -c`, and its memory."""

from __future__ import annotations

from pathlib import Path

from bench.grep import against_grep
from bench.places import scratch, tool
from bench.result import Result

MEGABYTES = 100
_SIZE = 1 << 30  # bytes
_WORD = "libatb.so: cannot open"
_FAILURE = f"ImportError: {_WORD} shared object file: No such file or directory\n"


def explain() -> list[Result]:
    """`paddock explain` on 1 GiB of noise with one failure at its end."""
    with scratch() as folder:
        log = folder / "run.log"
        _write(log)
        return against_grep("explain", tool("explain", str(log)), log, _WORD, MEGABYTES)


def _write(path: Path) -> None:
    """A log as a training run and a build leave it."""
    lines = (
        f"[2026-08-16 01:55:{n % 60:02d},{n % 997:03d}] [    INFO] - step {n}, loss: 2.{n:06d}\n"
        f"[{n % 208}/208] Building CXX object CMakeFiles/plugin.dir/kernels/k{n}.cc.o\n"
        for n in range(50_000)
    )
    piece = "".join(lines).encode()
    with path.open("wb") as file:
        for _ in range(_SIZE // len(piece) + 1):
            file.write(piece)
        file.write(_FAILURE.encode())
