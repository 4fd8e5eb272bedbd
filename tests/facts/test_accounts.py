"""Users and groups: in force, by the records, and the account of the Ascend driver."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from provision.facts import accounts
from provision.facts.accounts import Account, Group

USERS = """\
root:x:0:0:root:/root:/bin/sh
# a comment
ann:x:1500:1500:Ann:/home/ann:/bin/sh
HwHiAiUser:x:1001:1002::/home/HwHiAiUser:/bin/sh
broken:x:
twin:x:1500:7:::
"""
GROUPS = "root:x:0:\nann:x:1500:\nHwHiAiUser:x:1002:bob,ann\nvideo:x:44:ann\nbad:x:none:ann\n+\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text(USERS)
    (tmp_path / "etc/group").write_text(GROUPS)
    return tmp_path


@pytest.fixture(autouse=True)
def ann(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process belongs to ann, whose login is older than her last group."""
    monkeypatch.setattr(os, "geteuid", lambda: 1500)
    monkeypatch.setattr(os, "getegid", lambda: 1500)
    monkeypatch.setattr(os, "getgroups", lambda: [44, 1500, 4242])


def test_groups_in_force_and_by_the_records(root: Path) -> None:
    found = accounts.collect(root)
    assert (found.user, found.uid, found.complete) == ("ann", 1500, True)
    assert found.groups == [Group(44, "video"), Group(1500, "ann"), Group(4242, None)]
    assert found.recorded == [Group(44, "video"), Group(1002, "HwHiAiUser"), Group(1500, "ann")]


def test_the_account_of_the_driver(root: Path) -> None:
    found = accounts.collect(root)
    assert found.ascend_user == Account("HwHiAiUser", 1001, 1002, "/home/HwHiAiUser", False)
    assert found.ascend_group == Group(1002, "HwHiAiUser")
    (root / "home/HwHiAiUser").mkdir(parents=True)
    user = accounts.collect(root).ascend_user
    assert user is not None and user.home_exists is True


def test_no_such_account_is_told_apart_from_unread(root: Path) -> None:
    (root / "etc/passwd").write_text("ann:x:1500:1500:::\n")
    (root / "etc/group").write_text("")
    found = accounts.collect(root)
    assert (found.ascend_user, found.ascend_group, found.complete) == (None, None, True)
    assert found.recorded == [Group(1500, None)]
    (root / "etc/group").unlink()
    found = accounts.collect(root)
    assert (found.ascend_group, found.recorded, found.complete) == (None, None, False)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\0\1", b"::::::\n", b"ann:x:1500\n",
                                     b"HwHiAiUser:x:" + b"9" * 9000 + b":1:::\n"])  # fmt: skip
def test_damaged_files(root: Path, content: bytes) -> None:
    (root / "etc/passwd").write_bytes(content)
    (root / "etc/group").write_bytes(content)
    found = accounts.collect(root)
    assert (found.ascend_user, found.ascend_group, found.recorded) == (None, None, None)


def test_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    found = accounts.collect()
    assert found.uid == os.geteuid()
    assert {group.gid for group in found.groups} == {*os.getgroups(), os.getegid()}
