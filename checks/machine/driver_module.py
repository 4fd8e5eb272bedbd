"""Are the driver's modules loaded, and are they those on the disk?"""

from __future__ import annotations

from checks.machine import here
from checks.machine.finding import Check, Evidence, Finding, UnreadError, known
from provision import versions
from provision.facts import ascend_driver
from provision.facts.kernel import Kernel
from provision.facts.kernel_modules import Module, ModuleFile
from provision.facts.snapshot import Facts

_SOURCE = "hicann/driver source, driver.xml; the kernel's admin-guide/module-signing"
# The parts of module names that bring the others with them, the best first.
_LEADING = ("davinci_intf", "devmng", "asdrv_dms", "pcie_host")


def _run(facts: Facts) -> Finding:
    kernel = known(facts.kernel)
    loaded = ascend_driver.modules(kernel)
    if loaded is None:
        raise UnreadError("/proc/modules, /sys/module")
    own = [file for file in ascend_driver.files(kernel) or () if file.kernel == kernel.release]
    if not loaded and not here.npu_answers(facts):
        return _not_loaded(facts, kernel, own)
    evidence = [Evidence(f"{one.name} {one.version or ''}".strip(), "/sys/module")
                for one in loaded] or [Evidence("answers", ascend_driver.TOOL)]  # fmt: skip
    return _other(loaded, own) or Finding("ok", evidence=evidence)


def _not_loaded(facts: Facts, kernel: Kernel, own: list[ModuleFile]) -> Finding:
    """None is loaded."""
    values = {"kernel": kernel.release}
    evidence = [Evidence(f"no module of the driver, kernel {kernel.release}", "/sys/module")]
    evidence += [Evidence(f"{one.name}: {one.vermagic or '?'}", one.path) for one in own[:3]]
    if here.in_container(facts):
        return Finding("error", "container", values, evidence, source=_SOURCE)
    if kernel.secure_boot:
        evidence.append(Evidence("SecureBoot 1", "/sys/firmware/efi/efivars"))
        return Finding("error", "secure-boot", values, evidence, "mokutil --sb-state", _SOURCE)
    command = f"sudo modprobe {_first(own)}" if own else ""
    return Finding("error", "not-loaded", values, evidence, command, _SOURCE)


def _first(own: list[ModuleFile]) -> str:
    """The module to load by hand: what stands against it is then told."""
    names = [one.name for one in own]
    return next((name for part in _LEADING for name in names if part in name), names[0])


def _other(loaded: list[Module], own: list[ModuleFile]) -> Finding | None:
    """A module in the kernel of another version than its file, which the next boot would load."""
    files = {file.name: file for file in own if file.version}
    for one in loaded:
        file = files.get(one.name)
        if file and one.version and versions.same_release(one.version, file.version or "") is False:
            values = {"loaded": one.version, "installed": file.version or ""}
            evidence = [Evidence(f"{one.name} {one.version}", "/sys/module"),
                        Evidence(f"{file.name} {file.version}", file.path)]  # fmt: skip
            return Finding("warning", "reboot", values, evidence, "reboot", _SOURCE)
    return None


CHECK = Check("driver-module", _run, needs=("driver-installed", "driver-kernel"), devices=("npu",))
