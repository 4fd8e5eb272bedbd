"""Kind `system`: the vendor's installers know this operating system. It runs nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

from provision import systems
from provision.facts import pci
from provision.facts.machine import os_release
from provision.stack import Step
from provision.steps.base import Context, Lack, Look, NotSo


class System(Look):
    """Refused where the vendor's list leaves it out; where that cannot be told, it goes on."""

    def verify(self, step: Step, context: Context) -> list[Path]:
        """The system is listed for the target's generation of cards, or nobody lists any."""
        if not _fits(context):
            raise NotSo(_name(context))
        return []

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """The system; it is what it is."""
        return None if _fits(context) else Lack("unsupported-os", _name(context))


def _fits(context: Context) -> bool:
    return context.any_system or (_can(context) and _is_listed(context))


def _can(context: Context) -> bool:
    """Whether the vendor has packages for this processor, and the system a dpkg for its debs."""
    machines = context.stack.machines
    wants_dpkg = any(step.kind == "debs" for step in context.stack.steps)
    has_dpkg = shutil.which("dpkg-query") is not None
    return (not machines or context.arch in machines) and (has_dpkg or not wants_dpkg)


def _is_listed(context: Context) -> bool:
    """Whether no list of the vendor leaves the system out."""
    told = _told()
    version = told.get("VERSION") or told.get("VERSION_ID", "")
    return "unlisted" not in {
        systems.supported(generation, told.get("ID", ""), version, context.arch)
        for generation in _generations(context)
    }


def _generations(context: Context) -> set[str]:
    """What the cards of the target are called in the list."""
    models = pci.catalogue().models
    return {row.generation for row in models
            if row.target == context.stack.target and row.generation}  # fmt: skip


def _told() -> dict[str, str]:
    try:
        return os_release(Path("/etc/os-release").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return {}


def _name(context: Context) -> str:
    told = _told()
    name = told.get("PRETTY_NAME") or told.get("ID") or "?"
    return f"{name}, {context.arch}"
