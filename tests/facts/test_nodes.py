"""Device nodes in a /dev of our own, and the processes that hold them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from provision.facts import nodes
from provision.facts.nodes import Holder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "dev").mkdir()
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text(f"me:x:{os.geteuid()}:0:::\n")
    (tmp_path / "etc/group").write_text("")
    (tmp_path / "proc/1/fd").mkdir(parents=True)
    return tmp_path


def process(root: Path, pid: int, name: str, *targets: str) -> None:
    folder = root / f"proc/{pid}"
    (folder / "fd").mkdir(parents=True)
    (folder / "comm").write_text(name + "\n")
    for number, target in enumerate(targets):
        (folder / "fd" / str(number)).symlink_to(target)


def test_what_is_at_each_path(root: Path) -> None:
    (root / "dev/davinci_manager").mkdir()  # what docker makes of a wrong mount
    (root / "dev/davinci10").write_text("")
    (root / "dev/davinci9").symlink_to("gone")
    (root / "dev/hisi_hdc").symlink_to("hisi_hdc")
    (root / "dev/null").write_text("")
    os.mkfifo(root / "dev/gcuctl")
    found = nodes.collect(root)
    assert [(node.path, node.vendor, node.kind) for node in found] == [
        ("/dev/davinci9", "Huawei", "broken link"),
        ("/dev/davinci10", "Huawei", "file"),
        ("/dev/davinci_manager", "Huawei", "dir"),
        ("/dev/gcuctl", "Enflame", "other"),
        ("/dev/hisi_hdc", "Huawei", "unread"),
    ]


def test_owner_mode_and_what_this_process_may_do(root: Path) -> None:
    path = root / "dev/davinci0"
    path.write_text("")
    path.chmod(0o600)
    os.chown(path, os.geteuid(), os.getegid())
    (node,) = nodes.collect(root)
    assert (node.mode, node.uid, node.owner, node.group) == ("0600", os.geteuid(), "me", None)
    assert (node.readable, node.writable, node.major) == (True, True, None)
    path.chmod(0o440)
    (node,) = nodes.collect(root)
    assert (node.mode, node.writable) == ("0440", os.geteuid() == 0)


def test_reading_and_writing_are_asked_apart(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "dev/gcu0").write_text("")
    monkeypatch.setattr(os, "access", lambda _, what, effective_ids: what == os.R_OK)
    (node,) = nodes.collect(root)
    assert (node.readable, node.writable) == (True, False)


def test_a_real_device_behind_a_link(root: Path) -> None:
    (root / "dev/gcu0").symlink_to("/dev/null")
    (node,) = nodes.collect(root)
    real = Path("/dev/null").stat()
    assert (node.kind, node.major, node.minor) == ("char", os.major(real.st_rdev), 3)
    assert node.mode == f"{stat.S_IMODE(real.st_mode):04o}"


def test_cards_that_were_given_to_a_virtual_machine(root: Path) -> None:
    (root / "dev/vfio/davinci0").mkdir(parents=True)
    (root / "dev/vfio/70").write_text("")
    assert [node.path for node in nodes.collect(root)] == [
        "/dev/vfio", "/dev/vfio/70", "/dev/vfio/davinci0",
    ]  # fmt: skip
    assert all(node.vendor == "Linux" for node in nodes.collect(root))


def test_names_that_are_no_text_are_told(root: Path) -> None:
    (root / "dev" / os.fsdecode(b"gcu\xff")).write_text("")
    assert [node.path for node in nodes.collect(root)] == ["/dev/gcu\ufffd"]


def test_an_empty_root(tmp_path: Path) -> None:
    assert nodes.collect(tmp_path) == []
    assert nodes.holders(tmp_path) == nodes.Holders([], False)


def test_who_holds_a_node(root: Path) -> None:
    process(root, 30, "python3", "/dev/davinci0", "/dev/davinci0", "/dev/null", "socket:[1]")
    process(root, 7, "efsmi", "/dev/gcu3 (deleted)", "/dev/davinci0", "/devious/gcu0", "gcu:[1]")
    process(root, 8, "sh", "/dev/davinci_manager/file")
    (root / "proc/self").symlink_to("30")
    found = nodes.holders(root)
    assert found.complete
    assert found.holders == [
        Holder("/dev/davinci0", 7, "efsmi"),
        Holder("/dev/davinci0", 30, "python3"),
        Holder("/dev/gcu3", 7, "efsmi"),
    ]


def test_what_could_not_be_looked_at_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process(root, 30, "a", "/dev/gcu0", "/dev/gcu1", "/dev/gcu2")
    process(root, 31, "b", "/dev/gcu0")
    assert nodes.holders(root).complete
    monkeypatch.setattr(nodes, "_MOST_LINKS", 2)
    assert nodes.holders(root) == nodes.Holders([], False)
    monkeypatch.undo()
    (root / "proc/31/fd/0").unlink()
    (root / "proc/31/fd").rmdir()
    (root / "proc/31/fd").write_text("no folder: as unreadable as that of another user")
    assert not nodes.holders(root).complete


def test_processes_hidden_by_the_mount_of_proc(root: Path) -> None:
    process(root, 30, "a", "/dev/gcu0")
    (root / "proc/1/fd").rmdir()
    (root / "proc/1").rmdir()
    found = nodes.holders(root)
    assert (len(found.holders), found.complete) == (1, False)


def test_a_real_process(monkeypatch: pytest.MonkeyPatch) -> None:
    row = nodes.Row("Test", ["null"], "this test", "2026-11")
    monkeypatch.setattr(nodes, "catalogue", lambda: [row])
    code = "import sys; f = open('/dev/null'); print('ready', flush=True); sys.stdin.read()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1)
    try:
        assert child.stdout and child.stdout.readline() == b"ready\n"
        found = nodes.holders().holders
        assert [one.path for one in found if one.pid == child.pid] == ["/dev/null"]
        assert [node.kind for node in nodes.collect()] == ["char"]
    finally:
        child.communicate()


def test_every_row_of_the_catalogue_is_sound() -> None:
    rows = nodes.catalogue()
    patterns = [pattern for row in rows for pattern in row.patterns]
    assert len(patterns) == len(set(patterns))
    assert all(row.source and row.seen and row.vendor for row in rows)
