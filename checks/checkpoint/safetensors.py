"""A safetensors file: 8 bytes with the length of the header, the header, the tensors.

The format: github.com/huggingface/safetensors, README.md. Each tensor names its dtype, shape, and
where its bytes begin and end behind the header; together they leave no gap.
"""

from __future__ import annotations

import math
from typing import Annotated, BinaryIO

import msgspec

from checks.checkpoint.fault import Fault, Seen, Whole

_LARGEST = 100_000_000  # bytes of a header, by the format
_LENGTH = 8
_BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "I16": 16, "U16": 16, "F16": 16,
    "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "F64": 64, "I64": 64, "U64": 64,
}  # fmt: skip

Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 60)]


class _Tensor(msgspec.Struct, frozen=True):
    dtype: str
    shape: list[Count]
    data_offsets: tuple[Count, Count]


def look(stream: BinaryIO, size: int) -> Seen:
    """Whether a file of that size holds what its header says."""
    if size < _LENGTH:
        return Fault(name="short", missing=_LENGTH - size, at_least=True)
    length = int.from_bytes(stream.read(_LENGTH), "little")
    if length > _LARGEST:
        return Fault(name="format", values={"format": "safetensors"})
    if size < _LENGTH + length:
        return Fault(name="short", missing=_LENGTH + length - size, at_least=True)
    try:
        raw = msgspec.json.decode(stream.read(length), type=dict[str, msgspec.Raw])
        raw.pop("__metadata__", None)
        tensors = {name: msgspec.json.decode(value, type=_Tensor) for name, value in raw.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Fault(name="header")
    if not tensors and size == _LENGTH + length:
        return Fault(name="no-tensors")
    return _compared(tensors, size - _LENGTH - length)


def _compared(tensors: dict[str, _Tensor], there: int) -> Seen:
    """The tensors against the bytes behind the header."""
    end = 0
    for name, one in sorted(tensors.items(), key=lambda item: item[1].data_offsets):
        begin, stop = one.data_offsets
        bits = _BITS.get(one.dtype)
        sized = bits is None or math.prod(one.shape) * bits == (stop - begin) * 8
        if begin != end or stop < begin or not sized:
            return Fault(name="tensor", values={"tensor": name[:100]})
        end = stop
    if there < end:
        return Fault(name="short", missing=end - there)
    if there > end:
        return Fault(name="long", values={"more": str(there - end)})
    return Whole({name: one.data_offsets[1] - one.data_offsets[0] for name, one in tensors.items()})
