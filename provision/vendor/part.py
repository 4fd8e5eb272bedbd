"""A file on its way here: what has come so far, and by what it is known to be still the same."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from provision.digest import sha256

_PACKED = (".gz", ".tgz")  # some servers call these packed for the way, though they are as they are


class Refused(Exception):
    """It cannot come, or must not be used; the argument says why."""


@dataclass
class Part:
    """`path` holds the bytes so far, a note beside it the address and the file's version there.

    `total` is how many bytes it will have, None as long as nobody has told; `packed` says that the
    server has packed it for the way; `joined` that it did not come in one piece.
    """

    file: Path
    url: str
    sha256: str = ""
    version: str = ""
    total: int | None = None
    packed: bool = False
    ended: bool = False
    joined: bool = False

    @classmethod
    def found(cls, file: Path, url: str, sha256: str) -> Part:
        """What an earlier run has left of the same address, else a new one."""
        part = cls(file, url, sha256)
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            note = json.loads(part.note.read_text(encoding="utf-8"))
            if note["url"] == url and part.path.exists():
                return cls(file, url, sha256, str(note["version"]), note["total"],
                           bool(note["packed"]), joined=True)  # fmt: skip
        part.drop()
        return part

    @property
    def path(self) -> Path:
        """Where the bytes are."""
        return self.file.with_name(f"{self.file.name}.part")

    @property
    def note(self) -> Path:
        """Where the rest is."""
        return self.file.with_name(f"{self.file.name}.part.json")

    @property
    def size(self) -> int:
        """The number of bytes that have come."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    @property
    def missing(self) -> int:
        """The number of bytes to come, as far as that is known."""
        return max((self.total or 0) - self.size, 0)

    @property
    def is_whole(self) -> bool:
        """Whether all has come; without a length the server's end of it counts."""
        return self.ended if self.total is None else self.size == self.total

    def asked(self) -> Mapping[str, str]:
        """The headers that ask for the rest alone, if the file is still the same.

        Where nothing tells whether it is, neither the server nor a digest, all of it is asked for.
        """
        if not self.size or not (self.version or self.sha256):
            return {}
        same = {"If-Range": self.version} if self.version else {}
        return {"Range": f"bytes={self.size}-", **same}

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Take note of an answer: what does not go on where this part ends starts it anew.

        Raises Refused for an answer that is no file.
        """
        if status not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
            raise Refused(f"no download: HTTP {status}: {self.url}")
        length = headers.get("Content-Length", "")
        if status == HTTPStatus.PARTIAL_CONTENT and self._goes_on(headers.get("Content-Range", "")):
            self.joined = True
            return
        self.drop()
        if status == HTTPStatus.PARTIAL_CONTENT:
            raise ConnectionError("another part of the file than was asked for")
        self.total = int(length) if length.isdigit() else None
        self.version = _version(headers)
        self.packed = headers.get("Content-Encoding", "").lower() in ("gzip", "x-gzip")
        self._write_note()

    def _goes_on(self, span: str) -> bool:
        match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", span)
        if not match or int(match[1]) != self.size:
            return False
        return self.total is None or match[3] in ("*", str(self.total))

    def _write_note(self) -> None:
        note = {
            "url": self.url,
            "version": self.version,
            "total": self.total,
            "packed": self.packed,
        }
        self.note.write_text(json.dumps(note), encoding="utf-8")
        self.path.touch()

    def drop(self) -> None:
        """Forget what has come."""
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)
        self.version, self.total, self.packed, self.ended, self.joined = (
            "",
            None,
            False,
            False,
            False,
        )

    def finish(self) -> str:
        """Give the whole file its name; returns its SHA-256.

        Nothing is left of another one than the published: "". Without a digest it is taken as it
        came.
        """
        if self.packed and not self.file.name.endswith(_PACKED):
            self._unpack()
        actual = sha256(self.path)
        if self.sha256 and actual != self.sha256:
            self.path.unlink()
            self.note.unlink(missing_ok=True)
            return ""
        self.path.replace(self.file)
        self.note.unlink(missing_ok=True)
        return actual

    def _unpack(self) -> None:
        plain = self.path.with_name(f"{self.path.name}.plain")
        try:
            with gzip.open(self.path) as source, plain.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            plain.replace(self.path)
        except (EOFError, gzip.BadGzipFile) as error:
            self.drop()
            raise Refused(f"not the published file: {self.url}: {error}") from None
        finally:
            plain.unlink(missing_ok=True)


def _version(headers: Mapping[str, str]) -> str:
    """By what the server knows this state of the file; "" where it tells nothing that lasts."""
    tag = headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else headers.get("Last-Modified", "")
