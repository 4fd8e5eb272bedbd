"""Values of a saved output as plain lines: rows of a table, and names with their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from provision.columns import left, width
from provision.facts.texts.npu_errors import codes
from provision.words import language

Row = dict[str, Any]
_HEAD = ("schema", "file", "kind", "more", "generations")


def part_lines(part: Row) -> Iterator[str]:
    """One part: its plain values, then each of its lists as a table. What is empty is left out."""
    for name, value in part.items():
        if name in _HEAD or value in (None, [], {}):
            continue
        if isinstance(value, list) and isinstance(value[0], dict):
            rows = _rows(part, name)
            blocks = any(isinstance(one, dict) for row in rows for one in row.values())
            yield from _blocks(name, rows) if blocks else _table(name, rows)
        elif isinstance(value, dict):
            yield from _pairs(name, value)
        else:
            yield f"  {name}  {_word(value)}"


def _rows(part: Row, name: str) -> list[Row]:
    """The rows of a list; what belongs to them but stands elsewhere is put beside them."""
    rows: list[Row] = part[name]
    if name == "cards" and part.get("generations"):
        pairs = zip(rows, part["generations"], strict=True)
        return [{**row, "generation": generation} for row, generation in pairs]
    if part["kind"] == "npu-smi error" and language() == "zh":
        known = [codes().get(row["code"]) for row in rows]
        return [{**row, "meaning": code.zh if code else None}
                for row, code in zip(rows, known, strict=True)]  # fmt: skip
    return rows


def _table(name: str, rows: Sequence[Row]) -> Iterator[str]:
    """Rows below the names of their columns; a column that is empty in all is left out."""
    flat = [one for row in rows for one in _flat(row)]
    names = list(dict.fromkeys(key for row in flat for key in row))
    names = [key for key in names if any(row.get(key) is not None for row in flat)]
    lines = [names, *([_word(row.get(key)) for key in names] for row in flat)]
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    yield f"  {name}: {len(rows)}"
    for line in lines:
        yield "    " + "  ".join(map(left, line, widths)).rstrip()


def _flat(row: Row) -> list[Row]:
    """A row for each row of the list inside it, or the row itself."""
    plain = {key: value for key, value in row.items() if not isinstance(value, list)}
    inner = [one for value in row.values() if isinstance(value, list) for one in value]
    return [{**plain, **one} for one in inner if isinstance(one, dict)] or [row]


def _blocks(name: str, rows: Sequence[Row]) -> Iterator[str]:
    """Rows with values by the tool's own labels: a paragraph each."""
    yield f"  {name}: {len(rows)}"
    for row in rows:
        plain = {key: one for key, one in row.items() if one is not None and one != []}
        labels = [(key, one) for key, one in plain.items() if not isinstance(one, dict)]
        yield "    " + "  ".join(f"{key} {_word(one)}" for key, one in labels)
        for values in (one for one in plain.values() if isinstance(one, dict)):
            yield from (f"    {line}" for line in _lines(values))


def _pairs(name: str, values: Row) -> Iterator[str]:
    """A dictionary, a line each."""
    yield f"  {name}:"
    yield from (f"    {line}" for line in _lines(values))


def _lines(values: Row) -> Iterator[str]:
    """A name and its value, a line each."""
    widest = max((width(str(key)) for key in values), default=0)
    for key, value in values.items():
        yield f"{left(str(key), widest)}  {_word(value)}"


def _word(value: Any) -> str:
    """A value on one line; a dash for what the text does not say."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_word(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_word, value))
    return "-" if value is None else " ".join(str(value).split())
