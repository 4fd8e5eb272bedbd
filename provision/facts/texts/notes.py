"""Small outputs: TopsRider's install log, kernel modules, a node's capacity."""

from __future__ import annotations

import re

import msgspec

from provision.facts.texts.section import Section


class Install(msgspec.Struct):
    """TopsRider's log: how many of how many parts, and whether it says that it finished."""

    kind: str
    log_file: str | None
    parts: list[str]
    total: int | None
    installed: int | None
    finished: bool
    archive_good: bool | None


class Module(msgspec.Struct):
    """The version of a loaded kernel module."""

    kind: str
    module: str
    version: str


class Capacity(msgspec.Struct):
    """What a Kubernetes node offers. A count of shares is no count of cards."""

    kind: str
    resources: dict[str, int]


def topsrider(section: Section) -> Install | None:
    """The log of `TopsRider_*.run`."""
    text = section.text
    if "TOPSRIDER" not in text and "/tmp/topsinstaller" not in text:  # noqa: S108 - a text of the log
        return None
    log = re.search(r"Logging file: *(\S{1,200})", text)
    steps = re.findall(r"^\s*\[([0-9]{1,3})/([0-9]{1,3})\] *(\S.{0,200})$", text, re.MULTILINE)
    done = re.search(r"Install Finished\. *([0-9]{1,4}) installed", text)
    checked = re.search(r"Verifying archive integrity\.\.\. *(All good)?", text)
    good = bool(checked[1]) if checked else True if "MD5 checksums are OK" in text else None
    return Install(
        "topsrider install log", log[1] if log else None, [name for _, _, name in steps],
        int(steps[-1][1]) if steps else None, int(done[1]) if done else None, bool(done), good,
    )  # fmt: skip


def module(section: Section) -> Module | None:
    """`cat /sys/module/NAME/version`."""
    asked = re.search(r"cat +/sys/module/([\w-]{1,60})/version", section.command)
    found = re.match(r"\s*([0-9][\w.+-]{0,80})(?=\s|$)", section.text)
    return Module("kernel module", asked[1], found[1]) if asked and found else None


def capacity(section: Section) -> Capacity | None:
    """`Capacity:` of `kubectl describe node`, the vendors' resources of it."""
    found: dict[str, int] = {}
    within = False
    for line in section.lines:
        if line.strip() in ("Capacity:", "Allocatable:"):
            within = line.strip() == "Capacity:"
        pair = re.fullmatch(
            r"\s+((?:huawei|enflame(?:-tech)?)\.com/[\w.-]{1,60}): +([0-9]{1,9})", line
        )
        if within and pair:
            found[pair[1]] = int(pair[2])
    return Capacity("kubernetes capacity", found) if found else None
