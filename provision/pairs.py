"""Which versions go together: what vendors and projects document, and what was seen."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from provision.document import Table, tables
from provision.paths import IMAGES
from provision.versions import begins, compare, same_release, within

# What the versions of each kind of pair are called; `tops` is TopsRider, or TopsPlatform before it.
KINDS = (
    "driver+cann",
    "driver+firmware",
    "paddle+plugin+cann",
    "paddle+plugin+tops+driver",
    "torch_npu+cann",
    "torch+python",
)
State = Literal["documented", "observed", "fails", "unlisted", "older", "newer"]
_NEAREST = 3  # rows shown of each sort
_LOWEST_FIRMWARE = "6.4"


class Row(Table, frozen=True):
    """A row of `images/pairs.toml`: versions that go together, or, for `fails`, that do not.

    `versions` has, for each name, those that the source lists; `25.5.x` is all that begins with
    25.5. `minimum` is the lowest of a list that is complete. `generation` is the only one that the
    source speaks of, as `images/accelerators.toml` calls it.
    """

    kind: str
    state: Literal["documented", "observed", "fails"]
    versions: dict[str, list[str]]
    source: str
    seen: str
    generation: str | None = None
    minimum: dict[str, str] = msgspec.field(default_factory=dict)


class Verdict(msgspec.Struct, frozen=True):
    """What is known about some versions together, and the row that says so.

    `silent` are the given names that the row says nothing about. Without a row that holds,
    `nearest` are those that hold for a part of the versions, the best first.
    """

    state: State
    row: Row | None = None
    nearest: tuple[Row, ...] = ()
    silent: tuple[str, ...] = ()


@functools.cache
def rows() -> tuple[Row, ...]:
    """All rows, in the order of the file."""
    return tuple(tables(IMAGES / "pairs.toml", "pairs", Row))


def judge(kind: str, versions: Mapping[str, str | None], generation: str | None = None) -> Verdict:
    """What is known about `versions`, which has at least two of the names of a kind (see KINDS).

    Rows for another generation than a given one do not count. `older` and `newer` are said of a
    version below or above all that a complete list has. Raises ValueError for an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(kind)
    given = {name: value for name in kind.split("+") if (value := versions.get(name))}
    fitting = [row for row in rows() if row.kind == kind and is_for(row, generation)]
    holding = [row for row in fitting if _holds(row, given)]
    if holding:
        best = min(holding, key=lambda row: _rank(row, given))
        silent = tuple(name for name in given if name not in best.versions)
        return Verdict(best.state, best, silent=silent)
    outside = {answer for row in fitting if (answer := _outside(row, given))}
    state: State = outside.pop() if len(outside) == 1 else "unlisted"
    return Verdict(state, nearest=_nearest(fitting, given))


def firmware_fits(
    driver: str,
    firmware: str,
    driver_ranges: Iterable[tuple[str, str]],
    firmware_ranges: Iterable[tuple[str, str]],
) -> bool | None:
    """Whether a driver and a firmware go together, by the ranges of their two version files.

    As the driver itself decides (hicann/driver, `dcmi_get_device_compatibility`): it is enough that
    one file names the other's version, and firmware before 6.4 never fits. None: not known.
    """
    if compare(firmware, _LOWEST_FIRMWARE) == -1:
        return False
    answers = (within(firmware, driver_ranges), within(driver, firmware_ranges))
    if True in answers:
        return True
    return None if None in answers else False


def is_for(row: Row, generation: str | None) -> bool:
    """Whether a row speaks of a generation; where either is not known, it may."""
    return generation is None or row.generation in (None, generation)


def listed(version: str, listed: Iterable[str]) -> bool:
    """Whether a version is one of a row's."""
    return any(
        begins(version, one[:-2]) if one.endswith(".x") else same_release(version, one)
        for one in listed
    )


def _agreeing(row: Row, given: Mapping[str, str]) -> frozenset[str]:
    """The names whose versions are the row's."""
    shared = row.versions.keys() & given.keys()
    return frozenset(name for name in shared if listed(given[name], row.versions[name]))


def _holds(row: Row, given: Mapping[str, str]) -> bool:
    """Whether a row speaks of these versions; one about a failure must know all that it names."""
    shared = row.versions.keys() & given.keys()
    needed = len(row.versions) if row.state == "fails" else 2
    return len(shared) >= needed and _agreeing(row, given) == shared


def _rank(row: Row, given: Mapping[str, str]) -> tuple[int, int]:
    """How much a row says: a failure first, a document before an observation, more names first."""
    order = ("fails", "documented", "observed")
    return order.index(row.state), -len(_agreeing(row, given))


def _outside(row: Row, given: Mapping[str, str]) -> Literal["unlisted", "older", "newer"] | None:
    """Where a version lies that alone keeps a complete list from holding."""
    shared = row.versions.keys() & given.keys()
    wrong = shared - _agreeing(row, given)
    if len(wrong) != 1 or len(shared) < 2 or not wrong <= row.minimum.keys():  # noqa: PLR2004
        return None
    (name,) = wrong
    if compare(given[name], row.minimum[name]) == -1:
        return "older"
    above = [compare(given[name], one.removesuffix(".x")) for one in row.versions[name]]
    return "newer" if set(above) == {1} else "unlisted"


def _nearest(fitting: Iterable[Row], given: Mapping[str, str]) -> tuple[Row, ...]:
    """Rows that hold for a part of the versions, a few for each part."""
    groups: dict[frozenset[str], list[Row]] = {}
    for row in fitting:
        if row.state != "fails" and (names := _agreeing(row, given)):
            groups.setdefault(names, []).append(row)
    best = sorted(groups, key=len, reverse=True)
    return tuple(row for names in best for row in groups[names][:_NEAREST])
