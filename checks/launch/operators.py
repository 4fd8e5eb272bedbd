"""The operators that a recipe keeps from the device, against those of the installed Paddle."""

from __future__ import annotations

import difflib
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from provision.words import text

LIST = "CUSTOM_DEVICE_BLACK_LIST"
_PATIENCE = 300  # seconds that `import paddle` may take
_OPERATORS = "from paddle.base import core; print('OPS', *core.get_all_op_names())"


def unknown(value: str, python: Path, variables: Mapping[str, str]) -> Iterator[str]:
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
