"""What the last lines of a failed step say about its class.

Each row: a pattern of the installer's or system's own words -> an error code. The first row that
matches wins, so what is certain stands before what is likely.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

SYMPTOMS: Final[tuple[tuple[str, str], ...]] = (
    (r"No space left on device|os error 28\b|Disk quota exceeded", "disk-full"),
    (r"Read-only file system|os error 30\b|Permission denied|os error 13\b", "read-only"),
    (r"^paddock: (Not a directory|File exists|File name too long)", "read-only"),
    (r"^paddock: (not the published file|refused):", "download-refused"),
    (r"list of missing tools", "tools-missing"),
    (r"^paddock: no end after", "step-hangs"),
    (r"^paddock: not the file of the plan", "package-unsound"),
    (r"Error in (SHA256|MD5|check)\w*|Unexpected archive size|Checksums do not", "package-unsound"),
    (r"(device|card|driver|davinci)\b.*\b(is )?(busy|in use|occupied)\b", "card-busy"),
    (r"Hash mismatch|hashes do not match|DO NOT MATCH THE HASHES", "wrong-hash"),
    (r"invalid peer certificate|UnknownIssuer|CERTIFICATE_VERIFY_FAILED", "bad-certificate"),
    (r"^paddock: no download:", "download-failed"),
    (r"network was disabled|network connectivity is disabled|--offline", "offline-missing"),
    (r"dns error|Temporary failure (in name resolution|resolving)|Could not resolve", "no-network"),
    (r"error sending request|Connection (refused|reset|timed out)|Failed to fetch", "no-network"),
    (r"Network is unreachable|operation timed out|tcp connect error", "no-network"),
    (r"Failed to connect to \S+ port|Couldn't connect to server", "no-network"),
    (r"(NewConnection|ConnectTimeout|ReadTimeout|Proxy|Protocol)Error", "no-network"),
    (r"Max retries exceeded|Read timed out|No route to host|Name or service not", "no-network"),
    (r"(g\+\+|c\+\+|CXX|C\+\+ compiler).*(not found|No such file|No CMAKE)", "no-compiler"),
    (r"No CMAKE_CXX_COMPILER could be found", "no-compiler"),
)


def classify(lines: Iterable[str]) -> str:
    """The code of the first row found in these lines; `step-failed` where none is."""
    joined = "\n".join(lines)
    found = (code for pattern, code in SYMPTOMS if re.search(pattern, joined, re.MULTILINE))
    return next(found, "step-failed")
