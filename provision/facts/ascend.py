"""What a machine's outputs say about Huawei's driver and CANN, for the checks of them.

Layouts, by the vendor's installers: up to CANN 8.3 `ascend-toolkit/VERSION` beside a folder
`latest`, from 8.5 on `cann-VERSION` beside a link `cann`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from provision import versions
from provision.document import Table, read
from provision.facts import pci
from provision.facts.folders import Folder
from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.texts.npu_values import NpuInfo
from provision.facts.texts.versions import VersionFile
from provision.paths import IMAGES

# Where the installers put things, seen from the folder of one toolkit.
_ROOTS = (
    re.compile(r"(?P<root>/.+)/(?:x86_64|aarch64|arm64)-linux/[^/]+\.info"),
    re.compile(r"(?P<root>/.+)/share/info/runtime/version\.info"),
    re.compile(r"(?P<root>/.+)/opp_kernel/version\.info"),
    re.compile(r"(?P<root>/.+)/opp/built-in/op_impl/ai_core/tbe/kernel"),
)
_HOMES = ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH")
Layout = Literal["old", "new", ""]


class Toolkit(msgspec.Struct, frozen=True):
    """A CANN toolkit. `root` is its real folder, `spelled` the way by which it was found."""

    version: str
    root: str
    spelled: str
    layout: Layout
    output: Output

    def has(self, folder: Folder) -> bool:
        """Whether a folder is this toolkit's, or in it."""
        real = folder.real is not None and _within(folder.real, self.root)
        return real or _within(folder.path, self.spelled) or _within(folder.path, self.root)


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


class Chips(Table, frozen=True):
    """The whole of `images/ascend_chips.toml`."""

    chips: list[Chip]


def version_file(outputs: Iterable[Output], kind: str) -> tuple[VersionFile, Output] | None:
    """The first version file of a kind, such as `driver version.info`."""
    return next((pair for pair in found(outputs, VersionFile) if pair[0].kind == kind), None)


def driver(outputs: Iterable[Output]) -> tuple[VersionFile, Output] | None:
    """The driver's version file."""
    return version_file(outputs, "driver version.info")


def firmware(outputs: Iterable[Output]) -> tuple[VersionFile, Output] | None:
    """The firmware's version file."""
    return version_file(outputs, "firmware version.info")


def install_info(outputs: Iterable[Output]) -> tuple[VersionFile, Output] | None:
    """/etc/ascend_install.info."""
    return version_file(outputs, "ascend_install.info")


def table(outputs: Iterable[Output]) -> tuple[NpuInfo, Output] | None:
    """The table of `npu-smi info`."""
    return next(found(outputs, NpuInfo), None)


def driver_version(outputs: Sequence[Output]) -> tuple[str, str] | None:
    """The driver's version and where it was read: its file, else the table of npu-smi."""
    file = driver(outputs)
    if file and file[0].version:
        return file[0].version, file[1].source
    shown = table(outputs)
    if shown and shown[0].driver_version:
        return shown[0].driver_version, shown[1].source
    return None


def toolkits(outputs: Iterable[Output]) -> list[Toolkit]:
    """The CANN toolkits, each once, in the order in which they were found."""
    made: dict[str, Toolkit] = {}
    for file, output in found(outputs, VersionFile):
        if file.version and _is_toolkit(file, output):
            real = _root(output.real or output.source, file)
            spelled = _root(output.source, file)
            made.setdefault(real, Toolkit(file.version, real, spelled, _layout(real), output))
    return list(made.values())


def on_path(tools: Iterable[Toolkit], folders: Iterable[Folder], variable: str) -> list[Toolkit]:
    """The toolkits to which a list of folders leads, each once; the first one wins."""
    tools = list(tools)
    listed = [folder for folder in folders if folder.variable == variable and folder.real]
    owners = filter(None, (owner(tools, folder) for folder in listed))
    return list({tool.root: tool for tool in owners}.values())


def home(tools: Iterable[Toolkit], folders: Iterable[Folder]) -> Toolkit | None:
    """The toolkit that ASCEND_TOOLKIT_HOME, else ASCEND_HOME_PATH, names; None for none known."""
    tools, folders = list(tools), list(folders)
    named = [one for name in _HOMES for one in folders if one.variable == name and one.real]
    return next(filter(None, (owner(tools, folder) for folder in named)), None)


