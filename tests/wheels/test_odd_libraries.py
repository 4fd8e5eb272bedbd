"""Files that only look like libraries of this machine, and ELF files that lie about themselves."""

from __future__ import annotations

import struct
import subprocess
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from provision.facts.linking import elf, elf_symbols, linkage
from provision.facts.linking.elf_file import DAMAGED, ElfFile
from tests.wheels import make
from tests.wheels.conftest import Auditor, cases

HASH, STRTAB, SYMTAB, NEEDED = 4, 5, 6, 1
GOOD = '#include <stdio.h>\nint f(void) { return puts(""); }'


def program(folder: Path, *flags: str) -> Path:
    """A program, or what the compiler makes of it by these flags."""
    made = folder / "made"
    (folder / "main.c").write_text("int main(void) { return 0; }")
    subprocess.run(["gcc", *flags, "-o", made, folder / "main.c"], check=True, timeout=60)
    return made


def holding(folder: Path, name: str, content: bytes) -> Path:
    return make.sound(folder, {"tiny/__init__.py": b"", name: content})


@pytest.mark.parametrize("flags", [["-c"], ["-static"], ["-static-pie"], ["-pie"]])
def test_what_is_no_library_and_not_called_one_is_not_held_to_be_one(
    tmp_path: Path, alone: Auditor, flags: list[str]
) -> None:
    """Object files for an accelerator, and programs that ask for no library."""
    content = program(tmp_path, *flags).read_bytes()
    assert cases(alone(holding(tmp_path, "tiny/bin/kernel.o", content))) == {}


def test_code_of_an_accelerator_is_not_held_to_be_for_this_processor(
    tmp_path: Path, alone: Auditor
) -> None:
    content = bytearray(make.compiled(tmp_path, GOOD).read_bytes())
    struct.pack_into("<HH", content, 16, 2, 190)  # a program, for the processor of a GPU
    assert cases(alone(holding(tmp_path, "tiny/kernel.bin", bytes(content)))) == {}
    struct.pack_into("<HH", content, 16, 3, 183)  # for the loader of another machine
    found = cases(alone(holding(tmp_path, "tiny/kernel.bin", bytes(content))))
    assert found == {"wheel-libraries": "error arch"}


@pytest.mark.parametrize("flags", [["-c"], ["-no-pie"], ["-pie"]])
def test_what_is_called_a_library_and_cannot_be_loaded_as_one(
    tmp_path: Path, alone: Auditor, flags: list[str]
) -> None:
    content = program(tmp_path, *flags).read_bytes()
    found = cases(alone(holding(tmp_path, "tiny/core.so", content)))
    assert found == {"wheel-libraries": "error broken"}


@pytest.mark.parametrize(("head", "system"), [(b"MZ", "Windows"), (b"\xcf\xfa\xed\xfe", "macOS")])
def test_a_library_of_another_system_is_told_as_one(
    tmp_path: Path, alone: Auditor, head: bytes, system: str
) -> None:
    made = alone(holding(tmp_path, "tiny/core.so", head + bytes(200)))
    assert cases(made) == {"wheel-libraries": "error arch"}
    assert system in next(one for one in made.findings if one.state == "error").part("what")


def crafted(path: Path, tags: Sequence[tuple[int, int]], data: bytes = b"", loads: int = 1) -> Path:
    """A library of these entries and what stands behind them; addresses are places in the file."""
    begin = 64 + 56 * (loads + 1)
    table = b"".join(struct.pack("<qQ", *tag) for tag in tags)
    size = begin + len(table) + len(data)
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, loads + 1, 0, 0, 0)
    dynamic = struct.pack("<IIQQQQQQ", 2, 6, begin, begin, begin, len(table), len(table), 8)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
    path.write_bytes(head + dynamic + load * loads + table + data)
    return path


def behind(tags: int, loads: int = 1) -> int:
    """Where what stands behind so many entries begins."""
    return 64 + 56 * (loads + 1) + 16 * tags


def undefined(*names: int) -> bytes:
    """Symbols that others have, by the places of their names."""
    return b"".join(struct.pack("<IBBHQQ", name, 0x12, 0, 0, 0, 0) for name in names)


def many_segments(path: Path) -> Path:
    return crafted(path, [(NEEDED, 0)], loads=60_000)


def many_entries(path: Path) -> Path:
    return crafted(path, [(NEEDED, 0)] * 500_000)


def more_symbols_than_bytes(path: Path) -> Path:
    at = behind(4)
    tags = [(HASH, at), (SYMTAB, at), (STRTAB, at), (0, 0)]
    return crafted(path, tags, struct.pack("<II", 1, 0xFFFFFFFF) + bytes(8 << 20))


def names_in_one_another(path: Path) -> Path:
    at, symbols = behind(4), undefined(*range(1, 2000))
    tags = [(HASH, at), (SYMTAB, at + 8), (STRTAB, at + 8 + len(symbols)), (0, 0)]
    return crafted(path, tags, struct.pack("<II", 1, 1999) + symbols + b"\0" + b"A" * 1_000_000)


@pytest.mark.parametrize(
    "made", [many_segments, many_entries, more_symbols_than_bytes, names_in_one_another]
)
def test_what_a_library_says_of_itself_takes_neither_time_nor_memory(
    tmp_path: Path, made: Callable[[Path], Path]
) -> None:
    path = made(tmp_path / "x.so")
    tracemalloc.start()
    try:
        problem = elf.read(path, "").problem
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert problem.startswith("damaged")
    assert peak < 100 << 20


def test_a_library_lets_go_of_those_that_it_was_tried_with(tmp_path: Path) -> None:
    """As many as a wheel may have: each that stays mapped keeps a file open."""
    make.compiled(tmp_path, GOOD, "-Wl,-soname,liba.so", name="liba.so")
    files = [tmp_path / "liba.so"]
    for number in range(4):
        name = f"lib{number}.so"
        made = make.compiled(tmp_path, GOOD.replace("f(", f"f{number}("), "-Wl,-rpath,$ORIGIN",
                             "-Wl,--no-as-needed", str(files[-1]), name=name)  # fmt: skip
        files.append(made)
    import gc

    gc.disable()
    try:
        before = set(mapped())
        linkage.collect(files, {})
        assert [path for path in mapped() if path not in before and str(tmp_path) in path] == []
    finally:
        gc.enable()


def mapped() -> Iterator[str]:
    """The files in this process's memory."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        yield line.split()[-1]


def test_the_relocations_that_a_library_says_it_has_are_in_it(tmp_path: Path) -> None:
    at = behind(5)
    tags = [(SYMTAB, at), (STRTAB, at), (7, at), (8, 1 << 40), (0, 0)]
    with pytest.raises(DAMAGED):
        elf_symbols.bound_late(ElfFile(crafted(tmp_path / "x.so", tags, bytes(99))), ["a"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("paddle_custom_device/tiny/libkernels.so", "unknown lent"),
        ("paddle_custom_device/libpaddle-custom-tiny.so", "error missing"),
        ("tiny/core.cpython-311-x86_64-linux-gnu.so", "error missing"),
        ("tiny_pd_.so", "error missing"),
        ("tiny/bin/tool", "error missing"),
    ],
)
def test_what_a_helper_lacks_may_have_been_loaded_before_it(
    tmp_path: Path, against: Auditor, name: str, said: str
) -> None:
    code = "int lent(void); int f(void) { return lent(); }"
    content = make.compiled(tmp_path, code, "-Wl,-z,now").read_bytes()
    made = against(holding(tmp_path, name, content))
    assert cases(made) == {"wheel-symbols": said}
