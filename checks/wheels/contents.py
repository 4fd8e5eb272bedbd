"""What is in a wheel: its own files about itself, a digest of each file, and its libraries."""

from __future__ import annotations

import base64
import csv
import hashlib
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import msgspec
from isal import isal_zlib

from checks.wheels import archive
from checks.wheels.archive import UnsafeError
from provision.errors import PaddockError

_TEXT = 8 << 20  # bytes; RECORD of a wheel with 30,000 files has 5 MB
_SPARE = 1 << 30  # bytes that stay free on the disk
_OWN = ("METADATA", "WHEEL", "RECORD")
_LIBRARY = re.compile(r"\.so(\.\d+)*$")
_MAGIC = b"\x7fELF"
Taker = Callable[[bytes], object]
STRONG = ("sha256", "sha384", "sha512")  # what RECORD may use: PEP 376, PEP 427


class Member(msgspec.Struct, frozen=True):
    """A file in a wheel, with its digest as RECORD writes it (`sha256=...`)."""

    size: int
    digest: str


class Contents(msgspec.Struct, frozen=True):
    """What a wheel holds. `info` is the folder `NAME-VERSION.dist-info`, "" when there is none.

    `texts` are METADATA, WHEEL and RECORD, those that are there; `record` is the last one in rows:
    name -> (digest, size). `libraries` are the names of ELF files, and of what is called like one
    and is none -> where the file was unpacked.
    """

    info: str = ""
    infos: list[str] = []
    texts: dict[str, str] = {}
    record: dict[str, tuple[str, str]] = {}
    members: dict[str, Member] = {}
    libraries: dict[str, Path] = {}


def read(whole: zipfile.ZipFile, site: Path) -> Contents:
    """Read all of a wheel once; its libraries are unpacked below `site`.

    Nothing else is kept: memory does not grow with the wheel. Raises UnsafeError, PaddockError
    `disk-full`, and `archive.DAMAGED`.
    """
    infos, texts = own_texts(whole)
    record = _rows(texts.get("RECORD", ""))
    made: dict[str, Member] = {}
    libraries: dict[str, Path] = {}
    with ThreadPoolExecutor(2) as pool:
        for info in whole.infolist():
            if not info.is_dir():
                path = site / archive.installed(info.filename)
                wanted = record.get(info.filename, ("", ""))[0]
                made[info.filename], kept = _one(whole, info, path, wanted, pool)
                libraries |= {info.filename: path} if kept else {}
    return Contents(infos[0] if infos else "", infos, texts, record, made, libraries)


def own_texts(whole: zipfile.ZipFile) -> tuple[list[str], dict[str, str]]:
    """The folders of metadata, and what of METADATA, WHEEL and RECORD is in the first one.

    Raises UnsafeError and `archive.DAMAGED`.
    """
    tops = {name.partition("/")[0] for name in whole.namelist() if "/" in name}
    infos = sorted(top for top in tops if top.endswith(".dist-info"))
    found = {name: _text(whole, f"{infos[0]}/{name}") for name in _OWN if infos}
    return infos, {name: text for name, text in found.items() if text is not None}


def _one(
    whole: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, wanted: str, pool: ThreadPoolExecutor
) -> tuple[Member, bool]:
    """The digest of one file, and whether it was unpacked since it is a library."""
    algorithm = wanted.partition("=")[0]
    hasher = hashlib.new(algorithm if algorithm in STRONG else STRONG[0])
    content = archive.pieces(whole, info)
    first = next(content, b"")
    kept = bool(_LIBRARY.search(info.filename)) or first.startswith(_MAGIC)
    check = [isal_zlib.crc32(b"")]

    def count(piece: bytes) -> None:
        hasher.update(piece)
        check[0] = isal_zlib.crc32(piece, check[0])

    with ExitStack() as stack:
        takers: list[Taker] = [count]
        if kept:
            _room(path, info.file_size)
            takers.append(stack.enter_context(path.open("wb")).write)
        _pour(_chain(first, content), takers, pool)
    if check[0] != info.CRC:
        raise zipfile.BadZipFile(f"{info.filename}: CRC-32")
    digest = base64.urlsafe_b64encode(hasher.digest()).rstrip(b"=").decode()
    return Member(info.file_size, f"{hasher.name}={digest}"), kept


def _chain(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _pour(pieces: Iterable[bytes], takers: Iterable[Taker], pool: ThreadPoolExecutor) -> None:
    """Give each piece to all; the next one is unpacked while they are at work."""
    working: list[Future[object]] = []
    for piece in pieces:
        for one in working:
            one.result()
        working = [pool.submit(take, piece) for take in takers]
    for one in working:
        one.result()


def _room(path: Path, size: int) -> None:
    """Make the folder of a file. Raises PaddockError `disk-full` where it would not fit."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(path.parent).free < size + _SPARE:
        raise PaddockError("disk-full", step="verify-wheel", path=path.parent)


def _text(whole: zipfile.ZipFile, name: str) -> str | None:
    """A text of the wheel about itself; None when it is not there. Raises UnsafeError."""
    try:
        info = whole.getinfo(name)
    except KeyError:
        return None
    if info.file_size > _TEXT:
        raise UnsafeError("bomb", name, f"{info.file_size:,} bytes")
    return b"".join(archive.pieces(whole, info)).decode("utf-8", "replace")


def _rows(record: str) -> dict[str, tuple[str, str]]:
    """RECORD as name -> (digest, size)."""
    rows = csv.reader(record.splitlines())
    return {row[0]: (row[1], row[2]) for row in rows if len(row) == len(("name", "digest", "size"))}
