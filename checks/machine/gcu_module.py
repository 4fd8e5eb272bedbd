"""Is the kernel module of the Enflame driver loaded?"""

from __future__ import annotations

from checks.machine.finding import Check, Evidence, Finding, UnreadError, known
from provision.facts import enflame
from provision.facts.kernel import Kernel
from provision.facts.snapshot import Facts

_SOURCE = "Enflame device plugin guide: lsmod | grep enflame, /sys/module/enflame/version"


def _run(facts: Facts) -> Finding:
    kernel = known(facts.kernel)
    if kernel.loaded is None:
        raise UnreadError("/proc/modules, /sys/module")
    loaded = [module for module in kernel.loaded if module.name in enflame.MODULES]
    if loaded:
        lines = [f"{one.name} {one.version or ''}".strip() for one in loaded]
        return Finding("ok", evidence=[Evidence(line, "/sys/module") for line in lines])
    cards = facts.accelerators if isinstance(facts.accelerators, list) else None
    if cards is not None and not any(card.vendor == enflame.VENDOR for card in cards):
        where = "/sys/bus/pci/devices, class 1200"
        return Finding("absent", "no-card", {}, [Evidence("no card of vendor 1e36", where)])
    return _not_loaded(kernel)


def _not_loaded(kernel: Kernel) -> Finding:
    """Why not: not there at all, not for this kernel, or there and not loaded."""
    files = [file for file in kernel.files or () if file.name in enflame.MODULES]
    own = [file for file in files if file.kernel == kernel.release]
    values = {"kernel": kernel.release}
    if own:
        evidence = [Evidence(f"{file.path}: {file.vermagic or '?'}", "modinfo") for file in own]
        command = f"modprobe {own[0].name}"
        return Finding("error", "not-loaded", values, evidence, command, _SOURCE)
    builds = [one for one in kernel.dkms or () if "enflame" in one.name]
    if files or builds:
        evidence = [Evidence(file.path, "/lib/modules") for file in files]
        evidence += [Evidence(f"{one.name} {one.version}: {one.kernel or '-'} {one.state}",
                              "/var/lib/dkms") for one in builds]  # fmt: skip
        command = f"dkms autoinstall -k {kernel.release}" if builds else ""
        return Finding("error", "other-kernel", values, evidence, command, _SOURCE)
    evidence = [Evidence(f"no module enflame; kernel {kernel.release}", "/sys/module")]
    return Finding("error", "missing", values, evidence, source=_SOURCE)


CHECK = Check("gcu-module", _run, needs=("gcu-topsrider",), devices=("gcu",))
