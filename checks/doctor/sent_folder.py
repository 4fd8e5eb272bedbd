"""Examines a machine by a folder of outputs, where nobody can run anything on it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import msgspec

from checks.doctor import examine as doctor
from checks.doctor.examine import FALLBACK, Report
from checks.doctor.report_origin import listed
from checks.machine import sent_log
from provision import stack
from provision.errors import PaddockError
from provision.facts import pci, sent
from provision.facts.cards import device_types
from provision.facts.questions import Output, questions
from provision.facts.sent_files import Sent, read
from provision.paths import targets
from provision.render import render
from provision.stream import pour
from provision.words import text


def examine(target: str, folder: Path, *, json: bool = False) -> Report:
    """Examine the machine of a folder for a target; for "", the one that the outputs tell.

    For a folder that tells nothing the commands are shown whose outputs it needs, with `json` as a
    part of the error.
    Raises PaddockError `nothing-yet` for an empty folder, `nothing-sent` for one without any output
    that is recognised, `bad-option`, `unknown-target`, `snapshot-inside`, `bad-file`.
    """
    begin = time.monotonic()
    found = _with_logs(read(folder), folder)
    if not found.outputs and not found.conflicts:
        wanted = script()
        if not json:
            pour(sys.stdout, wanted)
        code = "nothing-sent" if found.unrecognised else "nothing-yet"
        values = {"folder": folder, "files": listed(found.unrecognised)}
        raise PaddockError(code, tuple(wanted.splitlines()) if json else (), **values)
    loaded = stack.load(stack.stack_file(target or _target(found.outputs)))
    facts = sent.facts(loaded, found.outputs)
    findings = doctor.ask(facts)
    return Report(facts, findings, time.monotonic() - begin, found.time, found)


def _with_logs(found: Sent, folder: Path) -> Sent:
    """What a folder holds, with the logs in it that show known failures."""
    logs = sent_log.logs(folder, found.unrecognised)
    names = {log.real for log in logs}
    return msgspec.structs.replace(
        found,
        outputs=[*found.outputs, *logs],
        unrecognised=[name for name in found.unrecognised if name not in names],
    )


def script() -> str:
    """The commands whose outputs a folder needs, as a script for that machine."""
    asked = questions()
    commands = [one.command for one in asked.commands if "{npu}" not in one.command]
    folders = dict.fromkeys(folder for one in asked.commands for folder in one.folders)
    files = [one.file for one in asked.files]
    values = {"commands": commands, "folders": ":".join(folders), "files": files}
    return render("ask.sh.j2", values)


def _target(outputs: list[Output]) -> str:
    """The target by the cards, else by whose tools these outputs are of, else the fallback."""
    cards = sent.cards(outputs)
    types = {device_types()[card.vendor] for card in cards} if isinstance(cards, list) else set()
    found = pci.target_for(cards) if isinstance(cards, list) and cards else None
    if found in targets() or len(types) > 1:
        return found or FALLBACK
    # The checks of a type know its cards, also those that no target is for.
    devices = types or sent.devices(outputs)
    known = [name for name in targets() if stack.load(stack.stack_file(name)).device in devices]
    if len(known) > 1:
        wanted = text("wanted.one-target", names=", ".join(known))
        raise PaddockError("bad-option", option="--target", value="auto", wanted=wanted)
    return known[0] if known else FALLBACK
