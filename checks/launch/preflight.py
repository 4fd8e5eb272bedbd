"""What has to be so before a recipe starts: each thing that is not is one line for the user."""

from __future__ import annotations

import contextlib
import difflib
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from checks import hccl_settings
from checks.finding import gib
from checks.launch.wish import Filled
from provision.facts import disk, nodes
from provision.facts.visible import numbers
from provision.words import text

NODES = {"npu": "/dev/davinci*", "gcu": "/dev/gcu*"}  # as in images/device_nodes.toml
# The ports that HCCL takes: so many from HCCL_IF_BASE_PORT on (hiascend.com, CANN 8.0.0).
_BASE, _PORTS = "60000", 16
_LISTEN = "0A"  # in /proc/net/tcp
_WEIGHT = 2  # bytes of a parameter in bfloat16 or float16
# Bytes of a parameter's optimizer state in a checkpoint: float32 master weight and two moments.
_STATE = 12
_ADAPTER = 1 << 30  # bytes: a LoRA adapter of rank 32 is far below
_PATIENCE = 300  # seconds that `import paddle` may take
_OPERATORS = "from paddle.base import core; print('OPS', *core.get_all_op_names())"
_LIST = "CUSTOM_DEVICE_BLACK_LIST"


def missing(
    filled: Filled, device: str, python: Path, variables: Mapping[str, str], root: Path = Path("/")
) -> list[str]:
    """What is missing, a line each; `python` has the stack, `root` is the prefix of /dev."""
    given = {**variables, **filled.environment}
    return [
        *_files(filled), *_cards(filled, device, root), *_disk(filled),
        *(_hccl(given) if device == "npu" and filled.recipe.launcher else ()),
        *operators(given.get(_LIST, ""), python, variables),
    ]  # fmt: skip


def _files(filled: Filled) -> Iterator[str]:
    """The program, what it reads, and the files that set its variables."""
    recipe, folder = filled.recipe, filled.folder
    if not (folder / recipe.program).is_file():
        yield text("launch.pre.program", path=f"{recipe.folder}/{recipe.program}")
    for name in recipe.needs:
        if not (folder / name).exists():
            yield text("launch.pre.needs", path=folder / name)
    for files in recipe.setup:
        if not any(Path(file).is_file() for file in files):
            yield text("launch.pre.setup", files=", ".join(files))


def _cards(filled: Filled, device: str, root: Path) -> Iterator[str]:
    """Each card needs its device node."""
    there = numbers(nodes.collect(root), NODES[device])
    for card in filled.cards:
        if card not in there:
            shown = ", ".join(map(str, there)) or "-"
            yield text("launch.pre.cards", card=card, there=shown)


def _hccl(given: Mapping[str, str]) -> Iterator[str]:
    """HCCL's variables have to go together, and its ports to be free."""
    own = {name: value for name, value in given.items() if name.startswith("HCCL_")}
    for found in hccl_settings.problems(own):
        if found.state == "error":
            line = ", ".join(one.line for one in found.evidence)
            allowed = str(found.values.get("allowed") or found.source)
            yield text("launch.pre.hccl", line=line, allowed=allowed)
    base = own.get("HCCL_IF_BASE_PORT") or _BASE
    wanted = range(int(base), int(base) + _PORTS) if base.isdigit() else ()
    for port in sorted(_listening().intersection(wanted)):
        yield text("launch.pre.port", port=port)


def _listening() -> set[int]:
    """The ports on which somebody listens; those of connections that come and go do not count."""
    found = set()
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            rows = Path("/proc/net", name).read_text(encoding="ascii").splitlines()[1:]
            fields = (row.split() for row in rows)
            found |= {int(own.rpartition(":")[2], 16) for _, own, _, state, *_ in fields
                      if state == _LISTEN}  # fmt: skip
    return found


def wanted_bytes(filled: Filled) -> int:
    """What the checkpoints of a run take: its weights, and the optimizer's state where it saves."""
    recipe, arguments = filled.recipe, filled.arguments
    if not recipe.saved:
        return 0
    if recipe.saved == "adapter":
        return _ADAPTER
    steps, each = int(arguments.get("max_steps", 0)), int(arguments.get("save_steps", 0))
    saves = steps // each if each else 0
    return recipe.parameters * (_WEIGHT + (_WEIGHT + _STATE) * saves)


def _disk(filled: Filled) -> Iterator[str]:
    """Room for the checkpoints where the recipe writes them."""
    target = filled.arguments.get("output_dir") or filled.recipe.exported
    wanted = wanted_bytes(filled)
    if target and wanted:
        room = disk.room("output", filled.folder / target)
        if room.free < wanted:
            values = {"free": gib(room.free), "path": room.path, "wanted": gib(wanted)}
            yield text("launch.pre.disk", **values)


def operators(value: str, python: Path, variables: Mapping[str, str]) -> Iterator[str]:
    """Names on the black list that the installed Paddle does not have; it ignores such names.

    Paddle wants its legacy names there (`softmax_with_cross_entropy`, `matmul_v2`), not those of
    its kernels; measured with paddlepaddle 3.x. It is asked in a process of its own.
    """
    names = [name.strip() for name in value.split(",") if name.strip()]
    if not names:
        return
    try:
        done = subprocess.run(
            [python, "-c", _OPERATORS], env=dict(variables), capture_output=True, text=True,
            timeout=_PATIENCE, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        answer = [line for line in done.stdout.splitlines() if line.startswith("OPS ")]
        reason = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
    except (OSError, subprocess.TimeoutExpired) as error:
        answer, reason = [], str(error)
    if not answer:
        yield text("launch.pre.operators-unread", reason=reason)
        return
    known = answer[-1].split()[1:]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = text("nearest", name=near[0]) if near else ""
            yield text("launch.pre.operator", name=name, hint=hint)
