"""Archives from outside: what is sound comes out whole, what reaches out comes out not at all."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from provision.errors import PaddockError
from provision.vendor import unpack as module
from provision.vendor.unpack import unpack

EVIL = ["../evil", "/evil", "a/../../evil", "..\\evil", "a/b/../../../evil", "./../evil",
        "//evil", "///evil", "//tmp/../evil", "\\\\evil", "/"]  # fmt: skip


def tar(file: Path, *members: tarfile.TarInfo, mode: str = "w:gz") -> Path:
    with tarfile.open(file, mode) as archive:  # type: ignore[call-overload]
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return file


def member(
    name: str, size: int = 3, kind: bytes = tarfile.REGTYPE, to: str = ""
) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.size, made.type, made.linkname = (size if kind == tarfile.REGTYPE else 0), kind, to
    return made


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2"])
def test_regular_files_come_out(tmp_path: Path, mode: str) -> None:
    archive = tar(tmp_path / "a.tar", member("top/a.run"), member("top/sub/b.deb", 5), mode=mode)
    unpack(archive, tmp_path / "out")
    files = {str(p.relative_to(tmp_path / "out")): p.stat().st_size
             for p in (tmp_path / "out").rglob("*") if p.is_file()}  # fmt: skip
    assert files == {"top/a.run": 3, "top/sub/b.deb": 5}


def test_a_zip_comes_out(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("top/a.run", "abc")
    unpack(tmp_path / "a.zip", tmp_path / "out")
    assert (tmp_path / "out/top/a.run").read_text() == "abc"


def refused(tmp_path: Path, archive: Path, code: str) -> None:
    with pytest.raises(PaddockError) as caught:
        unpack(archive, tmp_path / "deep" / "out")
    assert caught.value.code == code
    assert not list(tmp_path.rglob("evil")) and not list((tmp_path / "deep").glob("*"))


@pytest.mark.parametrize("name", EVIL)
def test_a_path_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    refused(tmp_path, tar(tmp_path / "a.tar", member("good"), member(name)), "package-unsafe")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("good", "x")
        archive.writestr(name, "x")
    refused(tmp_path, tmp_path / "a.zip", "package-unsafe")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
@pytest.mark.parametrize("to", ["/etc", "../../etc", "a/../../.."])
def test_a_link_that_leads_out_is_refused(tmp_path: Path, kind: bytes, to: str) -> None:
    link, through = member("dir", kind=kind, to=to), member("dir/evil")
    refused(tmp_path, tar(tmp_path / "a.tar", link, through), "package-unsafe")


def test_a_link_within_is_left_out_and_nothing_goes_through_it(tmp_path: Path) -> None:
    link = member("latest", kind=tarfile.SYMTYPE, to="one")
    unpack(tar(tmp_path / "a.tar", member("one/a"), link), tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["one"]


def test_devices_and_pipes_are_left_out(tmp_path: Path) -> None:
    odd = [member(f"odd{n}", kind=kind) for n, kind in
           enumerate((tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE))]  # fmt: skip
    unpack(tar(tmp_path / "a.tar", member("a"), *odd), tmp_path / "out")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["a"]


@pytest.mark.parametrize("cut", [20, 200, 5000])
def test_a_cut_archive_is_damaged(tmp_path: Path, cut: int) -> None:
    import os

    file = tmp_path / "a.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        info = tarfile.TarInfo("a")
        info.size = 20_000
        archive.addfile(info, io.BytesIO(os.urandom(info.size)))
    file.write_bytes(file.read_bytes()[:-cut])
    refused(tmp_path, file, "package-damaged")


def test_what_is_no_archive_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(b"no archive")
    refused(tmp_path, tmp_path / "a.tar.gz", "package-damaged")


def test_the_size_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 100)
    refused(tmp_path, tar(tmp_path / "a.tar", member("a", 60), member("b", 60)), "disk-full")


PACKED = {"w:gz": None, "w:xz": None, "w:bz2": None, "": zipfile.ZIP_DEFLATED,
          "bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}  # fmt: skip


@pytest.mark.parametrize("mode", PACKED)
def test_a_flipped_byte_is_damage_and_nothing_else(tmp_path: Path, mode: str) -> None:
    """Wherever it is: what comes out whole may do so, all else is an error of the archive."""
    file, method = tmp_path / "a", PACKED[mode]
    if method is None:
        tar(file, member("a", 300), member("b/c", 300), mode=mode)
    else:
        with zipfile.ZipFile(file, "w", method) as archive:
            archive.writestr("b/c", "abc" * 100)
    sound, codes = file.read_bytes(), set()
    for at in range(len(sound)):
        file.write_bytes(sound[:at] + bytes([sound[at] ^ 0xFF]) + sound[at + 1 :])
        try:
            unpack(file, tmp_path / str(at))
        except PaddockError as error:
            codes.add(error.code)
    assert "package-damaged" in codes <= {"package-damaged", "package-unsafe", "disk-full"}


def test_an_encrypted_zip_is_damaged(tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", "abc")
    content = bytearray(file.read_bytes())
    content[6] |= 1  # the flag in the member's own header, then in the list of members
    content[content.index(b"PK\x01\x02") + 8] |= 1
    file.write_bytes(content)
    refused(tmp_path, file, "package-damaged")


def test_names_that_clash_are_damage(tmp_path: Path) -> None:
    refused(tmp_path, tar(tmp_path / "a.tar", member("a"), member("a/b")), "package-damaged")
