"""Kind `account`: a system account, with the group of its name, that a vendor's driver wants."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from provision.stack import Step
from provision.steps.base import Context, Kind, Lack, NotSo


class Account(Kind):
    """Satisfied by an account of that name in a group of that name."""

    template = "steps/account.sh.j2"
    by_machine = True

    @property
    def changes_host(self) -> str:
        """The commands, in short."""
        return "groupadd, useradd"

    def change(self, step: Step, context: Context) -> str:
        """The account."""
        return f"useradd {step.account}"

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """The account; `added` says for the undo whether it is new."""
        return {"account": step.account, "notes": context.site.notes,
                "added": context.site.added(step.name)}  # fmt: skip

    def verify(self, step: Step, context: Context) -> list[Path]:
        """The account is there and in its group."""
        try:
            user, group = pwd.getpwnam(step.account), grp.getgrnam(step.account)
        except KeyError:
            raise NotSo(step.account) from None
        if group.gr_gid != user.pw_gid and step.account not in group.gr_mem:
            raise NotSo(f"{step.account}:{step.account}")
        return []

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """Only root may add accounts."""
        return needs_root()


def needs_root() -> Lack | None:
    """Why a step cannot run for whoever is not root."""
    return None if os.geteuid() == 0 else Lack("needs-root", "sudo")
