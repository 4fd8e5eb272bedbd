"""What Paddle's static models keep their weights in (.pdiparams): tensors one after the other.

Each begins with two version numbers that are zero and its levels, then a description with its
dtype and shape, then its bytes (Paddle's SerializeToStream in phi/core/framework/dense_tensor_
serialize.cc, TensorDesc in framework.proto).
"""

from __future__ import annotations

import math
from typing import BinaryIO

from checks.checkpoint.fault import Fault, Seen, Whole

# VarType.Type of framework.proto: bytes of one value.
_BYTES = {0: 1, 1: 2, 2: 4, 3: 8, 4: 2, 5: 4, 6: 8, 20: 1, 21: 1, 22: 2, 23: 8, 24: 16,
          32: 1, 33: 1, 36: 2, 37: 4, 38: 8}  # fmt: skip
_DESCRIPTION = 4096  # bytes, at most
_OTHER = Fault(name="format", values={"format": "pdiparams"})


class _Cut(Exception):
    """The file ends within what was to be read; the argument: so many bytes are missing."""


def look(stream: BinaryIO, size: int) -> Seen:
    """Whether every tensor that begins in a file is whole."""
    at = 0
    try:
        while at < size:
            stream.seek(at)
            found = _tensor(stream)
            if found is None:
                return _OTHER
            at = stream.tell() + found
            if at > size:
                return Fault(name="short", missing=at - size, at_least=True)
    except _Cut as cut:
        return Fault(name="short", missing=cut.args[0], at_least=True)
    return Whole() if size else Fault(name="nothing")


def _tensor(stream: BinaryIO) -> int | None:
    """Bytes of a tensor's values, the stream being before them; None for what is no tensor."""
    if _number(stream, 4) != 0:
        return None
    levels = _number(stream, 8)
    if levels > 8:  # noqa: PLR2004 - more than any model has
        return None
    for _ in range(levels):
        stream.seek(_number(stream, 8), 1)
    if _number(stream, 4) != 0:
        return None
    length = _number(stream, 4)
    return _described(_exactly(stream, length)) if 0 < length <= _DESCRIPTION else None


def _number(stream: BinaryIO, length: int) -> int:
    return int.from_bytes(_exactly(stream, length), "little")


def _exactly(stream: BinaryIO, length: int) -> bytes:
    """So many bytes. Raises _Cut."""
    data = stream.read(length)
    if len(data) < length:
        raise _Cut(length - len(data))
    return data


def _described(data: bytes) -> int | None:
    """Bytes of a tensor by its TensorDesc: field 1 is the dtype, 2 each of its dimensions."""
    kind, shape, at = None, [], 0
    while at < len(data):
        key, at = data[at], at + 1
        value, at = _varint(data, at)
        if key == 0x12:  # noqa: PLR2004 - dimensions, packed
            end = at + value
            while at < end:
                one, at = _varint(data, at)
                shape.append(one)
        elif key == 0x10:  # noqa: PLR2004 - a dimension
            shape.append(value)
        elif key == 0x08:  # noqa: PLR2004
            kind = value
        else:
            return None
    return None if kind not in _BYTES else math.prod(shape) * _BYTES[kind]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, and the place after it."""
    value = shift = 0
    for place in range(at, len(data)):
        value |= (data[place] & 0x7F) << shift
        shift += 7
        if data[place] < 0x80:  # noqa: PLR2004 - the last group
            return value, place + 1
    return value, len(data)
