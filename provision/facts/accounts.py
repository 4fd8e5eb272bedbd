"""Who this process is, its groups now and by the records, and the account of the Ascend driver."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import msgspec

from provision.facts import small

USER, GROUP = 7, 4  # fields of a row of /etc/passwd and of /etc/group

# The account that Huawei's installers make, and whose group the device nodes have by default
# (CANN installation guide, "Ascend driver: running user"; /etc/ascend_install.info, UserName).
ASCEND = "HwHiAiUser"


class Group(msgspec.Struct, frozen=True, order=True):
    """A group. `name` is None where /etc/group has none for this number."""

    gid: int
    name: str | None


class Account(msgspec.Struct, frozen=True):
    """A user of /etc/passwd; `home_exists` is None where this user may not look."""

    name: str
    uid: int
    gid: int
    home: str
    home_exists: bool | None


class Accounts(msgspec.Struct, frozen=True):
    """The accounts that matter.

    `groups` are in force for this process, `recorded` are those that a new login would get by
    /etc/passwd and /etc/group (None where that cannot be told): they differ when the login is older
    than the change. `ascend_user` and `ascend_group` are HwHiAiUser, None where there is none;
    where `complete` is False these files could not be read, and None means nothing. Users of a
    directory service stand in neither file.
    """

    user: str | None
    uid: int
    groups: list[Group]
    recorded: list[Group] | None
    ascend_user: Account | None
    ascend_group: Group | None
    complete: bool


def collect(root: Path = Path("/")) -> Accounts:
    """Read them; `root` is the prefix of /etc and of the homes."""
    users = rows(root / "etc/passwd", USER)
    groups = rows(root / "etc/group", GROUP)
    uid = os.geteuid()
    user = names_by_number(users or []).get(uid)
    names = names_by_number(groups or [])
    return Accounts(
        user=user or _asked(uid),
        uid=uid,
        groups=sorted(Group(gid, names.get(gid)) for gid in {*os.getgroups(), os.getegid()}),
        recorded=None if not user or groups is None else _recorded(user, users or [], groups),
        ascend_user=_account(users or [], root),
        ascend_group=_group(groups or []),
        complete=users is not None and groups is not None,
    )


def rows(path: Path, width: int) -> list[list[str]] | None:
    """The whole rows of /etc/passwd or /etc/group, numbers sound; None when it cannot be read."""
    found = small.fields(path)
    return found and [row for row in found if len(row) == width and _is_number(row[2])]


def names_by_number(found: list[list[str]]) -> dict[int, str]:
    """The names of users or groups by their number; the first counts, as for the system."""
    return {int(row[2]): row[0] for row in reversed(found)}


def _is_number(text: str) -> bool:
    """Whether this is a number of a user or a group: 32 bits."""
    return text.isascii() and text.isdecimal() and len(text) <= 10  # noqa: PLR2004 - 32 bits


def _asked(uid: int) -> str | None:
    """The name by the system's own search, which knows directory services."""
    try:
        return small.shown(pwd.getpwuid(uid).pw_name)
    except (KeyError, OSError):
        return None


def _recorded(user: str, users: list[list[str]], groups: list[list[str]]) -> list[Group]:
    """The user's main group and those that list the user as a member."""
    names = names_by_number(groups)
    listed = [row for row in groups if user in row[3].split(",")]
    main = [row[3] for row in users if row[0] == user][:1]
    found = {int(text) for text in [*main, *(row[2] for row in listed)] if _is_number(text)}
    return sorted(Group(gid, names.get(gid)) for gid in found)


def _account(users: list[list[str]], root: Path) -> Account | None:
    """HwHiAiUser, where there is one and its row is sound."""
    row = next((row for row in users if row[0] == ASCEND), None)
    if row is None or not _is_number(row[3]):
        return None
    home = small.is_folder(root / row[5].lstrip("/"))
    return Account(row[0], int(row[2]), int(row[3]), row[5], home)


def _group(groups: list[list[str]]) -> Group | None:
    """The group HwHiAiUser."""
    return next((Group(int(row[2]), ASCEND) for row in groups if row[0] == ASCEND), None)
