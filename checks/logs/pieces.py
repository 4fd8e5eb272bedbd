"""A log as a row of pieces, each a few MiB that become a window: memory is never more than that.

A piece of a plain file is read on its own, so that several can be read side by side; a stream is
read one piece after the other. Both cut a log in the same places.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterator
from typing import BinaryIO

from checks.logs.source import DAMAGED
from checks.logs.window import AROUND, OVERLAP, Window

SIZE = 1 << 21  # bytes
_STEP = 1 << 17  # bytes read at once from a stream: what was read before damage is kept

Piece = Callable[[], Window]


def pieces(stream: BinaryIO, plain: bool, ring: int, size: int = SIZE) -> Iterator[Piece]:
    """The whole log; the window of a piece is valid until `ring` more pieces were asked for.

    A piece may raise what reading raises: OSError, and DAMAGED where a packed log is.
    """
    buffers = itertools.cycle([bytearray(size + 3 * AROUND) for _ in range(ring)])
    return (_of_file if plain else _of_stream)(stream, buffers, size)


def _of_file(stream: BinaryIO, buffers: Iterator[bytearray], size: int) -> Iterator[Piece]:
    """The pieces of a file, which may grow or shrink meanwhile."""
    file, mark, known = stream.fileno(), 0, 0
    while mark < known or mark < (known := os.fstat(file).st_size):
        yield functools.partial(_read, file, next(buffers), mark, size)
        mark += size


def _read(file: int, data: bytearray, mark: int, size: int) -> Window:
    """The window that begins about a mark in a file."""
    begin, filled = max(mark - 2 * AROUND, 0), 0
    wanted = memoryview(data)[: mark - begin + size + AROUND]
    while got := os.preadv(file, [wanted[filled:]], begin + filled):
        filled += got
    start, stop = _bounds(data, filled, mark - begin, size)
    return Window(data, start, stop, filled, begin + start, begin + stop, exact=True)


def _of_stream(stream: BinaryIO, buffers: Iterator[bytearray], size: int) -> Iterator[Piece]:
    """The pieces of a stream, each read when it is asked for."""
    data, filled, mark, begin, problem = next(buffers), 0, 0, 0, None
    while True:
        if not problem:
            filled, problem = _fill(stream, data, filled)
        start, stop = _bounds(data, filled, mark, size)
        window = Window(data, start, stop, filled, begin + start, begin + stop, exact=False)
        yield functools.partial(_same, window)
        if filled <= mark + size:
            break
        kept = max(mark + size - 2 * AROUND, 0)
        rest, data = memoryview(data)[kept:filled], next(buffers)
        data[: len(rest)] = rest
        filled, mark, begin = len(rest), mark + size - kept, begin + kept
    if problem:
        yield functools.partial(_fail, problem)


def _fill(stream: BinaryIO, data: bytearray, filled: int) -> tuple[int, Exception | None]:
    """Read on until the data is full or the stream at its end; how far that came, and why not."""
    view = memoryview(data)
    try:
        while filled < len(data) and (
            got := stream.readinto1(view[filled : filled + _STEP])  # type: ignore[attr-defined]
        ):
            filled += got
    except (*DAMAGED, OSError) as error:
        return filled, error
    return filled, None


def _same(window: Window) -> Window:
    return window


def _fail(problem: Exception) -> Window:
    raise problem


def _bounds(data: bytearray, filled: int, mark: int, size: int) -> tuple[int, int]:
    """Where to search: from a mark to the next, both moved back to where a line ends."""
    if filled <= mark:  # a file that shrank meanwhile
        return filled, filled
    stop = filled if filled <= mark + size else _border(data, mark + size)
    start = _border(data, mark)
    if start == mark and mark and data[mark - 1] not in b"\r\n":
        start -= OVERLAP
    return start, stop


def _border(data: bytearray, mark: int) -> int:
    """After the last line that ends before a mark, near to it; else the mark itself."""
    low = max(mark - AROUND, 0)
    cut = max(data.rfind(b"\n", low, mark), data.rfind(b"\r", low, mark))
    return cut + 1 if cut >= 0 else mark
