"""Version provider of the build: the wheel has the version of the Paddle that it is for."""

from __future__ import annotations

import os

__all__ = ["dynamic_metadata"]


def dynamic_metadata(field: str, settings: dict[str, object] | None = None) -> str:
    """Return the environment variable PADDLE_VERSION; SystemExit when it is not set."""
    if field != "version" or settings:
        raise SystemExit(f"only the version can be asked for, without settings; got {field!r}")
    version = os.environ.get("PADDLE_VERSION")
    if not version:
        raise SystemExit("Set the environment variable PADDLE_VERSION (see README.md)")
    return version
