"""Are operator kernels there for the chip of the cards, of the version of the toolkit?"""

from __future__ import annotations

from checks.machine.cann import generation, shown, toolkit
from checks.machine.finding import Check, Evidence, Finding, UnreadError, known, names
from provision import versions
from provision.facts import ascend, ascend_kernels
from provision.facts.ascend import Toolkit
from provision.facts.ascend_kernels import Chip, Kernels
from provision.facts.folders import Folder
from provision.facts.questions import Output
from provision.facts.snapshot import Facts

_NONE = "https://github.com/hiyouga/LlamaFactory/issues/4610 (561000)"
_OTHER = "https://github.com/vllm-project/vllm-ascend/issues/4859 (561103)"


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    tool = toolkit(facts)
    tools = ascend.toolkits(outputs)
    packages = [one for one in ascend_kernels.kernels(outputs) if _of(tools, one.root) == tool]
    listed = [(there, output) for root, there, output in ascend_kernels.kernel_folders(outputs)
              if _of(tools, root) == tool]  # fmt: skip
    folders = sorted({name for there, _ in listed for name in there})
    evidence = [*map(_package, packages), *_folders(folders, [one for _, one in listed])]
    values = {"cann": tool.version, "generation": generation(facts) or "?"}
    if not packages and not folders:
        if not listed:
            raise UnreadError("no version file of operator kernels, and no list of their folders")
        return Finding("error", "none", values, [shown(tool), *evidence], source=_NONE)
    if bad := _bad(facts, tool, packages, folders):
        case, more = bad
        source = f"{_NONE}; {_OTHER}"
        return Finding("error", case, values | more, [shown(tool), *evidence], source=source)
    return Finding("ok", evidence=evidence if folders else [*map(_package, packages)])


def _bad(
    facts: Facts, tool: Toolkit, packages: list[Kernels], folders: list[str]
) -> tuple[str, dict[str, str]] | None:
    """What is wrong with the kernels that are there, and what is said of it."""
    wanted = ascend_kernels.chip(generation(facts))
    if wanted and not _fits(wanted, packages, folders):
        there = folders or [one.chip for one in packages if one.chip]
        return "chip", {"there": names(there), "wanted": wanted.folders[0]}
    odd = next((one for one in packages if _differs(one, tool)), None)
    return ("version", {"kernels": odd.version or "?"}) if odd else None


def _of(tools: list[Toolkit], root: str) -> Toolkit | None:
    """Whose folder it is, by itself or through `latest` or `cann`."""
    return ascend.owner(tools, Folder("", root, None))


def _fits(wanted: Chip, packages: list[Kernels], folders: list[str]) -> bool:
    """Whether kernels for a chip are among those that are there, as far as that is told."""
    if folders:
        return any(name in wanted.folders for name in folders)
    chips = [one.chip for one in packages if one.chip]
    return not chips or any(chip in wanted.packages for chip in chips)


def _differs(package: Kernels, tool: Toolkit) -> bool:
    """Whether kernels are of another version than the toolkit; not where that is not known."""
    return package.version is not None and (
        versions.same_release(package.version, tool.version) is False
    )


def _package(package: Kernels) -> Evidence:
    words = ("kernels", package.chip, package.version)
    return Evidence(" ".join(word for word in words if word), package.output.source)


def _folders(folders: list[str], outputs: list[Output]) -> list[Evidence]:
    """The folders of kernels, or the line that says that there are none."""
    if folders:
        return [Evidence(", ".join(folders), outputs[0].source)]
    lines = [(output.text.strip().splitlines() or ["empty"])[0] for output in outputs]
    return [Evidence(line, one.source) for line, one in zip(lines, outputs, strict=True)]


CHECK = Check(
    "cann-kernels",
    _run,
    needs=("accelerator-generation", "cann-installed", "cann-several"),
    devices=("npu",),
)
