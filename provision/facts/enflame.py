"""What a machine's outputs say about Enflame cards and their software, for the checks of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from provision import versions
from provision.facts import pci
from provision.facts.kernel import Kernel
from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.texts.efsmi import Efsmi
from provision.facts.texts.efsmi_query import Device, Query
from provision.facts.texts.packages import Package, Packages

VENDOR = "1e36"  # PCI
# The driver's module; `enflame_virt` is the one of a host that gives cards to virtual machines.
MODULES = ("enflame", "enflame_virt")
# What the plugin's guide installs where Paddle runs (PaddleNLP llm/devices/gcu).
TOPS = ("topsfactor", "tops-sdk", "eccl", "topsaten")
TOOLKIT = "enflame-container-toolkit"


def module_version(kernel: Kernel) -> tuple[str, str] | None:
    """Name and version of the loaded driver module; None where none tells its version."""
    loaded = {one.name: one.version for one in kernel.loaded or ()}
    return next(((name, loaded[name]) for name in MODULES if loaded.get(name)), None)  # type: ignore[return-value]


def model(name: str) -> str | None:
    """The model that efsmi calls `S60` or `Enflame S60`, None where no one model has the name."""
    short = name.removeprefix("Enflame ").strip()
    models = [one.name for one in pci.catalogue().models if one.vendor == VENDOR]
    same = [one for one in models if one.removeprefix("Enflame ").split()[0] == short]
    return same[0] if len(same) == 1 else None


def table(outputs: Iterable[Output]) -> tuple[Efsmi, Output] | None:
    """The table of `efsmi`."""
    return next(found(outputs, Efsmi), None)


def queried(outputs: Iterable[Output]) -> Iterator[tuple[Device, Output]]:
    """The cards of `efsmi -q`."""
    for query, output in found(outputs, Query):
        for device in query.devices:
            yield device, output


def driver_version(kernel: Kernel | None, outputs: Iterable[Output]) -> tuple[str, str] | None:
    """The version of the running driver and where it was read: efsmi, else the module."""
    outputs = list(outputs)
    shown = table(outputs)
    if shown and shown[0].driver_version:
        return shown[0].driver_version, shown[1].source
    for device, output in queried(outputs):
        if device.driver_version:
            return device.driver_version, output.source
    module = module_version(kernel) if kernel else None
    return (module[1], f"/sys/module/{module[0]}/version") if module else None


def packages(outputs: Iterable[Output], names: Iterable[str]) -> list[tuple[Package, Output]]:
    """The packages of these names; one that was removed (`rc`, `un`) is none."""
    wanted = set(names)
    rows = ((package, output) for kind, output in found(outputs, Packages)
            if kind.kind != "pip list" for package in kind.packages)  # fmt: skip
    return [(package, output) for package, output in rows
            if package.name in wanted and (package.state or "ii")[1] not in "cn"]  # fmt: skip


def release_of(package: Package) -> str:
    """The maker's version of a package, without the distribution's revision: 1.5.0.601-1."""
    version = package.version.rpartition(":")[2]
    return version if versions.parse(version) else version.rpartition("-")[0]


def lists_packages(outputs: Iterable[Output]) -> bool:
    """Whether the system's packages were listed at all."""
    return any(kind.kind != "pip list" for kind, _ in found(outputs, Packages))
