"""Module files made by hand, packed in every way, whole and damaged."""

from __future__ import annotations

import gzip
import lzma
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provision.facts import modinfo

INFO = b"license=GPL\0version=3.1.4\0alias=a\0alias=b\0vermagic=5.10.0-7-demo SMP mod_unload \0\0"
NEEDED = {"license": "GPL", "version": "3.1.4", "alias": "a",
          "vermagic": "5.10.0-7-demo SMP mod_unload"}  # fmt: skip


def module(info: bytes = INFO, section: bytes = b".modinfo") -> bytes:
    """An ELF file of 64 bits with one section besides the one for the names."""
    names = b"\0" + section + b"\0.shstrtab\0"
    start, table = 64, 64 + len(info)
    headers = table + len(names)
    rows = [(0, 0, 0, 0), (1, 1, start, len(info)), (len(section) + 2, 3, table, len(names))]
    parts = b"".join(struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, at, size, 0, 0, 1, 0)
                     for name, kind, at, size in rows)  # fmt: skip
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, headers, 0, 64, 0, 0, 64, 3, 2)
    return ident + header + info + names + parts


def unpackable(content: bytes) -> bytes:
    return subprocess.run(["zstd", "-qc"], input=content, stdout=-1, check=True).stdout


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_every_packing(tmp_path: Path, pack: type[bytes]) -> None:
    (tmp_path / "a.ko").write_bytes(pack(module()))
    assert modinfo.read(tmp_path / "a.ko") == NEEDED


def test_zst_is_asked_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "modinfo"
    program.write_text(
        '#!/bin/sh\necho "filename:       $1"\necho "version:        3.1.4"\n'
        'echo "version:        9"\necho "vermagic:       5.10.0-7-demo SMP mod_unload "\n'
    )
    program.chmod(0o755)
    (tmp_path / "a.ko").write_bytes(b"\x28\xb5\x2f\xfd rest")
    monkeypatch.setattr(modinfo, "_SEARCH", str(tmp_path))
    found = modinfo.read(tmp_path / "a.ko")
    assert (found["version"], found["vermagic"]) == ("3.1.4", NEEDED["vermagic"])
    program.write_text('#!/bin/sh\necho "vermagic:  1.2.3"\nexit 1\n')
    assert modinfo.read(tmp_path / "a.ko") == {}
    monkeypatch.setattr(modinfo, "_SEARCH", str(tmp_path / "none"))
    assert modinfo.read(tmp_path / "a.ko") == {}


@pytest.mark.skipif(not shutil.which("zstd"), reason="the program zstd is not here")
@pytest.mark.skipif(
    not shutil.which("modinfo", path=modinfo._SEARCH), reason="the program modinfo is not here"
)
def test_zst_with_the_real_program(tmp_path: Path) -> None:
    (tmp_path / "a.ko.zst").write_bytes(unpackable(module()))
    assert modinfo.read(tmp_path / "a.ko.zst")["vermagic"] == NEEDED["vermagic"]


def test_a_file_without_the_section_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.ko").write_bytes(module(section=b".other"))
    assert modinfo.read(tmp_path / "a.ko") == {}
    (tmp_path / "a.ko").write_bytes(module(INFO + bytes(1 << 20)))
    assert modinfo.read(tmp_path / "a.ko") == {}
    assert modinfo.read(tmp_path) == modinfo.read(tmp_path / "absent.ko") == {}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_a_cut_file_says_nothing(tmp_path: Path, pack: type[bytes]) -> None:
    whole = pack(module())
    for size in range(0, len(whole) - 8, 7):
        (tmp_path / "a.ko").write_bytes(whole[:size])
        assert modinfo.read(tmp_path / "a.ko") in ({}, NEEDED)
    (tmp_path / "a.ko").write_bytes(whole[: len(whole) // 2])
    assert modinfo.read(tmp_path / "a.ko") == {}


@given(st.binary(max_size=300), st.integers(0, 300))
def test_any_damage_is_survived(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int
) -> None:
    path = tmp_path_factory.mktemp("ko") / "a.ko"
    content = bytearray(module())
    content[at : at + len(noise)] = noise
    path.write_bytes(content)
    assert isinstance(modinfo.read(path), dict)
