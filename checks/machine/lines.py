"""The lines that several checks show as evidence."""

from __future__ import annotations

from collections.abc import Iterable

from checks.machine.finding import Evidence
from provision.facts.nodes import Holder, Node
from provision.facts.questions import Output
from provision.facts.texts.versions import VersionFile


def line_of(output: Output, *words: str) -> str:
    """The first line that has all of these words, "" for none."""
    lines = (" ".join(line.split()) for line in output.text.splitlines())
    return next((line for line in lines if all(word in line for word in words)), "")


def last(output: Output) -> Evidence:
    """The last line that a program printed."""
    lines = [line.strip() for line in output.text.splitlines() if line.strip()]
    return Evidence(lines[-1] if lines else "(nothing printed)", output.real or output.source)


def version(file: VersionFile, output: Output) -> Evidence:
    """The line of a version file that tells its version."""
    return Evidence(line_of(output, "ersion=") or f"version {file.version}", output.source)


def nodes(some: Iterable[Node]) -> list[Evidence]:
    """Device nodes as `ls -l` tells of them."""
    return [Evidence(f"{one.path} {one.kind} {one.mode or '?'} {one.owner or one.uid}:"
                     f"{one.group or one.gid}", "/dev") for one in some]  # fmt: skip


def holder(one: Holder) -> Evidence:
    """A process that has a device node open."""
    return Evidence(f"{one.path}: {one.pid} {one.name or '?'}", "/proc/PID/fd")
