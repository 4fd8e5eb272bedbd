"""What is read of a wheel is what is in it, whole and in order, and no more than is needed."""

from __future__ import annotations

import errno
import itertools
import os
import re
import struct
import zipfile
from pathlib import Path

import pytest

from checks.wheels import archive, contents, place
from checks.wheels.outline import Outline
from provision.facts.linking import elf_symbols, elf_versions
from provision.facts.linking.elf_file import DAMAGED, ElfFile
from tests.wheels import make

BIG = make.noise(1_700_000) + bytes(1_000_000) + make.noise(600_001)  # some pieces, the last short
FILES = {make.INIT: b"x = 1\n", make.LIBRARY: b"\x7fELF" + BIG, "data.bin": BIG, "empty.txt": b""}


def stored(path: Path) -> Path:
    """The same wheel without compression."""
    other = path.with_suffix(".stored")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return other


@pytest.mark.parametrize("packed", [True, False])
def test_sizes_digests_and_the_library_are_those_of_its_files(tmp_path: Path, packed: bool) -> None:
    wheel = make.sound(tmp_path, FILES)
    with archive.opened(wheel if packed else stored(wheel)) as whole:
        made = contents.read(whole, tmp_path)
    found = {name: made.members[name] for name in FILES}
    assert found == {name: contents.Member(len(content), make.digest(content))
                     for name, content in FILES.items()}  # fmt: skip
    assert made.libraries == {make.LIBRARY: tmp_path / make.LIBRARY}
    assert (tmp_path / make.LIBRARY).stat().st_size == len(FILES[make.LIBRARY])
    assert not (tmp_path / make.INIT).exists()


def test_what_record_does_not_list_is_not_digested(tmp_path: Path) -> None:
    wheel = make.sound(tmp_path, FILES, change=lambda held: held.update({"more.bin": BIG}))
    with archive.opened(wheel) as whole:
        made = contents.read(whole, tmp_path)
    assert made.members["more.bin"] == contents.Member(len(BIG), "")


def test_a_disk_that_is_full_while_a_library_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The threads end, and the error is that of the disk."""

    def full(_: Outline, piece: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Outline, "take", full)
    with archive.opened(make.sound(tmp_path, FILES)) as whole, pytest.raises(OSError) as error:
        contents.read(whole, tmp_path / "site")
    assert error.value.errno == errno.ENOSPC


def test_the_copy_of_an_environment_is_of_short_links(tmp_path: Path, paddle: Path) -> None:
    """They lead to the packages; ext4 removes a link of 60 bytes or more only slowly."""
    site = tmp_path / "site"
    site.mkdir()
    place.overlay(site, place.find("x", "auto", str(paddle)), [], "")
    links = {one.name: one for one in site.iterdir()}
    real = next(paddle.glob("lib/python3.*/site-packages"))
    assert links.keys() == {one.name for one in real.iterdir()}
    for name, one in links.items():
        assert one.resolve() == (real / name).resolve()
        assert len(os.readlink(one)) < 60  # noqa: PTH115 - as it is written


CODE = """
#include <stdio.h>
int later(int);
int first(int n) { return later(n) + printf("%d", n); }
const char much[3000000] = {1}; char more[300000] = {2};
"""


def list_of_segments_at_the_end(library: bytearray) -> None:
    """As a tool may leave it that adds a segment to a library."""
    start, count = struct.unpack_from("<Q", library, 32)[0], library[56]
    struct.pack_into("<Q", library, 32, len(library))
    library += library[start : start + 56 * count]


def each_segment_the_whole_file(library: bytearray) -> None:
    """Made so that parts lie in others."""
    start, count = struct.unpack_from("<Q", library, 32)[0], library[56]
    for n in range(count):
        at, load, dynamic = start + 56 * n, 1, 2
        if library[at] != dynamic:
            struct.pack_into("<I4xQ16xQ", library, at, load, n, len(library) - n)


def asked(path: Path) -> list[object]:
    """All that an audit asks a library for."""
    try:
        elf = ElfFile(path)
        undefined = elf_symbols.undefined(elf)
        return [
            elf.arch, elf.executable_stack, elf.needed, elf.soname, elf.runpath, undefined,
            elf_symbols.defined(elf, elf_symbols.hashed(["first", "much", "later", "strlen"])),
            elf_versions.wanted_versions(elf), elf_versions.defined_versions(elf),
            elf_versions.cxx11_abi(elf, undefined),
        ]  # fmt: skip
    except DAMAGED as error:
        return [str(error)]


def outlined(folder: Path, library: bytes | bytearray) -> Path:
    """What is unpacked of a library in a wheel without compression."""
    wheel = folder / "whole.zip"
    with zipfile.ZipFile(wheel, "w") as whole:
        whole.writestr("x.so", bytes(library))
    with archive.opened(wheel) as whole:
        contents.read(whole, folder / "site")
    return folder / "site/x.so"


def mapped() -> list[Path]:
    """The libraries of this process."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return [Path(one) for one in sorted({line.split()[-1] for line in lines})
            if re.search(r"\.so[.0-9]*$", one)]  # fmt: skip


def without_its_end(library: bytearray) -> None:
    del library[-9:]


def only_a_head(library: bytearray) -> None:
    del library[40:]


def of_32_bits(library: bytearray) -> None:
    library[4] = 1


@pytest.mark.parametrize("flag", ["-Wl,-z,noseparate-code", "-Wl,--hash-style=sysv", "-Wl,-R/opt"])
def test_an_outline_answers_as_the_whole_library_does(tmp_path: Path, flag: str) -> None:
    sound = make.compiled(tmp_path, CODE, "-Wl,--defsym=later=first", flag).read_bytes()
    spoils = (len, list_of_segments_at_the_end, each_segment_the_whole_file, without_its_end,
              only_a_head, of_32_bits)  # fmt: skip
    for spoil in spoils:
        library = bytearray(sound)
        spoil(library)
        folder = tmp_path / spoil.__name__
        folder.mkdir()
        (folder / "whole.so").write_bytes(library)
        assert asked(outlined(folder, library)) == asked(folder / "whole.so"), spoil


def test_the_outlines_of_real_libraries_answer_as_these_do(tmp_path: Path) -> None:
    libraries = mapped()
    assert any(path.name.startswith("libc.") for path in libraries)
    for number, path in enumerate(libraries):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert asked(outlined(folder, path.read_bytes())) == asked(path), path


def test_an_outline_takes_little_of_the_disk(tmp_path: Path) -> None:
    library = make.compiled(tmp_path, CODE).read_bytes()
    made = outlined(tmp_path, library).stat()
    assert made.st_size == len(library)
    assert made.st_blocks * 512 < made.st_size / 2


@pytest.mark.parametrize("first", [1, 20, 63, 700, 5000])
def test_an_outline_never_answers_out_of_a_hole(tmp_path: Path, first: int) -> None:
    """However the content is cut, it has all that is read or says that it has not."""
    library = make.compiled(tmp_path, CODE)
    content = library.read_bytes()
    made = Outline(tmp_path / "x.so", len(content))
    for begin, end in itertools.pairwise([0, first, 100_000, 2_000_000, len(content)]):
        made.take(content[begin:end])
    assert not made.has_all() or asked(tmp_path / "x.so") == asked(library)
    assert made.has_all() == (first >= 700)
