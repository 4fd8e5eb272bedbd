"""JSON in a saved text, with or without other lines around it; values taken only as their type."""

from __future__ import annotations

import json
import re
from typing import Any

_START = re.compile(r"\s*(?:\[\s*(?:\{|$)|\{\s*(?:\"|$))")


def documents(lines: list[str]) -> list[Any]:
    """The first JSON document of a text, none when there is none."""
    starts = [i for i, line in enumerate(lines) if _START.match(line)]
    for start in starts[:5]:
        try:
            return [json.JSONDecoder().raw_decode("\n".join(lines[start:]).lstrip())[0]]
        except (ValueError, RecursionError):
            continue
    return []


def mapping(value: Any) -> dict[str, Any]:
    """A JSON object, empty for anything else."""
    return value if isinstance(value, dict) else {}


def array(value: Any) -> list[Any]:
    """A JSON array, empty for anything else."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str | None:
    """A JSON string that is not empty."""
    return value if isinstance(value, str) and value else None
