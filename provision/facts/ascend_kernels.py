"""The operator kernels and the NNAL libraries that go with CANN, by their version files."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

import msgspec

from provision import versions
from provision.document import Table, tables
from provision.facts import pci
from provision.facts.ascend import root_of
from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.texts.versions import VersionFile
from provision.paths import IMAGES

_FOLDER = re.compile(r"(?P<root>/.+)/opp/built-in/op_impl/ai_core/tbe/kernel")


class Kernels(msgspec.Struct, frozen=True):
    """A package of operator kernels.

    `version` is that of the CANN it belongs to; `chip` is None where its file does not tell.
    """

    version: str | None
    chip: str | None
    root: str
    output: Output


class Chip(Table, frozen=True):
    """A row of `images/ascend_chips.toml`: what operator kernels for a generation are called."""

    generation: str
    packages: list[str]
    folders: list[str]
    source: str
    seen: str


def kernels(outputs: Iterable[Output]) -> list[Kernels]:
    """The packages of operator kernels that version files tell of."""
    made = []
    for file, output in found(outputs, VersionFile):
        inner = "/opp_kernel/" in output.source
        if file.chip or inner:  # an inner version file counts on its own, its folder is CANN's
            version = file.fields.get("version_dir") if inner else file.version
            known = version if version and versions.parse(version) else None
            root = root_of(output.real or output.source, file)
            made.append(Kernels(known, file.chip, root, output))
    return made


def kernel_folders(outputs: Iterable[Output]) -> list[tuple[str, list[str], Output]]:
    """The folders of kernels of each toolkit that were listed: its root, their names, the output.

    A folder that is not there has no names.
    """
    made = []
    for output in outputs:
        path = output.source.removeprefix("ls ").strip()
        match = _FOLDER.fullmatch(path)
        if match and output.source.startswith("ls ") and not output.problem:
            names = [name for name in output.text.split() if re.fullmatch(r"ascend\w{1,20}", name)]
            made.append((match["root"], names if not output.status else [], output))
    return made


def nnal(outputs: Iterable[Output]) -> list[tuple[VersionFile, Output]]:
    """The installed NNAL (ATB) libraries, by their version files."""
    return [pair for pair in found(outputs, VersionFile) if pair[0].kind == "nnal version.info"]


@functools.cache
def chips() -> tuple[Chip, ...]:
    """The known chips."""
    return tuple(tables(IMAGES / "ascend_chips.toml", "chips", Chip))


def chip(generation: str | None) -> Chip | None:
    """How the kernels for a generation are called; None where that is not known."""
    return next((one for one in chips() if one.generation == generation), None)


def generation(cards: Iterable[pci.Device]) -> str | None:
    """The generation of the Huawei cards on the bus; None where it is not known or not one."""
    huawei = {vendor.id for vendor in pci.catalogue().vendors if vendor.device == "npu"}
    known = {card.generation for card in cards if card.vendor in huawei}
    return known.pop() if len(known) == 1 else None
