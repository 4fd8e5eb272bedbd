"""Opens a log: packed or not, from a file or from standard input, in its encoding."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import shutil
import stat
import subprocess
import sys
import threading
import zlib
from typing import BinaryIO, cast

from provision.errors import PaddockError
from provision.words import text

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SAMPLE = 512  # bytes by which UTF-16 without a mark is known
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)


class Log:
    """An open log. `plain`: its bytes stand in a file just so, and `path` names that file."""

    def __init__(self, name: str) -> None:
        """Open it; `-` is standard input. Raises PaddockError `bad-file`, `no-zstd`."""
        self.name = name
        self._process: subprocess.Popen[bytes] | None = None
        try:
            raw = _standard_input() if name == "-" else _opened(name)
            self._raw = stream = cast(io.BufferedReader, raw)
            head = stream.peek(_SAMPLE)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name, a closed input
            reason = getattr(error, "strerror", None) or str(error)
            raise PaddockError("bad-file", file=name, reason=reason) from None
        if head.startswith(_GZIP):
            stream = cast(io.BufferedReader, gzip.GzipFile(fileobj=stream))
        elif head.startswith(_ZSTD):
            stream = self._unpacked(stream)
        self.plain = stream is self._raw and name != "-" and _has_size(stream)
        self.stream: BinaryIO = cast(BinaryIO, self._decoded(stream))

    def _unpacked(self, stream: io.BufferedReader) -> io.BufferedReader:
        """What the program `zstd` makes of a stream; Python itself reads zst only from 3.14 on."""
        if not shutil.which("zstd"):
            raise PaddockError("no-zstd", file=self.name)
        self._process = process = subprocess.Popen(
            ["zstd", "-dcq"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        threading.Thread(target=_feed, args=(stream, process.stdin), daemon=True).start()
        return cast(io.BufferedReader, process.stdout)

    def _decoded(self, stream: io.BufferedReader) -> io.BufferedReader:
        """UTF-16 as UTF-8; any other encoding as it is, since all of them spell ASCII alike."""
        try:
            codec = _utf16(stream.peek(_SAMPLE)[:_SAMPLE])
        except DAMAGED:  # met again, and told, when the log is read
            return stream
        if not codec:
            return stream
        self.plain = False
        return io.BufferedReader(_Utf8(stream, codec))

    def problem(self) -> str:
        """What was wrong with a packed log that ended; "" when nothing was."""
        if self._process is None or self._process.wait() == 0:
            return ""
        assert self._process.stderr is not None  # noqa: S101 - it was asked for
        return os.fsdecode(self._process.stderr.read()).strip() or "zstd"

    def close(self) -> None:
        """Let go of the file and of the program that unpacks it."""
        if self._process:
            self._process.kill()
            self._process.wait()
        if self.name != "-":
            self._raw.close()


def _opened(name: str) -> BinaryIO:
    """Also a pipe, as the shell's `<(command)` is. Raises OSError, and ValueError for a device."""
    raw = open(name, "rb")  # noqa: SIM115, PTH123 - it is handed on
    if stat.S_ISCHR(os.fstat(raw.fileno()).st_mode) and not raw.isatty():
        raw.close()
        raise ValueError(text("explain.device"))
    return raw


def _standard_input() -> BinaryIO:
    """Raises ValueError where it is closed: Python has none then."""
    if sys.stdin is None:
        raise ValueError(text("read.no-input"))
    return sys.stdin.buffer


def _has_size(stream: io.BufferedReader) -> bool:
    """Whether it is a file of a known size: no pipe, and none that the kernel makes up."""
    status = os.fstat(stream.fileno())
    return stat.S_ISREG(status.st_mode) and status.st_size > 0


def _feed(source: io.BufferedReader, sink: BinaryIO | None) -> None:
    """Copy one stream into another until either end is gone."""
    assert sink is not None  # noqa: S101 - it was asked for
    try:
        shutil.copyfileobj(source, sink)
        sink.close()
    except (OSError, ValueError):
        return


def _utf16(head: bytes) -> str:
    """The codec of a log that begins like this; "" when it is not UTF-16.

    Without a mark at its beginning, what is mostly ASCII has a NUL in every second place.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for codec, high, low in (("utf-16-le", head[1::2], head[::2]),
                             ("utf-16-be", head[::2], head[1::2])):  # fmt: skip
        if high and high.count(0) > len(high) * 0.7 and low.count(0) < len(low) * 0.1:
            return codec
    return ""


class _Utf8(io.RawIOBase):
    """A stream in another encoding, read as UTF-8."""

    def __init__(self, stream: io.BufferedReader, codec: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(codec)("replace")
        self._rest = b""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """The next bytes; 0 at the end."""
        while not self._rest:
            piece = self._stream.read1(1 << 16)
            self._rest = self._decoder.decode(piece, not piece).encode("utf-8", "replace")
            if not piece:
                break
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
