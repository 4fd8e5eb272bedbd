"""What tools and files of two machines said, made comparable by what they say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from provision.facts.outputs import parsed
from provision.facts.questions import Output

# Measured values: of two machines, and of one at two times, they differ anyway. Then what says a
# thing twice: `fields` is the whole of a file whose values stand beside it.
VOLATILE = re.compile(
    r"temp|usage|utili[sz]|percent|(?:^|[ _])used|used$|free|avail|^pid$|process|power_w$|\(w\)|"
    r"cur(?:rent)?[ _]|consum|mhz|clock|freq|volt|time|date|bandwidth|rpm|rate ?\(%\)|goroutines|"
    r"^containers|^generations$|^fields$",
    re.I,
)
# What other facts say already, whether collected or read from such an output.
_FACTS = {
    "lspci", "uname", "os-release", "ldd --version", "/proc/meminfo", "free", "df", "id",
    "ulimit -a", "env", "lsmod", "pip list", "python --version", "device nodes", "kernel module",
}  # fmt: skip
_STAMP = re.compile(r"^(?:<\d+>)?\[[^\]]*\] *|^\w{3} [ \d]\d [\d:]{8} \S+ ")


def comparable(outputs: Iterable[Output]) -> dict[str, Any]:
    """The answers by what they are: a kind of output, with its source where there are several.

    Of an output that no parser knows the lines are compared.
    """
    found: list[tuple[str, str, Any]] = []
    for output in outputs:
        parts = [part for part in parsed(output) if part.kind not in _FACTS]
        found += [(part.kind, output.source, _settled(msgspec.to_builtins(part))) for part in parts]
        if not parsed(output):
            found.append((output.source, output.source, _raw(output)))
    kinds = [kind for kind, _, _ in found]
    return {kind if kinds.count(kind) == 1 else f"{kind} ({source})": value
            for kind, source, value in found}  # fmt: skip


def _raw(output: Output) -> dict[str, Any]:
    """An output as its lines, and why there are none."""
    lines = [line.strip() for line in output.text.splitlines() if line.strip()]
    return {"problem": output.problem, "status": output.status, "lines": lines}


def _settled(value: Any) -> Any:
    """A value without measured ones; lines of a log without their times."""
    if isinstance(value, dict):
        return {key: _settled(one) for key, one in value.items() if not VOLATILE.search(str(key))}
    if isinstance(value, list):
        return [_settled(one) for one in value]
    return _STAMP.sub("", value) if isinstance(value, str) else value
