"""Does Paddle take the wheel, in a clean environment over the Paddle that is here?"""

from __future__ import annotations

import msgspec

from checks.machine import plugin_loads
from checks.machine.finding import APART, Evidence, Finding
from checks.wheels.subject import Subject
from provision.facts.plugin import Plugin
from provision.wheels import recipe

_SOURCE = "tried in an environment of its own"


def installs(subject: Subject) -> Finding:
    """The installer takes it, and what it brings can be imported."""
    trial = subject.trial
    if trial is None:
        return APART
    if trial.untried:
        evidence = [Evidence(trial.untried, "uv")]
        return Finding("unknown", "untried", {"reason": trial.untried}, evidence)
    if trial.refused:
        evidence = [Evidence(line, "uv pip install") for line in trial.refused]
        return Finding("error", "refused", {"reason": trial.refused[0]}, evidence)
    loaded = trial.loaded
    if loaded is None or subject.is_plugin:
        return Finding("ok", evidence=[Evidence("installed", "uv pip install")])
    evidence = _evidence(subject)
    if loaded.verdict == "loads":
        return Finding("ok", evidence=evidence)
    return Finding("error", loaded.verdict, {"where": loaded.where}, evidence, source=_SOURCE)


def registers(subject: Subject) -> Finding:
    """Paddle loads the plugin, and its device type is there."""
    trial = subject.trial
    if trial is None or trial.loaded is None or not subject.is_plugin:
        return APART
    found = {name: getattr(trial.loaded, name) for name in ("verdict", "line", "where", "types")}
    folder = "paddle_custom_device"
    plugin = Plugin(**found, folder=folder, files=[], hints=[], said=trial.loaded.said)
    finding = plugin_loads.CHECK.run(msgspec.structs.replace(subject.facts, plugin=plugin))
    if finding.state == "ok":
        return finding
    evidence = [*finding.evidence, *_known(subject)]
    device = subject.facts.device
    command = ""
    if device in recipe.names():  # without these it would be built for the Paddle of a release
        python = ".".join(subject.python.split(".")[:2])
        command = f"--backend {device} --paddle {subject.paddle} --python {python}"
    elif device == subject.facts.stack.device:
        command = f"--backend {device}"
    command = f"paddock build-ops {command}" if command else ""
    return msgspec.structs.replace(finding, evidence=evidence, command=command)


def _evidence(subject: Subject) -> list[Evidence]:
    loaded = subject.trial.loaded if subject.trial else None
    return [Evidence(loaded.line, loaded.where), *_known(subject)] if loaded else []


def _known(subject: Subject) -> list[Evidence]:
    """The entry of the catalogue of failures that explains it."""
    known = subject.trial.known if subject.trial else ""
    return [Evidence(known, "paddock explain")] if known else []
