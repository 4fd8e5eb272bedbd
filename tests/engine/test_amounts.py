"""Sizes as a person reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provision.amounts import size


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (64 << 20, "64 MiB"),
        ((1 << 30) - 1, "1023 MiB"), (8 << 30, "8.0 GiB"), (3 << 39, "1.5 TiB"),
        (1 << 60, "> 1024 PiB"), (10**40, "> 1024 PiB"),
    ],
)  # fmt: skip
def test_sizes(count: int, shown: str) -> None:
    assert size(count) == shown


@given(st.integers(0, (1 << 60) - 1))
def test_a_size_is_near_what_it_stands_for(count: int) -> None:
    number, unit = size(count).split()
    factor = 1024 ** ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB").index(unit)
    assert abs(float(number) * factor - count) < factor and float(number) <= 1024
