"""What a compile prints: how far it is, its warnings as a number, and the first error."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from provision.amounts import duration
from provision.words import text

# Of ninja `[3/17]`, of make `[ 17%]`, without a number of files.
_COUNT = re.compile(r"^\[ *(\d+)(?:/(\d+)|%)\]")
# gcc, clang, ld, cmake, Python; each with the word in its usual place. What ninja adds is a command
# of thousands of characters.
_ERROR = re.compile(
    r"(?:\bfatal error: |(?:^|: |\s)error: |^CMake Error|undefined reference to "
    r"|^\w*(?:Error|Exception): |symbol lookup error|cannot find -l)"
)
# The compiler and the linker name who warns before the word; setuptools does not.
_WARNING = re.compile(r": warning: ")
# What gcc says of a compiler that the kernel has killed, and what the tools say of memory, each in
# its usual place: code and paths may have the same words. A full TLS block is another matter.
_MEMORY = re.compile(
    r"Killed signal terminated program|internal compiler error: Killed|virtual memory exhausted"
    r"|[Cc]annot allocate memory(?! in static TLS)|(?:^|: )out of memory\b"
    r"|(?:instance of '|what\(\):\s+)std::bad_alloc|\bld terminated with signal 9|code 137\b"
    r"|^g?make.*\] (?:Error 137|Killed)$"
)
_SHOWN = 12  # lines of the first error


@dataclass
class Watch:
    """Listens to the lines of a compile; `show` gets a short line for each that tells progress."""

    show: Callable[[str], None]
    warnings: int = 0
    is_memory: bool = False
    error: list[str] = field(default_factory=list)
    done: int = 0
    total: int = 0
    _began: float = field(default_factory=time.monotonic)

    def line(self, line: str) -> None:
        """One line of output."""
        if count := _COUNT.match(line):
            self.done, self.total = int(count[1]), int(count[2] or 100)
            self.show(self.progress())
        self.warnings += bool(_WARNING.search(line))
        self.is_memory = self.is_memory or bool(_MEMORY.search(line))
        if len(self.error) < _SHOWN and (self.error or _ERROR.search(line)):
            self.error.append(line)

    def progress(self) -> str:
        """`123/342, 2 min left`: by the time that each has taken so far; of make in percent."""
        if not self.done or self.done == self.total:
            return f"{self.done}/{self.total}"
        left = (time.monotonic() - self._began) / self.done * (self.total - self.done)
        return text("compile.left", done=self.done, total=self.total, time=_coarse(left))


def _coarse(seconds: float) -> str:
    """An estimate: whole minutes, below that tens of seconds."""
    minute = 60
    return duration(round(seconds / minute) * minute or 10 * max(1, round(seconds / 10)))
