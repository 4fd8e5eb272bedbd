"""One file from a server onto this disk: taken up where it was cut, verified, whole or not there.

It is a process of its own, as the installers are: `python -m provision.vendor.download`. It writes
what it does to standard output, and what went wrong as a line that begins with `paddock:`.
"""

from __future__ import annotations

import argparse
import http.client
import os
import shutil
import ssl
import sys
import time
import urllib.error
from http import HTTPStatus
from pathlib import Path
from typing import IO
from urllib.request import OpenerDirector

from provision.amounts import size
from provision.digest import sha256
from provision.errors import PaddockError
from provision.vendor import web
from provision.vendor.part import Part, Refused
from provision.vendor.unpack import unpack
from provision.vendor.unpacked import place, seal

AUTH = "PADDOCK_DEPS_AUTH"  # the variable with USER:PASSWORD of the server
ATTEMPTS = 4  # in a row that do not come further than any before
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
_SPARE = 256 << 20  # bytes that stay free on the disk
_BLOCK = 1 << 20
_PACE = 2.0  # seconds between two lines of progress


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def download(part: Part, referer: str, login: str) -> None:
    """Fill the part with the whole file. Raises Refused, OSError."""
    left, pause, most = ATTEMPTS, 1.0, part.size
    opener = web.opener()
    while not part.is_whole:
        reason = _tried(opener, part, referer, login)
        if part.is_whole:
            return
        left, pause = (ATTEMPTS, 1.0) if part.size > most else (left - 1, pause * 2)
        most = max(most, part.size)
        if left <= 0:
            raise Refused(f"no download: {reason}: {part.url}")
        _say(f"again in {pause:.0f} s: {reason}")
        time.sleep(pause)


def _tried(opener: OpenerDirector, part: Part, referer: str, login: str) -> str:
    """Ask once; returns why not all has come. Raises Refused where asking again is of no use."""
    try:
        _once(opener, part, referer, login)
    except urllib.error.HTTPError as error:
        if (
            error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
        ):  # the file has fewer bytes than are here
            part.drop()
        elif error.code not in _AGAIN:
            raise Refused(f"no download: {web.told(error)}: {part.url}") from None
        return web.told(error)
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError,
            ssl.SSLError) as error:  # fmt: skip
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise Refused(f"no download: {reason}: {part.url}") from None
        return web.told(error)
    return "the server has ended too early"


def _once(opener: OpenerDirector, part: Part, referer: str, login: str) -> None:
    """Ask once, for what is missing, and take what comes."""
    asked = {"Referer": referer} if referer else {}
    ask = web.request(part.url, login, {**asked, **part.asked()})
    with opener.open(ask, timeout=web.SILENCE) as answer:
        part.begin(answer.status, answer.headers)
        _room(part)
        _copy(answer, part)
    part.ended = True


def _room(part: Part) -> None:
    """Ask for the room that the rest takes. Raises Refused."""
    free = shutil.disk_usage(part.path.parent).free - _SPARE
    if part.missing > max(free, 0):
        raise Refused(f"No space left on device: {size(part.missing)} to come, "
                      f"{size(max(free, 0))} free in {part.path.parent}")  # fmt: skip


def _copy(answer: http.client.HTTPResponse, part: Part) -> None:
    """Take what comes, and say now and then how far it is."""
    said, start, began = time.monotonic(), part.size, time.monotonic()
    with part.path.open("ab") as file:
        while block := answer.read1(_BLOCK):
            file.write(block)
            if (now := time.monotonic()) - said > _PACE:
                said = now
                _say(_how_far(part, file, (file.tell() - start) / (now - began)))
        file.flush()
        os.fsync(file.fileno())


def _how_far(part: Part, file: IO[bytes], speed: float) -> str:
    done = file.tell()
    share = f"{100 * done // part.total}% of {size(part.total)}" if part.total else size(done)
    return f"{share}, {size(int(speed))}/s"


def fetch(url: str, file: Path, sha256: str, referer: str, login: str) -> str:
    """Bring a file to its place; returns its SHA-256. Raises Refused for another one.

    Pieces that came apart may be of two files: then it is fetched once more, whole.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(2):
        part = Part.found(file, url, sha256)
        download(part, referer, login)
        if actual := part.finish():
            return actual
        if not part.joined:
            break
    raise Refused(f"not the published file: {url}: its sha256 is not {sha256}")


def _unpacked(archive: Path, folder: Path, sha256: str, actual: str) -> None:
    """Unpack an archive with the right digest, which is noted beside the folder."""
    if sha256 and actual != sha256:
        raise Refused(f"not the published file: {archive}: its sha256 is not {sha256}")
    where = place(archive, folder)
    if not where.is_dir():
        _say(f"unpacking {archive.name}")
        unpack(archive, where)
    seal(where).write_text(actual, encoding="ascii")


def _do(given: argparse.Namespace) -> None:
    actual = ""
    if given.url:
        login = os.environ.get(AUTH, "")
        actual = fetch(given.url, given.file, given.sha256, given.referer, login)
    if given.unpack:
        actual = actual or sha256(given.file)
        _unpacked(given.file, Path(given.unpack), given.sha256, actual)


def main() -> int:
    """The arguments say what to fetch, what to unpack, or both; 1 where that failed."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("url", "sha256", "referer", "unpack"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    try:
        _do(given)
    except Refused as error:
        _say(f"paddock: {error}")
    except PaddockError as error:
        _say(f"paddock: refused: {error.part('what')}")
    except OSError as error:
        _say(f"paddock: {error.strerror or error}: {error.filename or given.file}")
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
