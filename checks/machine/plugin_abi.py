"""Was the plugin built with Paddle's C++ ABI (std::string of C++11 or the older one)?"""

from __future__ import annotations

import re

from checks.machine.environment import linkages
from checks.machine.finding import APART, Check, Evidence, Finding
from provision.facts.linking.linkage import Linkage
from provision.facts.snapshot import Facts

_SOURCE = "GCC manual, dual ABI; PaddleCustomDevice builds with _GLIBCXX_USE_CXX11_ABI=1"
_PADDLE = re.compile(r"_ZN?[VrK]*K?(?:6paddle|3phi|6common|4phi)")
_NEW = re.compile(r"7__cxx11|B5cxx11")
_OLD = re.compile(r"RKSs|Ss(?:[E_]|$)|SaISs")


def _run(facts: Facts) -> Finding:
    plugins = linkages(facts)
    if not plugins:
        return APART
    for one in plugins:
        strange = _strange(one)
        if strange:
            case = "new" if one.cxx11_abi else "old"
            evidence = [Evidence(f"undefined symbol: {name}", one.file) for name in strange[:3]]
            values = {"symbol": strange[0], "file": one.file}
            return Finding("error", case, values, evidence, source=_SOURCE)
    said = {True: "C++11 ABI", False: "ABI before C++11", None: "no std::string"}
    return Finding("ok", evidence=[Evidence(said[one.cxx11_abi], one.file) for one in plugins])


def _strange(plugin: Linkage) -> list[str]:
    """Symbols of Paddle with a string that no library has: those of a Paddle of the other ABI."""
    kind = {True: _NEW, False: _OLD}.get(plugin.cxx11_abi) if plugin.cxx11_abi is not None else None
    lost = [*plugin.missing_symbols, *plugin.unsettled]
    ours = [name for name in lost if _PADDLE.match(name)]
    return [name for name in ours if kind and kind.search(name)]


CHECK = Check("plugin-abi", _run, needs=("environment-python", "plugin-libraries", "plugin-pair"))
