"""What is in a wheel: its own files about itself, a digest of each file, and its libraries."""

from __future__ import annotations

import base64
import csv
import hashlib
import re
import shutil
import tempfile
import zipfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import msgspec
from isal import isal_zlib

from checks.wheels import archive
from checks.wheels.archive import UnsafeError
from checks.wheels.outline import Outline
from provision.amounts import size
from provision.errors import PaddockError
from provision.facts.linking.elf_file import DAMAGED, ElfFile

_TEXT = 8 << 20  # bytes; RECORD of a wheel with 30,000 files has 5 MB
_SPARE = 64 << 20  # bytes that stay free on the disk
_FEW = 64 << 10  # bytes that are sooner digested than given to a thread
_AHEAD = 4  # pieces that wait for a thread: neither it nor the one that unpacks has to
_OWN = ("METADATA", "WHEEL", "RECORD")
_LIBRARY = re.compile(r"\.so(\.\d+)*$")
_MAGIC = b"\x7fELF"
Taker = tuple[ThreadPoolExecutor, Callable[[bytes], object]]
STRONG = ("sha256", "sha384", "sha512")  # what RECORD may use: PEP 376, PEP 427


class Member(msgspec.Struct, frozen=True):
    """A file in a wheel, with its digest as RECORD writes it (`sha256=...`).

    It is "" where RECORD has none that is strong, to which it could be held.
    """

    size: int
    digest: str


class _Crew(NamedTuple):
    """The two threads that a file's content is given to, beside the one that unpacks it."""

    keeper: ThreadPoolExecutor
    hasher: ThreadPoolExecutor


class Contents(msgspec.Struct, frozen=True):
    """What a wheel holds. `info` is the folder `NAME-VERSION.dist-info`, "" when there is none.

    `infos` are all such folders; there should be one. `texts` are METADATA, WHEEL and RECORD, those
    that are there; `record` is the last one in rows: name -> (digest, size). `members` are all
    files by their names. `libraries` are the names of what the loader takes (libraries, and
    programs that are linked with some), and of what is called like a library -> the file with what
    is read of it.
    """

    info: str = ""
    infos: list[str] = []
    texts: dict[str, str] = {}
    record: dict[str, tuple[str, str]] = {}
    members: dict[str, Member] = {}
    libraries: dict[str, Path] = {}


def read(whole: zipfile.ZipFile, site: Path) -> Contents:
    """Read all of a wheel once; its libraries are put below `site`, with what is read of them.

    Nothing else is kept: memory does not grow with the wheel. Raises UnsafeError, PaddockError
    `temporary-full`, and `archive.DAMAGED`.
    """
    infos, texts = own_texts(whole)
    record = {name: (digest, size) for name, digest, size in rows(texts.get("RECORD", ""))}
    made: dict[str, Member] = {}
    libraries: dict[str, Path] = {}
    with ThreadPoolExecutor(1) as keeper, ThreadPoolExecutor(1) as hasher:
        crew = _Crew(keeper, hasher)
        for info in whole.infolist():
            if not info.is_dir():
                path = site / archive.installed(info.filename)
                wanted = record.get(info.filename, ("", ""))[0]
                made[info.filename], kept = _one(whole, info, path, wanted, crew)
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
    whole: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, wanted: str, crew: _Crew
) -> tuple[Member, bool]:
    """What one file is, and whether it was unpacked since it is a library.

    What RECORD has no digest of is not digested here either.
    """
    algorithm = wanted.partition("=")[0]
    hasher = hashlib.new(algorithm) if algorithm in STRONG else None
    content = archive.pieces(whole, info)
    first = next(content, b"")
    outline = None
    if is_library(info.filename) or first.startswith(_MAGIC):
        outline = Outline(_made(path, info.file_size), info.file_size)
    check = isal_zlib.crc32(b"")

    def keep(piece: bytes) -> None:
        nonlocal check
        check = isal_zlib.crc32(piece, check)
        if outline:
            outline.take(piece)

    takers: list[Taker] = [(crew.keeper, keep)]
    takers += [(crew.hasher, hasher.update)] if hasher else []
    (_give if info.file_size < _FEW else _pour)(_chain(first, content), takers)
    if check != info.CRC:
        raise zipfile.BadZipFile(f"{info.filename}: CRC-32")
    if outline and not outline.has_all():
        _unpack(whole, info, path)
    is_kept = outline is not None and _is_for_loader(path, info.filename)
    return Member(info.file_size, _written(hasher) if hasher else ""), is_kept


def is_library(name: str) -> bool:
    """Whether a file is called as shared libraries are."""
    return bool(_LIBRARY.search(name))


def _is_for_loader(path: Path, name: str) -> bool:
    """Whether a file is held to what the loader asks for; a damaged one is told of, too."""
    try:
        return is_library(name) or ElfFile(path).is_for_loader
    except DAMAGED:
        return True


def _unpack(whole: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> None:
    """Unpack a file as it is."""
    with path.open("wb") as file:
        file.writelines(archive.pieces(whole, info))


def _written(hasher: hashlib._Hash) -> str:
    """A digest as RECORD writes it."""
    digest = base64.urlsafe_b64encode(hasher.digest()).rstrip(b"=").decode()
    return f"{hasher.name}={digest}"


def _chain(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _give(pieces: Iterable[bytes], takers: Sequence[Taker]) -> None:
    """Give each piece to all takers, one after the other."""
    for piece in pieces:
        for _, take in takers:
            take(piece)


def _pour(pieces: Iterable[bytes], takers: Sequence[Taker]) -> None:
    """Give each piece to all takers; the next ones are unpacked while these are at work.

    Each has a thread of its own, so that the pieces reach it in their order.
    """
    working: deque[Future[object]] = deque()
    for piece in pieces:
        working.extend(thread.submit(take, piece) for thread, take in takers)
        while len(working) > _AHEAD * len(takers):
            working.popleft().result()
    for one in working:
        one.result()


def _made(path: Path, count: int) -> Path:
    """Make the folder of a file. Raises PaddockError `temporary-full` where it would not fit."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(path.parent).free < count + _SPARE:
        raise PaddockError("temporary-full", path=tempfile.gettempdir())
    return path


def _text(whole: zipfile.ZipFile, name: str) -> str | None:
    """A text of the wheel about itself; None when it is not there. Raises UnsafeError."""
    try:
        info = whole.getinfo(name)
    except KeyError:
        return None
    if info.file_size > _TEXT:
        raise UnsafeError("bomb", name, size(info.file_size))
    return b"".join(archive.pieces(whole, info)).decode("utf-8", "replace")


def rows(record: str) -> Iterator[tuple[str, str, str]]:
    """The rows of RECORD: name, digest, size. One with another number of columns is none.

    Raises `archive.DAMAGED`.
    """
    for row in csv.reader(record.splitlines()):
        match row:
            case [name, digest, size]:
                yield name, digest, size
