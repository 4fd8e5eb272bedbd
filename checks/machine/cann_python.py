"""Has the environment what CANN's Python parts import, in versions that they can use?"""

from __future__ import annotations

import functools

from checks.machine.cann import toolkit
from checks.machine.finding import Check, Evidence, Finding, present
from provision import versions
from provision.document import Table, tables
from provision.facts.snapshot import Facts
from provision.paths import IMAGES

_NUMPY = "https://github.com/opendatalab/MinerU/issues/2258 (np.float_, EC0010)"
_LAST = "8.2"  # the last CANN that is known to use what NumPy 2 no longer has


class Package(Table, frozen=True):
    """A row of `images/cann_python.toml`."""

    package: str
    source: str
    seen: str


def _run(facts: Facts) -> Finding:
    there = present(facts.environment)
    tool = toolkit(facts)
    numpy = there.packages.get("numpy")
    old = versions.begins(tool.version, _LAST) or versions.compare(tool.version, _LAST) == -1
    if numpy and old and versions.compare(numpy, "2") in (0, 1):
        values = {"numpy": numpy, "cann": tool.version}
        evidence = [Evidence(f"numpy {numpy}", there.python),
                    Evidence(f"CANN {tool.version}", tool.output.source)]  # fmt: skip
        command = f"{there.python} -m pip install 'numpy<2'"
        return Finding("error", "numpy", values, evidence, command, _NUMPY)
    missing = [row for row in wanted() if row.package not in there.packages]
    if missing:
        names = " ".join(row.package for row in missing)
        evidence = [Evidence(f"not installed: {names}", there.python)]
        command = f"{there.python} -m pip install {names}"
        return Finding("warning", "missing", {"names": names}, evidence, command, missing[0].source)
    line = " ".join(f"{row.package} {there.packages[row.package]}" for row in wanted())
    return Finding("ok", evidence=[Evidence(line, there.python)])


@functools.cache
def wanted() -> tuple[Package, ...]:
    """The packages that CANN's Python parts need."""
    return tuple(tables(IMAGES / "cann_python.toml", "packages", Package))


CHECK = Check("cann-python", _run, needs=("environment-python", "cann-installed"), devices=("npu",))
