"""What is written about versions that go together, where one of them is known."""

from __future__ import annotations

from provision import pairs


def rows(kind: str, generation: str | None = None) -> list[pairs.Row]:
    """All pairs of a kind that are known to go together, with cards of this generation."""
    good = (row for row in pairs.rows() if row.kind == kind and row.state != "fails")
    return [row for row in good if pairs.is_for(row, generation)]


def names(row: pairs.Row, name: str, version: str) -> bool:
    """Whether a row lists this version."""
    return pairs.listed(version, row.versions.get(name, []))


def naming(kind: str, name: str, version: str, generation: str | None = None) -> list[pairs.Row]:
    """The pairs in which this version is known to work."""
    return [row for row in rows(kind, generation) if names(row, name, version)]


def all_of(found: list[pairs.Row], name: str) -> list[str]:
    """The versions of one name that rows list, each once."""
    return list(dict.fromkeys(one for row in found for one in row.versions.get(name, [])))
