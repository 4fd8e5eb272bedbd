"""What a machine's outputs say about Huawei's driver and firmware, for the checks of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from provision import pairs
from provision.facts.kernel import Kernel
from provision.facts.kernel_modules import Module, ModuleFile
from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.texts.blocks import Block, Blocks
from provision.facts.texts.npu_values import NpuInfo
from provision.facts.texts.versions import VersionFile
from provision.versions import parse, within

VENDOR = "Huawei"  # in the catalogues of modules and nodes
TOOL = "npu-smi info"
INFO = "/etc/ascend_install.info"
PATH_KEY = "Driver_Install_Path_Param"


class Info(msgspec.Struct, frozen=True):
    """/etc/ascend_install.info; `fields` is empty for one in another form."""

    fields: Mapping[str, str]
    output: Output


def driver(outputs: Iterable[Output]) -> tuple[VersionFile, Output] | None:
    """The driver's version file."""
    return _file(outputs, "driver")


def firmware(outputs: Iterable[Output]) -> tuple[VersionFile, Output] | None:
    """The firmware's version file."""
    return _file(outputs, "firmware")


def version(outputs: Iterable[Output]) -> tuple[str, str] | None:
    """The driver's version and where it was read: its file, else the table of npu-smi."""
    outputs = list(outputs)
    file, shown = driver(outputs), table(outputs)
    if file and file[0].version:
        return file[0].version, file[1].source
    if shown and parse(shown[0].driver_version or ""):
        return shown[0].driver_version or "", shown[1].source
    return None


def install_info(outputs: Iterable[Output]) -> Info | None:
    """What the installers noted; None where the file is not there."""
    outputs = list(outputs)
    for file, output in found(outputs, VersionFile):
        if file.kind == "ascend_install.info":
            return Info(file.fields, output)
    return next((Info({}, one) for one in outputs if one.source == INFO), None)


def table(outputs: Iterable[Output]) -> tuple[NpuInfo, Output] | None:
    """The table of `npu-smi info`, where it has at least one card."""
    return next((pair for pair in found(outputs, NpuInfo) if pair[0].cards), None)


def blocks(outputs: Iterable[Output], kind: str) -> list[tuple[Block, Output]]:
    """What one question of npu-smi, such as `npu-smi info -t ecc`, told of each NPU."""
    return [(block, output) for part, output in found(outputs, Blocks) if part.kind == kind
            for block in part.blocks]  # fmt: skip


def unreadable(outputs: Iterable[Output], end: str) -> Output | None:
    """A file that is there and could not be read."""
    return next((one for one in outputs
                 if one.source.endswith(end) and one.problem == "unreadable"), None)  # fmt: skip


def modules(kernel: Kernel) -> list[Module] | None:
    """The driver's modules that are loaded; None where that cannot be told."""
    if kernel.loaded is None:
        return None
    return [one for one in kernel.loaded if one.vendor == VENDOR]


def files(kernel: Kernel) -> list[ModuleFile] | None:
    """The files of the driver's modules, for every kernel; None where that cannot be told."""
    if kernel.files is None:
        return None
    return [one for one in kernel.files if one.vendor == VENDOR]


def fits(outputs: Iterable[Output]) -> bool | None:
    """Whether driver and firmware go together; None where that is not known."""
    outputs = list(outputs)
    one, other = driver(outputs), firmware(outputs)
    if not one or not other or not one[0].version or not other[0].version:
        return None
    versions = one[0].version, other[0].version
    if within(versions[1], one[0].ranges) and within(versions[0], other[0].ranges):
        return True  # each names the other: then no rule of a newer driver is needed
    return pairs.firmware_fits(*versions, one[0].ranges, other[0].ranges)


def _file(outputs: Iterable[Output], part: str) -> tuple[VersionFile, Output] | None:
    """The version file of a part: told by its keys, or by its place where it has few."""
    place = f"/{part}/version.info"
    for file, output in found(outputs, VersionFile):
        plain = file.kind == "version.info" and output.source.endswith(place)
        if file.kind == f"{part} version.info" or plain:
            return file, output
    return None
