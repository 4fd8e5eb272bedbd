"""Versions newer than the pins that stay, since the person agreed."""

from __future__ import annotations

import json
from collections.abc import Mapping

from provision.files import put_whole
from provision.site import Site


def agreed(site: Site) -> dict[str, str]:
    """The agreed version of each step."""
    try:
        content = json.loads(site.kept.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def agree(site: Site, versions: Mapping[str, str]) -> None:
    """Remember these versions."""
    site.kept.parent.mkdir(parents=True, exist_ok=True)
    put_whole(site.kept, json.dumps({**agreed(site), **versions}).encode())
