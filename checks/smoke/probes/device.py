"""Smoke level `device`: does the device hold data and compute what the CPU computes?

python device.py --device loopback --out result.jsonl --spec spec.json
"""

from __future__ import annotations

from functools import partial

import device_math
import device_moves
import device_training
import device_views
from report import Report, arguments
from target import Target

CHECKS = (*device_moves.CHECKS, *device_math.CHECKS, *device_views.CHECKS, *device_training.CHECKS)


def main() -> None:
    """Run every check; the result file says what they found."""
    given, spec = arguments(__doc__ or "")
    report = Report(given.out)
    target = Target(given.device, spec, report)
    if report.check("select", target.select):
        for check in CHECKS:
            report.check(check.__name__, partial(check, target))
            target.prove()
    report.write("end")


if __name__ == "__main__":
    main()
