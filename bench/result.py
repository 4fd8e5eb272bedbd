"""One measured figure with its budget."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """A figure in `unit`, judged against `budget`: at most that, or with `at_least` no less.

    `n` counts the measured runs of each side; `detail` says what the figure was made from.
    """

    name: str
    figure: float
    unit: str
    budget: float
    n: int
    detail: str = ""
    at_least: bool = False

    @property
    def within(self) -> bool:
        """Whether the budget is kept."""
        return self.figure >= self.budget if self.at_least else self.figure <= self.budget

    def line(self) -> str:
        """One line for a person: name, figure, budget, verdict, n, detail."""
        sign = ">=" if self.at_least else "<="
        verdict = "ok" if self.within else "over"
        figure = f"{self.figure:.3g}{self.unit}"
        budget = f"{sign} {self.budget:g}{self.unit}"
        return f"{self.name:<34} {figure:>9}  {budget:<12} {verdict:<5} n={self.n:<3} {self.detail}"
