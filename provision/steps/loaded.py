"""Kind `loaded`: the driver's modules are loaded, and no installer waits for a reboot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from provision.stack import Step
from provision.steps.account import needs_root
from provision.steps.base import Context, Kind, Lack, NotSo
from provision.vendor import boot
from provision.vendor.shown import module_version
from provision.words import text

_MODULES = Path("/sys/module")


class Loaded(Kind):
    """Loads what is not loaded; what then still is not needs a reboot."""

    template = "steps/loaded.sh.j2"
    by_machine = True
    follows = True
    unverified = "reboot-needed"

    @property
    def changes_host(self) -> str:
        """The command."""
        return "modprobe"

    def change(self, step: Step, context: Context) -> str:
        """The command."""
        return f"modprobe {' '.join(step.modules)}"

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """The modules."""
        return {"modules": list(step.modules)}

    def verify(self, step: Step, context: Context) -> list[Path]:
        """Every module stands in sysfs, and the machine has started since it had to."""
        there = loaded(step)
        if gone := [name for name in step.modules if name not in there]:
            raise NotSo(", ".join(gone))
        if stale := [name for name in step.modules if _is_stale(name)]:
            raise NotSo(", ".join(stale))
        if _waits(context.site.reboot):
            raise NotSo(text("reboot.asked"))
        return []

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """Only root may load modules."""
        return needs_root()


def loaded(step: Step) -> list[str]:
    """Those of the step's modules that the kernel has."""
    return [name for name in step.modules if (_MODULES / name).is_dir()]


def _is_stale(name: str) -> bool:
    """Whether a module is loaded in another version than the one that lies on the disk."""
    try:
        loaded = (_MODULES / name / "version").read_text(encoding="utf-8").strip()
    except OSError:  # many tell no version
        return False
    installed = module_version(name)[0]
    return installed is not None and installed != loaded


def _waits(mark: Path) -> bool:
    """Whether the machine is still the one whose start the mark names."""
    try:
        return mark.read_text(encoding="ascii") == boot.current()
    except OSError:
        return False