def owner(tools: Sequence[Toolkit], folder: Folder) -> Toolkit | None:
    """The toolkit to which a folder belongs."""
    if found_one := next((tool for tool in tools if tool.has(folder)), None):
        return found_one
    # Up to 8.3 `latest` is a folder of links, of which none leads to the toolkit itself.
    beside = [tool for tool in tools if _by_link(tool.root, folder.path)]
    return beside[0] if len(beside) == 1 else None


def settings(tool: Toolkit) -> str:
    """The script that sets the variables of a toolkit; "" where its layout does not tell."""
    place = {"old": PurePosixPath(tool.root).parent, "new": PurePosixPath(tool.root)}
    return f"{place[tool.layout]}/set_env.sh" if tool.layout else ""


def in_force(tools: Iterable[Toolkit], folders: Sequence[Folder]) -> Toolkit | None:
    """The toolkit whose libraries are loaded: the first on LD_LIBRARY_PATH.

    Without one there the home; without that, the only one that there is.
    """
    tools = list(tools)
    loaded = on_path(tools, folders, "LD_LIBRARY_PATH")
    only = tools[0] if len(tools) == 1 else None
    return loaded[0] if loaded else home(tools, folders) or only


def kernels(outputs: Iterable[Output]) -> list[Kernels]:
    """The packages of operator kernels that version files tell of."""
    made = []
    for file, output in found(outputs, VersionFile):
        inner = "/opp_kernel/" in output.source
        if file.chip or inner:  # an inner version file counts on its own, its folder is CANN's
            version = file.fields.get("version_dir") if inner else file.version
            known = version if version and versions.parse(version) else None
            root = _root(output.real or output.source, file)
            made.append(Kernels(known, file.chip, root, output))
    return made


def kernel_folders(outputs: Iterable[Output]) -> list[tuple[str, list[str], Output]]:
    """The folders of kernels of each toolkit that were listed: its root, their names, the output.

    A folder that is not there has no names.
    """
    made = []
    for output in outputs:
        path = output.source.removeprefix("ls ").strip()
        match = _ROOTS[3].fullmatch(path)
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
    return tuple(read(IMAGES / "ascend_chips.toml", Chips, Chip).chips)


def chip(generation: str | None) -> Chip | None:
    """How the kernels for a generation are called; None where that is not known."""
    return next((one for one in chips() if one.generation == generation), None)


def generation(cards: Iterable[pci.Device]) -> str | None:
    """The generation of the Huawei cards on the bus; None where it is not known or not one."""
    huawei = {vendor.id for vendor in pci.catalogue().vendors if vendor.device == "npu"}
    known = {card.generation for card in cards if card.vendor in huawei}
    return known.pop() if len(known) == 1 else None


def _is_toolkit(file: VersionFile, output: Output) -> bool:
    """Whether a version file is that of a toolkit."""
    if file.kind == "cann install.info":
        return bool(re.fullmatch(r"Ascend-cann-toolkit", file.package or "", re.I))
    return bool(_ROOTS[1].fullmatch(output.source))


def _root(path: str, file: VersionFile) -> str:
    """The folder of the toolkit to which a file belongs, by the file's place, else by its text."""
    matches = (pattern.fullmatch(path) for pattern in _ROOTS)
    if match := next(filter(None, matches), None):
        return match["root"]
    return re.sub(r"/(?:x86_64|aarch64|arm64)-linux/?$", "", file.path or path)


def _layout(root: str) -> Layout:
    path = PurePosixPath(root)
    if "ascend-toolkit" in path.parts:
        return "old"
    return "new" if re.fullmatch(r"cann(?:-.+)?", path.name) else ""


def _within(path: str, folder: str) -> bool:
    return PurePosixPath(path).is_relative_to(folder)


def _by_link(root: str, path: str) -> bool:
    """Whether a path leads through the `latest` or `cann` beside a toolkit's own folder."""
    place = PurePosixPath(root).parent
    return any(_within(path, str(place / name)) for name in ("latest", "cann"))
