"""What goes with a wheel: how it was made, and what is in it."""

from __future__ import annotations

from pathlib import Path


def statement_beside(wheel: Path) -> Path:
    """Where the statement about a wheel is."""
    return wheel.with_name(f"{wheel.name}.intoto.json")


def bill_beside(wheel: Path) -> Path:
    """Where the bill of a wheel is."""
    return wheel.with_name(f"{wheel.name}.cdx.json")
