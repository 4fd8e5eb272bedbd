"""Small files on odd machines: nothing blocks, nothing raises, nothing is invented."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from provision.facts import small


def test_a_pipe_a_folder_and_a_device_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero"), tmp_path / "absent\0"):
        assert small.data(path) is None
        assert small.text(path) is None
        assert small.number(path) is None


def test_a_huge_file_is_read_up_to_the_bound(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as stream:
        stream.truncate(1 << 40)
    assert len(small.data(tmp_path / "huge") or b"") == 1 << 20


def test_what_is_no_text_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b" a\xffb\n")
    assert small.text(tmp_path / "bad") == "a\ufffdb"


@pytest.mark.parametrize(
    ("content", "value"),
    [(b"7\n", 7), (b"0", 0), (b"-1", None), (b"", None), (b"7 8", None), (b"\xd9\xa3", None),
     (b"9" * 5000, None), (b"max", None)],
)  # fmt: skip
def test_a_number_or_nothing(tmp_path: Path, content: bytes, value: int | None) -> None:
    (tmp_path / "n").write_bytes(content)
    assert small.number(tmp_path / "n") == value


def test_names_can_be_opened_and_told(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"bad\xff")).write_text("1")
    (name,) = small.names(tmp_path) or []
    assert small.number(tmp_path / name) == 1
    assert json.dumps(small.shown(name), ensure_ascii=False).encode() == '"bad\ufffd"'.encode()
    assert small.names(tmp_path / "absent") is None
    assert small.names(tmp_path / name) is None


def test_no_more_names_than_asked(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / str(number)).touch()
    assert len(small.names(tmp_path, 3) or []) == 3


def test_a_link_is_followed_below_the_root(tmp_path: Path) -> None:
    (tmp_path / "usr/src").mkdir(parents=True)
    (tmp_path / "absolute").symlink_to("/usr/src")
    (tmp_path / "relative").symlink_to("usr/src")
    for name in ("absolute", "relative"):
        assert small.followed(tmp_path / name, tmp_path) == tmp_path / "usr/src"
    assert small.followed(tmp_path / "usr", tmp_path) == tmp_path / "usr"


def test_there_is_no_answer_where_nobody_may_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    assert (small.is_folder(tmp_path), small.is_file(tmp_path)) == (True, False)
    assert small.is_folder(tmp_path / "absent") is False
    monkeypatch.setattr(Path, "stat", refuse)
    assert small.is_folder(tmp_path) is None
