"""Was the wheel of the plugin made for this Python and this processor?"""

from __future__ import annotations

import re

from checks.machine.finding import APART, Check, Evidence, Finding, known, present
from provision.facts.installed import Environment
from provision.facts.snapshot import Facts

_SOURCE = "packaging.python.org, platform compatibility tags"


def _run(facts: Facts) -> Finding:
    there = present(facts.environment)
    name = f"paddle-custom-{facts.device}"
    tags = there.wheels.get(name)
    if not tags:  # it did not come as a wheel, or is not there at all
        return APART
    evidence = [Evidence(f"Tag: {tag}", name) for tag in tags[:4]]
    values = {"name": name, "tag": tags[0], "python": there.version or "?",
              "arch": known(facts.machine).arch}  # fmt: skip
    if not any(_fits_python(tag, there) for tag in tags):
        return Finding("error", "python", values, evidence, source=_SOURCE)
    if not any(_fits_arch(tag, values["arch"]) for tag in tags):
        return Finding("error", "arch", values, evidence, source=_SOURCE)
    return Finding("ok", evidence=evidence)


def _fits_python(tag: str, there: Environment) -> bool:
    """Whether a tag is for the environment's interpreter; also where that is not known."""
    if there.version is None:
        return True
    major, minor = (int(part) for part in there.version.split(".")[:2])
    python, _, rest = tag.partition("-")
    match = re.fullmatch(r"(?:cp|py)(\d)(\d*)", python)
    if match is None or int(match[1]) != major:
        return match is None
    wanted = int(match[2]) if match[2] else None
    loose = python.startswith("py") or rest.startswith("abi3-")
    return wanted is None or (wanted <= minor if loose else wanted == minor)


def _fits_arch(tag: str, arch: str) -> bool:
    platform = tag.rpartition("-")[2]
    return platform == "any" or platform.endswith(f"_{arch}")


CHECK = Check("plugin-tag", _run, needs=("environment-python",))
