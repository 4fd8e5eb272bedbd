"""What is written about versions that go together, where one of them is known."""

from __future__ import annotations

from provision import pairs, versions


def rows(kind: str) -> list[pairs.Row]:
    """All pairs of a kind that are known to go together."""
    return [row for row in pairs.rows() if row.kind == kind and row.state != "fails"]


def names(row: pairs.Row, name: str, version: str) -> bool:
    """Whether a row lists this version."""
    return any(versions.same_release(version, one) for one in row.versions.get(name, []))


def all_of(found: list[pairs.Row], name: str) -> str:
    """The versions of one name that rows list, each once, as a sentence shows them."""
    return ", ".join(dict.fromkeys(one for row in found for one in row.versions.get(name, [])))
