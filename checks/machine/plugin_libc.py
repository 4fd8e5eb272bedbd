"""Are the C and C++ libraries of this machine new enough for the device plugin?"""

from __future__ import annotations

from collections.abc import Iterator

from checks.machine.environment import linkages
from checks.machine.finding import APART, Check, Evidence, Finding
from provision import versions
from provision.facts.linking.linkage import Linkage
from provision.facts.linking.process_libraries import Levels
from provision.facts.snapshot import Facts, Unread

_SOURCE = "ELF: versions of symbols (GLIBC, GLIBCXX, CXXABI), as the loader compares them"
_KINDS = ("GLIBC", "GLIBCXX", "CXXABI")


def _run(facts: Facts) -> Finding:
    plugins = linkages(facts)
    if not plugins:
        return APART
    gaps = [gap for one in plugins for gap in one.missing_versions]
    if gaps:
        values = {"version": gaps[0].version, "library": gaps[0].found, "of": gaps[0].of}
        evidence = [Evidence(f"{gap.library} ({gap.version}) => not in {gap.found}", gap.of)
                    for gap in gaps[:4]]  # fmt: skip
        return Finding("error", "missing", values, evidence, source=_SOURCE)
    here = None if isinstance(facts.runtime, Unread) else facts.runtime
    levels = [one for one in (here.libc, here.libstdcxx) if one] if here else []
    for plugin in plugins:
        for kind, least, library, has in _below(plugin, levels):
            values = {"version": f"{kind}_{least}", "library": library, "of": plugin.file}
            evidence = [Evidence(f"needs {kind}_{least}", plugin.file),
                        Evidence(f"has {kind}_{has}", library)]  # fmt: skip
            return Finding("error", "missing", values, evidence, source=_SOURCE)
    wanted = [f"{kind}_{level}" for one in plugins for kind, level in _wanted(one)]
    line = f"needs {', '.join(dict.fromkeys(wanted)) or 'no versions'}"
    return Finding("ok", evidence=[Evidence(line, plugins[0].file)])


def _wanted(plugin: Linkage) -> list[tuple[str, str]]:
    """The highest version of each kind that a plugin needs."""
    levels = (plugin.glibc, plugin.glibcxx, plugin.cxxabi)
    return [(kind, level) for kind, level in zip(_KINDS, levels, strict=True) if level]


def _below(plugin: Linkage, levels: list[Levels]) -> Iterator[tuple[str, str, str, str]]:
    """Where this machine has less: kind, what is needed, the library, and what that has."""
    for kind, wanted in _wanted(plugin):
        for one in levels:
            has = {"GLIBC": one.glibc, "GLIBCXX": one.glibcxx, "CXXABI": one.cxxabi}[kind]
            if has and versions.compare(has, wanted) == -1:
                yield kind, wanted, one.file, has


CHECK = Check("plugin-libc", _run, needs=("environment-python", "plugin-libraries"))
