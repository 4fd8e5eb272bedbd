"""The CANN toolkits of a machine, and which of them the paths in force lead to.

Layouts, by the vendor's installers: up to CANN 8.3 `ascend-toolkit/VERSION` beside a folder
`latest`, from 8.5 on `cann-VERSION` beside a link `cann`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from provision.facts.folders import Folder
from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.texts.versions import VersionFile

# Where the installers put things, seen from the folder of one toolkit.
_RUNTIME = re.compile(r"(?P<root>/.+)/share/info/runtime/version\.info")
_ROOTS = (
    re.compile(r"(?P<root>/.+)/(?:x86_64|aarch64|arm64)-linux/[^/]+\.info"),
    re.compile(r"(?P<root>/.+/nn(?:ae|rt)/[^/]+)/ascend_nn(?:ae|rt)_install\.info"),
    _RUNTIME,
    re.compile(r"(?P<root>/.+)/opp_kernel/version\.info"),
)
_PACKAGES = re.compile("Ascend-cann-(?:toolkit|nnae|nnrt)", re.I)  # what brings the runtime along
HOMES = ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH")
Layout = Literal["old", "new", ""]


class Toolkit(msgspec.Struct, frozen=True):
    """A CANN toolkit, or one of the smaller packages with its runtime (nnae, nnrt).

    `root` is its real folder, `spelled` the way by which it was found.
    """

    version: str
    root: str
    spelled: str
    layout: Layout
    output: Output


def toolkits(outputs: Iterable[Output]) -> list[Toolkit]:
    """The CANN toolkits, each once, in the order in which they were found."""
    made: dict[str, Toolkit] = {}
    for file, output in found(outputs, VersionFile):
        if file.version and _is_toolkit(file, output):
            real = root_of(output.real or output.source, file)
            spelled = root_of(output.source, file)
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
    named = [one for name in HOMES for one in folders if one.variable == name and one.real]
    return next(filter(None, (owner(tools, folder) for folder in named)), None)


def owner(tools: Sequence[Toolkit], folder: Folder) -> Toolkit | None:
    """The toolkit to which a folder belongs: by where it really is, else by its path."""
    real = [tool for tool in tools if folder.real and _within(folder.real, tool.root)]
    named = [tool for tool in tools if _within(folder.path, tool.spelled)]
    plain = [tool for tool in tools if _within(folder.path, tool.root)]
    if sure := [*real, *plain, *named]:
        return sure[0]
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


def root_of(path: str, file: VersionFile) -> str:
    """The folder of the toolkit to which a file belongs, by the file's place, else by its text."""
    matches = (pattern.fullmatch(path) for pattern in _ROOTS)
    if match := next(filter(None, matches), None):
        return match["root"]
    return re.sub(r"/(?:x86_64|aarch64|arm64)-linux/?$", "", file.path or path)


def _is_toolkit(file: VersionFile, output: Output) -> bool:
    """Whether a version file is that of a toolkit."""
    if file.kind == "cann install.info":
        return bool(_PACKAGES.fullmatch(file.package or ""))
    return bool(_RUNTIME.fullmatch(output.source))


def _layout(root: str) -> Layout:
    path = PurePosixPath(root)
    if path.parent.name in ("ascend-toolkit", "nnae", "nnrt"):
        return "old"
    return "new" if re.fullmatch(r"cann(?:-.+)?", path.name) else ""


def _within(path: str, folder: str) -> bool:
    return PurePosixPath(path).is_relative_to(folder)


def _by_link(root: str, path: str) -> bool:
    """Whether a path leads through the `latest` or `cann` beside a toolkit's own folder."""
    place = PurePosixPath(root).parent
    return any(_within(path, str(place / name)) for name in ("latest", "cann"))
