"""How a figure is judged and shown."""

from __future__ import annotations

import pytest

from bench.result import Result


@pytest.mark.parametrize(
    ("figure", "at_least", "within"),
    [
        (2.9, False, True),
        (3, False, True),
        (3.1, False, False),
        (2.9, True, False),
        (3, True, True),
    ],
)
def test_a_budget_is_an_upper_or_a_lower_bound(figure: float, at_least: bool, within: bool) -> None:
    result = Result("a / b", figure, "x", 3, 5, at_least=at_least)
    assert result.within is within
    assert (" ok " if within else " over ") in result.line()
    assert (">= 3x" if at_least else "<= 3x") in result.line()


def test_the_line_has_name_figure_unit_n_and_detail() -> None:
    words = Result("start - python", 12.345, " ms", 30, 21, "wall 3 / 4 ms").line().split()
    assert words == ["start", "-", "python", "12.3", "ms", "<=", "30", "ms", "ok", "n=21", "wall",
                     "3", "/", "4", "ms"]  # fmt: skip
