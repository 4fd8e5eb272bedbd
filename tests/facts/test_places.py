"""Room on the disk, and what a run left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from filelock import FileLock

from provision.facts import disk, leftover
from provision.journal import Journal
from provision.site import Site


def test_room_is_read_at_the_nearest_folder(home: Path) -> None:
    rooms = disk.collect()
    assert [room.purpose for room in rooms] == ["data", "cache", "state"]
    assert all(room.free > 0 and room.writable and not room.read_only for room in rooms)
    assert not home.exists()


def test_a_file_in_the_way_is_not_writable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not disk.room("data", tmp_path / "file/below").writable


@pytest.mark.parametrize(("flags", "read_only"), [(os.ST_RDONLY, True), (0, False)])
def test_the_flags_and_numbers_of_a_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: int, read_only: bool
) -> None:
    # bsize, frsize, blocks, bfree, bavail, files, ffree, favail, flag, namemax
    numbers = os.statvfs_result((1, 512, 100, 90, 80, 0, 0, 0, flags, 255))
    monkeypatch.setattr(os, "statvfs", lambda path: numbers)
    room = disk.room("data", tmp_path)
    assert (room.free, room.inodes, room.read_only) == (80 * 512, None, read_only)


@pytest.mark.usefixtures("home")
def test_steps_without_an_end() -> None:
    site = Site("loopback")
    journal = Journal(site.journal)
    assert leftover.collect(site).steps == []
    for step, event in (("a/a", "start"), ("a/a", "done"), ("b/b", "start"), ("c/c", "failed"),
                        ("d/d", "undone"), ("e/e", "removing")):  # fmt: skip
        journal.record(step, event, "key")  # type: ignore[arg-type]
    found = leftover.collect(site)
    assert [(step.name, step.event) for step in found.steps] == [
        ("b/b", "start"),
        ("c/c", "failed"),
        ("e/e", "removing"),
    ]


@pytest.mark.usefixtures("home")
def test_a_run_that_goes_on_is_seen() -> None:
    site = Site("loopback")
    site.state.mkdir(parents=True)
    with FileLock(site.state / "lock"):
        assert leftover.collect(site).running
    assert not leftover.collect(site).running
