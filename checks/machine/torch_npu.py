"""Does torch_npu, where it is installed beside Paddle, fit its torch, CANN and Triton?"""

from __future__ import annotations

import re

from checks.machine import documented
from checks.machine.cann import folders
from checks.machine.finding import APART, Check, Evidence, Finding, known, present
from provision import pairs, versions
from provision.facts import ascend
from provision.facts.installed import Environment
from provision.facts.snapshot import Facts, Unread

_NPU = "torch-npu"
_KIND = "torch_npu+cann"
_AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
_LOADING = "2.5"  # the first torch that loads its backends by itself
_SAME = "torch_npu's metadata: torch==the same version"
_CUDA = "torch_npu/__init__.py: Two accelerators cannot be used at the same time"
_TRITON = "triton-ascend FAQ: both are installed as the folder `triton`"
_LOADS = "https://github.com/flagos-ai/FlagCX/issues/451; reproduced with torch 2.13.0"


def _run(facts: Facts) -> Finding:
    there = present(facts.environment)
    if _NPU not in there.packages:
        return APART
    cann = _cann(facts)
    found = _torch(there) or _cuda(there) or _triton(there) or _loads(facts, there, cann)
    return found or _pair(there, cann)


def _torch(there: Environment) -> Finding | None:
    """Another torch than the one that it is made for, or none."""
    torch, npu = there.packages.get("torch"), there.packages[_NPU]
    wanted = re.match(r"\d+(?:\.\d+)*", npu)
    values = {"npu": npu, "torch": torch or "-", "wanted": wanted[0] if wanted else npu}
    if torch is None:
        return Finding("error", "torch-missing", values, _shown(there), source=_SAME)
    if wanted and versions.begins(torch, wanted[0]) is False:
        return Finding("error", "torch-other", values, _shown(there), source=_SAME)
    return None


def _cuda(there: Environment) -> Finding | None:
    """A torch that was built for CUDA."""
    torch = there.packages["torch"]
    cuda = [name for name in there.packages if re.fullmatch(r"nvidia-cublas(?:-cu\d+)?", name)]
    if not re.search(r"\+cu\d", torch) and not cuda:
        return None
    evidence = [*_shown(there), *(Evidence(name, there.python) for name in cuda)]
    return Finding("warning", "cuda", {"torch": torch}, evidence, source=_CUDA)


def _triton(there: Environment) -> Finding | None:
    """Two Tritons in one folder, of which the one that came last has broken the other."""
    both = [name for name in ("triton", "triton-ascend") if name in there.packages]
    if len(both) < 2:  # noqa: PLR2004
        return None
    evidence = [Evidence(f"{name} {there.packages[name]}", there.python) for name in both]
    return Finding("warning", "triton", {}, evidence, source=_TRITON)


def _loads(facts: Facts, there: Environment, cann: str | None) -> Finding | None:
    """An `import torch` that fails, as torch_npu is loaded with it and finds no CANN."""
    torch = there.packages["torch"]
    given = {} if isinstance(facts.variables, Unread) else facts.variables
    by_itself = versions.compare(torch, _LOADING) in (0, 1) and given.get(_AUTOLOAD) != "0"
    if cann or facts.sent or not by_itself:
        return None
    command = f"export {_AUTOLOAD}=0"
    return Finding("warning", "autoload", {"torch": torch}, _shown(there), command, _LOADS)


def _pair(there: Environment, cann: str | None) -> Finding:
    """The version against CANN's."""
    npu = there.packages[_NPU]
    verdict = pairs.judge(_KIND, {"torch_npu": npu, "cann": cann or ""})
    listed = documented.all_of(documented.naming(_KIND, "torch_npu", npu), "cann")
    if cann is None or verdict.state in ("documented", "observed") or not listed:
        return Finding("ok", evidence=_shown(there))
    values = {"npu": npu, "cann": cann, "known": ", ".join(listed)}
    evidence = [*_shown(there), Evidence(f"CANN {cann}", "version files")]
    source = verdict.row.source if verdict.row else "Ascend/pytorch COMPATIBILITY.en.md"
    return Finding("warning", "cann", values, evidence, source=source)


def _cann(facts: Facts) -> str | None:
    """The version of the CANN in force; None for none."""
    tool = ascend.in_force(ascend.toolkits(known(facts.outputs)), folders(facts))
    return tool.version if tool else None


def _shown(there: Environment) -> list[Evidence]:
    """The versions of torch and torch_npu."""
    return [Evidence(f"{name} {there.packages[name]}", there.python)
            for name in ("torch", _NPU) if name in there.packages]  # fmt: skip


CHECK = Check("torch-npu", _run, needs=("environment-python",), devices=("npu",))
