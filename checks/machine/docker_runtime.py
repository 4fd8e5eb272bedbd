"""Does the container engine know the vendor's runtime, and does it run by its settings file?"""

from __future__ import annotations

from checks.machine.finding import APART, Check, Evidence, Finding, known
from provision.facts import container_engine, enflame
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.facts.texts.docker import Engine

_SOURCE = "Enflame TopsCloud guide (an existing daemon.json is kept); ascend-docker-runtime"
_RESTART = "systemctl restart docker"
_ASCEND_LIST = "/etc/ascend-docker-runtime.d/base.list"


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    answered = container_engine.info(outputs)
    wanted = facts.stack.container.runtime if facts.stack.container else ""
    if not answered or not wanted:
        return APART  # without an engine; its own check says so
    info, output = answered
    shown = Evidence(f"Runtimes: {' '.join(info.runtimes)}; default {info.default_runtime}",
                     output.source)  # fmt: skip
    settings = container_engine.settings(outputs)
    values = {"runtime": wanted, "default": info.default_runtime or "?"}
    if changed := _changed(info.runtimes, info.default_runtime, settings):
        return Finding("warning", "restart", values | {"name": changed[0]}, [shown, changed[1]],
                       _RESTART, _SOURCE)  # fmt: skip
    if wanted not in info.runtimes:
        if kept := _installed(facts.device, outputs):
            return Finding("warning", "kept", values, [shown, kept], source=_SOURCE)
        return Finding("absent", "none", values, [shown], source=_SOURCE)
    if facts.device == "gcu" and info.default_runtime != wanted:
        return Finding("warning", "default", values, [shown], source=_SOURCE)
    return Finding("ok", evidence=[shown])


def _changed(
    runtimes: list[str], default: str | None, settings: tuple[Engine, Output] | None
) -> tuple[str, Evidence] | None:
    """What the file names and the running engine does not have: it was changed after the start."""
    if settings is None:
        return None
    engine, output = settings
    for name in engine.runtimes:
        if name not in runtimes:
            return name, Evidence(f'"runtimes": "{name}"', output.source)
    if engine.default_runtime and default and engine.default_runtime != default:
        line = f'"default-runtime": "{engine.default_runtime}"'
        return engine.default_runtime, Evidence(line, output.source)
    return None


def _installed(device: str, outputs: list[Output]) -> Evidence | None:
    """That the vendor's runtime is installed, though the engine does not know it."""
    if device == "npu":
        listed = next((one for one in outputs if one.source == _ASCEND_LIST), None)
        return Evidence("ascend-docker-runtime is installed", _ASCEND_LIST) if listed else None
    rows = enflame.packages(outputs, [enflame.TOOLKIT])
    return Evidence(f"{rows[0][0].name} {rows[0][0].version}", rows[0][1].source) if rows else None


CHECK = Check("docker-runtime", _run, needs=("docker-reachable",), devices=("npu", "gcu"))
