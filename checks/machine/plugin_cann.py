"""Does the plugin find in the CANN libraries in force what it was built for?"""

from __future__ import annotations

import re

from checks.machine.environment import linkages
from checks.machine.finding import APART, Check, Evidence, Finding, names
from provision.facts.linking.linkage import Linkage, Needed
from provision.facts.snapshot import Facts

_PRODUCTS = ("driver", "CANN toolkit", "nnal")  # as `images/library_folders.toml` calls them
_SOURCE = "https://github.com/PaddlePaddle/PaddleCustomDevice/issues/2452"
# How symbols of CANN begin: those of acl, aclnn, HCCL, the runtime and ATB.
_SYMBOL = re.compile(r"acl[a-z]*[A-Z]|Hccl[A-Z]|rt[A-Z]\w|_ZN[VK]*3(?:atb|aclnn)")

_USUAL = (("aclnn", "libopapi.so"), ("acl", "libascendcl.so"), ("Hccl", "libhccl.so"))


def _run(facts: Facts) -> Finding:
    plugins = linkages(facts)
    if not plugins:
        return APART
    for one in plugins:
        if finding := _library(one) or _symbol(one) or _further(one):
            return finding
    found = [Evidence(f"{need.name} => {need.found}", one.file)
             for one in plugins for need in one.needed if _is_cann(need.found or "")]  # fmt: skip
    return Finding("ok", evidence=found[:5] or [Evidence("no library of CANN", plugins[0].file)])


def is_ours(need: Needed) -> bool:
    """Whether a library is one of CANN or of what it rests on, by its name or by its place."""
    places = [need.found] if need.found else need.near
    return need.product in _PRODUCTS or any(_is_cann(place) for place in places)


def _library(plugin: Linkage) -> Finding | None:
    """A library of CANN that the loader does not find."""
    lost = [one for one in plugin.needed if one.found is None and is_ours(one)]
    if not lost:
        return None
    near = [path for one in lost for path in one.near]
    evidence = [Evidence(f"{one.name} => not found", one.of) for one in lost]
    evidence += [Evidence(path, "files") for path in near[:3]]
    values = {"name": lost[0].name, "product": lost[0].product or "CANN", "near": "".join(near[:1])}
    return Finding("error", "unlisted" if near else "library", values, evidence, source=_SOURCE)


def _symbol(plugin: Linkage) -> Finding | None:
    """A symbol of CANN that the libraries in force do not have."""
    lost = [name for name in plugin.missing_symbols
            if _is_cann(plugin.unprovided_by.get(name, "")) or _SYMBOL.match(name)]  # fmt: skip
    if not lost:
        return None
    library = plugin.unprovided_by.get(lost[0]) or _usual(plugin, lost[0])
    evidence = [Evidence(f"undefined symbol: {name}", plugin.file) for name in lost[:3]]
    if library:
        evidence.append(Evidence(f"{lost[0]}: not in it", library))
    values = {"symbol": lost[0], "library": library or "CANN", "count": str(len(lost))}
    return Finding("error", "symbol", values, evidence, source=_SOURCE)


def _usual(plugin: Linkage, symbol: str) -> str:
    """The library in force that usually has such a symbol; "" where the plugin gets none."""
    name = next((name for begin, name in _USUAL if symbol.startswith(begin)), None)
    return next((one.found for one in plugin.needed if one.found and one.name == name), "")


def _further(plugin: Linkage) -> Finding | None:
    """A library of CANN that in turn misses a symbol: the parts are not of one version."""
    lost = {path: some for path, some in plugin.further.items() if _is_cann(path)}
    if not lost:
        return None
    path, some = next(iter(lost.items()))
    values = {"library": path, "symbols": names(some, 2)}
    evidence = [Evidence(f"undefined symbol: {name}", path) for name in some[:3]]
    return Finding("warning", "further", values, evidence, source=_SOURCE)


def _is_cann(path: str) -> bool:
    """Whether a library is one of the driver, CANN or NNAL, by the folders of their installers."""
    return bool(re.search(r"/(?:Ascend|ascend-toolkit|cann(?:-[\w.]+)?|nnal)/", path))


CHECK = Check(
    "plugin-cann", _run,
    needs=("environment-python", "cann-installed", "cann-several", "cann-environment", "cann-nnal",
           "cann-version", "plugin-pair"),
    devices=("npu",),
)  # fmt: skip
