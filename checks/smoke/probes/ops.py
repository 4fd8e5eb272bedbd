"""Smoke level `ops`: the fused operators against their plain formulas in float64.

python ops.py --device loopback --out result.jsonl --spec spec.json
"""

from __future__ import annotations

import importlib
import os
from functools import partial
from typing import Any

import latency
import paddle
from cases import Case, Problem, Strided, has_views
from operations import OPERATIONS
from report import Absent, Report, arguments, require
from target import Target
from ways import Way, absent, plugins, register

LAYOUTS: dict[str, type[Case]] = {"": Case, "strided_": Strided}


class Suite:
    """All operators of a device, and what was found of each."""

    def __init__(self, target: Target, spec: dict[str, Any]) -> None:
        self.target, self.spec = target, spec
        self.ways = [Way(row) for row in spec["operators"]]
        self.layouts = dict(LAYOUTS)
        self.counting: Any = None  # the module that counts calls of its operators
        self.ready: dict[str, Way] = {}  # for each operation the one to measure

    def load(self) -> str:
        """Make the plugin's operators known to Paddle; leave out what cannot be tried here."""
        if not has_views():
            del self.layouts["strided_"]
            reason = "Paddle copies each view here (FLAGS_use_stride_kernel)"
            self.target.report.write("skipped", name="non-contiguous inputs", reason=reason)
        if name := self.spec["ops_module"]:
            self.counting = importlib.import_module(name)
            return str(name)
        return f"{len(register(plugins()))} operators registered by the plugin"

    def run(self, way: Way) -> None:
        """One operator in all dtypes and layouts."""
        found = Found(way)
        for dtype in filter(way.made_for, self.spec["tolerance"]):
            checks = [self.check(way, dtype, layout, found) for layout in self.layouts]
            if all(checks):
                found.dtypes.append(dtype)
                self.take(way, dtype, found)
        self.target.report.write("operator", **found.told())

    def take(self, way: Way, dtype: str, found: Found) -> None:
        """Measure an operator's latency later: the plugin's own rather than Paddle's."""
        measured = (self.spec["latency"] or {}).get("dtype")
        if dtype == measured and not found.partly and (way.own or way.operation not in self.ready):
            self.ready[way.operation] = way

    def check(self, way: Way, dtype: str, layout: str, found: Found) -> bool:
        """One operator in one dtype and layout; whether it is right."""
        name = f"{way.label}_{layout}{dtype}"
        case = LAYOUTS[layout](self.target, dtype, seed=1)
        right = self.target.report.check(name, lambda: self.compare(way, case, found, name))
        self.target.prove()
        return right

    def wanted(self, way: Way) -> bool:
        """Whether an operator has to be there: the plugin's own, but for a stand-in's."""
        return way.own and not self.target.stand_in

    def compare(self, way: Way, case: Case, found: Found, name: str) -> str:
        """Solve all problems, forward and backward. Raises Absent where none can be."""
        before = self.counts()
        solved, missing = self.solve_all(way, case, found)
        if missing and self.wanted(way):
            raise AssertionError(missing[0])
        if not solved:
            found.absent[case.dtype] = missing[0] if missing else "no problem for it"
            raise Absent(found.absent[case.dtype])
        if missing:
            found.partly[case.dtype] = f"{len(missing)} of {solved + len(missing)}: {missing[0]}"
        self.prove_native(way, before)
        self.target.report.write("figure", name=name, value=case.worst)
        return f"{solved} cases, largest error {case.worst:.1e}"

    @staticmethod
    def solve_all(way: Way, case: Case, found: Found) -> tuple[int, list[str]]:
        """How many problems it solves, and what is not there for the others."""
        solved, missing = 0, []
        for problem in OPERATIONS[way.operation](case, way):
            try:
                solve(way, case, problem, found)
                solved += 1
            except Exception as failure:
                if (why := absent(failure)) is None:
                    raise
                missing.append(str(why))
        return solved, missing

    def prove_native(self, way: Way, before: dict[str, int]) -> None:
        """Of a plugin's operator that is counted: it ran, forward and backward, and no other."""
        ran = {name: n - before.get(name, 0) for name, n in self.counts().items()}
        ran = {name: n for name, n in ran.items() if n > 0}
        if self.counting and way.own:
            require(set(ran) == {way.name, f"{way.name}_grad"}, f"ran natively: {ran or 'nothing'}")
            self.target.report.write("ran", kernels=ran)

    def counts(self) -> dict[str, int]:
        """How often each of the plugin's operators has run; nothing where none are counted."""
        return dict(self.counting.counts()) if self.counting else {}


class Found:
    """What was found of an operator; the fields are those of `Ran` in checks/smoke/operators.py."""

    def __init__(self, way: Way) -> None:
        self.way = way
        self.dtypes: list[str] = []
        self.absent: dict[str, str] = {}
        self.partly: dict[str, str] = {}
        self.no_gradient = "" if way.gradient else "made without"

    def told(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "name": self.way.name, "operation": self.way.operation, "dtypes": self.dtypes,
            "absent": self.absent, "partly": self.partly, "no_gradient": self.no_gradient,
        }  # fmt: skip


def solve(way: Way, case: Case, problem: Problem, found: Found) -> None:
    """One call: its results, and the gradients where there are any. Raises Absent."""
    results = problem.after(called(way, partial(way, problem.values())))
    for name, result in results.items():
        case.compare(result, problem.wanted[name])
    if found.no_gradient:
        return
    drawn = {name: case.draw(*result.shape) for name, result in results.items()}
    try:
        called(way, partial(paddle.autograd.backward, list(results.values()),
                            [one for one, _ in drawn.values()]))  # fmt: skip
    except Exception as failure:
        if (why := absent(failure)) is None:
            raise
        found.no_gradient = str(why)
        return
    nothing = {name: wanted * 0 for name, wanted in problem.wanted.items()}
    exact = problem.back(nothing | {name: plain for name, (_, plain) in drawn.items()})
    for name, one in problem.inputs.items():
        require(one.grad is not None, f"no gradient by {name}")
        case.compare(one.grad, exact[name], also="float32")


def called(way: Way, call: Any) -> Any:
    """What a call gives. Paddle's log tells of the kernels in it: it is marked there."""
    os.write(2, f"paddock: in {way.label}\n".encode())
    try:
        return call()
    finally:
        os.write(2, b"paddock: out\n")


def main() -> None:
    """Run every operator in every dtype; the result file says what was found."""
    given, spec = arguments(__doc__ or "")
    report = Report(given.out)
    target = Target(given.device, spec, report)
    suite = Suite(target, spec)
    if report.check("select", target.select) and report.check("loaded", suite.load):
        for way in suite.ways:
            suite.run(way)
        if spec["latency"] and not target.stand_in:
            wanted, ready = spec["latency"], suite.ready
            report.check("latency", lambda: latency.measure(target, ready, suite.counts, wanted))
            target.prove()
    report.write("end")


if __name__ == "__main__":
    main()
