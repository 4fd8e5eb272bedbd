"""A pickle is walked from opcode to opcode to its end; nothing in it is loaded or run.

What `paddle.save` writes (.pdparams, .pdopt) is one pickle: opcodes with their arguments, the
tensors' bytes among them, the last opcode is STOP. Each opcode's argument tells its own length, so
that large ones are skipped (the opcodes: Python's pickletools).
"""

from __future__ import annotations

import pickletools
from typing import BinaryIO

from checks.checkpoint.fault import Fault, Seen, Whole

# How many bytes tell the length of an argument, by pickletools' own numbers.
_COUNTED = {
    pickletools.TAKEN_FROM_ARGUMENT1: 1, pickletools.TAKEN_FROM_ARGUMENT4: 4,
    pickletools.TAKEN_FROM_ARGUMENT4U: 4, pickletools.TAKEN_FROM_ARGUMENT8U: 8,
}  # fmt: skip
_CODES = {one.code: one for one in pickletools.opcodes}
_TWO_LINES = frozenset({"GLOBAL", "INST"})  # a module's and a class's name
_LONGEST = 1 << 20  # bytes of a line: a name or a number


def look(stream: BinaryIO, size: int) -> Seen:
    """Whether a pickle reaches its STOP, at the end of the file."""
    at = 0
    while at < size:
        opcode = _CODES.get(stream.read(1).decode("latin-1"))
        if opcode is None:
            return Fault(name="format", values={"format": "pickle"})
        if opcode.name == "STOP":
            return _ended(size - at - 1)
        end = _after(stream, opcode, at + 1)
        if end > size:
            return Fault(name="short", missing=end + 1 - size, at_least=True)
        at = end
        stream.seek(at)
    return Fault(name="short", missing=1, at_least=True)


def _ended(more: int) -> Seen:
    return Fault(name="long", values={"more": str(more)}) if more else Whole()


def _after(stream: BinaryIO, opcode: pickletools.OpcodeInfo, at: int) -> int:
    """Where the opcode's argument ends, which may be behind the end of the file."""
    if opcode.arg is None:
        return at
    if opcode.arg.n == pickletools.UP_TO_NEWLINE:
        lines = [stream.readline(_LONGEST) for _ in range(1 + (opcode.name in _TWO_LINES))]
        whole = all(line.endswith(b"\n") for line in lines)
        return at + sum(map(len, lines)) + (not whole)
    if (digits := _COUNTED.get(opcode.arg.n)) is None:
        return at + opcode.arg.n
    return at + digits + int.from_bytes(stream.read(digits).ljust(digits, b"\0"), "little")
