"""Is PaddleNLP of the version that a release pairs with the installed Paddle?"""

from __future__ import annotations

from checks.machine.environment import paddle
from checks.machine.finding import APART, Check, Evidence, Finding, present
from provision import versions
from provision.facts.snapshot import Facts
from provision.stack import Release

_NLP = "paddlenlp"


def _run(facts: Facts) -> Finding:
    there = present(facts.environment)
    found, framework = there.packages.get(_NLP), paddle(facts)
    if found is None or framework is None:
        return APART
    evidence = [Evidence(f"{_NLP} {found}", there.python),
                Evidence(f"paddlepaddle {framework}", there.python)]  # fmt: skip
    releases = list(facts.stack.releases.values())
    for this in (one for one in releases if _is(one.framework, "paddlepaddle", framework)):
        wanted = _pin(this.paddlenlp, _NLP)
        if wanted and not versions.same_release(wanted, found):
            values = {"nlp": found, "paddle": framework, "wanted": wanted}
            command = f"{there.python} -m pip install {_NLP}=={wanted}"
            return Finding("warning", "other", values, evidence, command, this.source)
        if wanted:
            return Finding("ok", evidence=evidence)
    return _elsewhere(releases, found, framework, evidence)


def _elsewhere(
    releases: list[Release], found: str, framework: str, evidence: list[Evidence]
) -> Finding:
    """A PaddleNLP that a release pairs with another Paddle than this one."""
    for one in releases:
        if _is(one.paddlenlp, _NLP, found):
            wanted = _pin(one.framework, "paddlepaddle") or "?"
            values = {"nlp": found, "paddle": framework, "wanted": wanted}
            return Finding("warning", "paddle", values, evidence, source=one.source)
    return Finding("ok", evidence=evidence)


def _pin(requirements: list[str], name: str) -> str | None:
    """The version to which a requirement of this name is pinned."""
    pins = (one.split("==", 1) for one in requirements if one.startswith(f"{name}=="))
    return next((version for _, version in pins), None)


def _is(requirements: list[str], name: str, version: str) -> bool:
    wanted = _pin(requirements, name)
    return bool(wanted and versions.same_release(wanted, version))


CHECK = Check("paddlenlp-pair", _run, needs=("environment-python",), devices=("npu", "gcu"))
