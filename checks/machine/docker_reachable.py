"""Does the container engine answer this user?"""

from __future__ import annotations

from checks.machine.finding import APART, Check, Evidence, Finding, UnreadError, known
from checks.machine.here import in_container
from provision.facts import container_engine
from provision.facts.questions import Output
from provision.facts.snapshot import Facts

_SOURCE = "Docker documentation: post-installation steps; daemon troubleshooting"


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    if answered := container_engine.info(outputs):
        info, output = answered
        return Finding("ok", evidence=[Evidence(f"server {info.server_version}", output.source)])
    asked = container_engine.asked(outputs)
    if asked is None:
        raise UnreadError("docker info was not asked")
    if asked.problem == "absent":
        return _absent(facts)
    return _unwell(asked)


def _absent(facts: Facts) -> Finding:
    """No Docker: in a container none is missed, since an engine belongs to the host."""
    if in_container(facts):
        return APART
    return Finding("absent", "none", {}, [Evidence("no docker", "PATH")])


def _unwell(asked: Output) -> Finding:
    """Why the engine gave no answer, by what its client says."""
    low, evidence = asked.text.lower(), [_line(asked)]
    if asked.problem == "silent":
        return Finding("warning", "silent", {}, evidence, "journalctl -u docker -n 50", _SOURCE)
    if "permission denied" in low:
        return Finding("warning", "permission", {}, evidence, "ls -l /var/run/docker.sock", _SOURCE)
    if any(words in low for words in ("cannot connect", "daemon running", "connection refused")):
        return Finding("warning", "down", {}, evidence, "systemctl start docker", _SOURCE)
    return Finding("unknown", "strange", {}, evidence, source=_SOURCE)


def _line(asked: Output) -> Evidence:
    """What the client says, which is its last line; one of JSON only shows that it was asked."""
    lines = [line.strip() for line in asked.text.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("{", "["))]
    return Evidence((told or lines or ["(nothing printed)"])[-1][:300], asked.source)


CHECK = Check("docker-reachable", _run, needs=("docker-settings",), devices=("npu", "gcu"))
