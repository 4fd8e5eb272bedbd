"""Has the named container the device nodes that its target needs?"""

from __future__ import annotations

import difflib
import re

from checks.machine import in_container
from checks.machine.finding import APART, Check, Evidence, Finding
from provision.facts.snapshot import Facts
from provision.stack import Container as Needs

_ALIKE = 0.75  # /dev/dav_manager, which a public report has, is to /dev/davinci_manager 0.84


def _run(facts: Facts) -> Finding:
    found = in_container.named(facts)
    needs = facts.stack.container
    if not found or needs is None:
        return APART
    container, output = found
    if container.privileged or in_container.is_given(container, facts):
        how = "privileged" if container.privileged else f"runtime {container.runtime}"
        return Finding("ok", evidence=[Evidence(how, output.source)])
    missing = [one for one in needs.devices if not any(_is(path, one) for path in container.inside)]
    shown = ", ".join(container.inside) or "no devices"
    evidence = [Evidence(shown, output.source)]
    if not missing:
        return Finding("ok", evidence=evidence)
    for path in container.inside:
        if near := _meant(path, missing, needs):
            return Finding("error", "misnamed", {"path": path, "meant": near}, evidence,
                           source=needs.source)  # fmt: skip
    options = " ".join(f"--device {one.replace('*', '0')}" for one in missing)
    values = {"missing": ", ".join(missing), "options": options}
    case = "none" if len(missing) == len(needs.devices) else "missing"
    return Finding("error", case, values, evidence, source=needs.source)


def _is(path: str, needed: str) -> bool:
    """Whether a path is a needed one; `*` is the number of a card."""
    return re.fullmatch(r"\d+".join(map(re.escape, needed.split("*"))), path) is not None


def _meant(path: str, missing: list[str], needs: Needs) -> str | None:
    """The missing node that a path seems to stand for; None where it is a needed one itself."""
    if any(_is(path, one) for one in needs.devices):
        return None
    named = [one for one in missing if "*" not in one]
    near = difflib.get_close_matches(path, named, n=1, cutoff=_ALIKE)
    return near[0] if near else None


CHECK = Check("container-devices", _run, needs=("container-runtime",), devices=("npu", "gcu"))
