"""Smoke level `ops`, beside Paddle's operators: which names of torch_npu are registered here.

python torch_names.py --device npu --out result.jsonl --spec spec.json
"""

from __future__ import annotations

import importlib
import importlib.util
from importlib.metadata import PackageNotFoundError, version

from report import Report, arguments, explain


def main() -> None:
    """Import torch_npu, where it is installed, and look for each name; no card is asked."""
    given, spec = arguments(__doc__ or "")
    report = Report(given.out)
    if importlib.util.find_spec("torch_npu") is None:
        report.write("skipped", name="torch_npu", reason="not installed")
    else:
        report.write("start", name="torch_npu")
        found = {"torch": _version("torch"), "torch_npu": _version("torch-npu")}
        report.write("torch", **found, **_names(spec["names"]))
    report.write("end")


def _names(asked: list[str]) -> dict[str, object]:
    """Which of these full names are there, or why torch_npu cannot be imported."""
    try:
        importlib.import_module(
            "torch"
        )  # as its users do; from 2.5 on it loads torch_npu by itself
        module = importlib.import_module("torch_npu")
    except Exception as problem:
        return {"error": explain(problem), "present": [], "missing": []}
    there = [name for name in asked if callable(getattr(module, name.partition(".")[2], None))]
    missing = [name for name in asked if name not in there]
    return {"error": None, "present": there, "missing": missing}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    main()
