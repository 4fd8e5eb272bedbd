"""Which start of the machine this is: a mark that is another one after a reboot."""

from __future__ import annotations

from pathlib import Path

_FIELD = 19  # of /proc/1/stat behind the name: when the first process began, in ticks


def current() -> str:
    """The kernel's boot id, and when its first process began, which a restarted container changes.

    The installers' scripts write the same two lines (`templates/steps/vendor.sh.j2`).
    """
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    after_name = Path("/proc/1/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
    return f"{boot}\n{after_name[2].split()[_FIELD]}\n"
