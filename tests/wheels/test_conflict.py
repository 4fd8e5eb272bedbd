"""Two plugins in one environment are found out, wherever their archives keep the common file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wheels import make
from tests.wheels.conftest import Auditor, cases

LIBRARY = "paddle_custom_device/libpaddle-custom-other.so"


@pytest.mark.parametrize("place", ["", "other-3.3.1.data/platlib/", "other-3.3.1.data/purelib/"])
@pytest.mark.parametrize("is_listed", [True, False])
def test_a_file_counts_where_it_is_installed_and_unlisted_too(
    tmp_path: Path, alone: Auditor, place: str, is_listed: bool
) -> None:
    one = make.sound(tmp_path, {make.INIT: b"one = 1\n"}, name="one")
    two = {f"{place}{make.INIT}": b"two = 2\n"}
    more = {} if is_listed else two
    other = make.sound(tmp_path, {} if more else two, name="other",
                       change=lambda files: files.update(more))  # fmt: skip
    assert cases(alone(one, other)) == {"wheel-conflict": "error differ"}
    assert cases(alone(other, one))["wheel-conflict"] == "error differ"


def test_what_a_wheel_is_held_against_is_named(tmp_path: Path, against: Auditor) -> None:
    made = against(make.sound(tmp_path, {make.INIT: b""}, metadata="Requires-Dist: numpy\n"))
    where = next(one.evidence[0].where for one in made.findings if one.id == "wheel-requires")
    assert where == str(against.env / "bin" / "python") if against.env else where == "-"
