"""Shared libraries read from their bytes: real ones, broken ones, and random ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provision.facts.linking import elf, elf_symbols
from provision.facts.linking.elf_file import ElfFile

CODE = 'extern "C" { void XX_need(); __attribute__((weak)) void XX_weak(); void YY_need();\n' \
    "void XX_have() { XX_need(); YY_need(); if (XX_weak) XX_weak(); } }\n"  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elf")
    (folder / "a.cc").write_text(CODE)
    path = folder / "liba.so"
    command = [
        "g++",
        "-shared",
        "-fPIC",
        "-Wl,--no-as-needed",
        str(folder / "a.cc"),
        "-o",
        str(path),
    ]
    subprocess.run(command, check=True, timeout=60)
    return path


def test_what_a_library_needs(library: Path) -> None:
    found = elf.read(library, "XX_")
    assert (found.problem, found.undefined) == ("", ["XX_need"])
    assert "libc.so.6" in found.needed == elf.needed(library)


def test_what_a_library_provides(library: Path) -> None:
    assert elf.provided(library, ["XX_have", "XX_need", "XX_other"]) == {"XX_have"}


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda data: b"", "not an ELF"),
        (lambda data: b"plain text" * 20, "not an ELF"),
        (lambda data: data[:40], "truncated"),
        (lambda data: data[: len(data) // 2], "truncated"),
        (lambda data: data[:18] + b"\x16\x00" + data[20:], "built for"),
    ],
)
def test_broken_files(library: Path, tmp_path: Path, damage: object, problem: str) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(damage(library.read_bytes()))  # type: ignore[operator]
    assert problem in elf.read(path, "XX_").problem


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    assert "cannot be read" in elf.read(tmp_path / "none.so", "XX_").problem
    assert "cannot be read" in elf.read(tmp_path, "XX_").problem


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_random_damage_is_an_answer_never_an_error(library: Path, data: st.DataObject) -> None:
    content = bytearray(library.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, 1200))] = data.draw(st.integers(0, 255))
    path = library.with_name("damaged.so")
    path.write_bytes(content)
    assert isinstance(elf.read(path, "XX_"), elf.Library)


@pytest.mark.parametrize(("flag", "late"), [("-z,lazy", ["called"]), ("-z,now", [])])
def test_what_is_looked_up_only_when_it_is_called(
    tmp_path: Path, flag: str, late: list[str]
) -> None:
    code = "void called(void); void taken(void); extern int data;"
    code += "void (*at)(void) = taken; int f(void) { called(); return data; }"
    path = tmp_path / "libx.so"
    command = ["gcc", "-x", "c", "-", "-shared", "-fPIC", f"-Wl,{flag}", "-o", str(path)]
    subprocess.run(command, input=code, text=True, check=True, timeout=60)
    names = ["called", "data", "taken"]
    assert set(names) <= set(elf_symbols.undefined(ElfFile(path)))
    assert elf_symbols.bound_late(ElfFile(path), names) == late
