"""A run of the smoke tests as a JUnit test report: a suite a level, a case a check."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING

from checks.runs.record import Run
from checks.smoke.report import Check, LevelReport
from provision.stream import printable

if TYPE_CHECKING:
    from junitparser import TestCase, TestSuite


def encode(run: Run) -> bytes:
    """The report as XML."""
    from junitparser import JUnitXml

    made = JUnitXml("paddock smoke")
    for level in run.smoke.levels:
        made.add_testsuite(_suite(level, run))
    made.update_statistics()
    file = io.BytesIO()
    made.write(file)
    return file.getvalue()


def _suite(level: LevelReport, run: Run) -> TestSuite:
    """A level with its checks, and what did not apply."""
    from junitparser import Skipped, TestCase, TestSuite

    suite = TestSuite(level.level)
    suite.timestamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(run.time))
    suite.hostname = "localhost"
    suite.add_property("stand-in", printable(run.stand_in or "none"))
    suite.add_property("device", level.device)
    for name, version in run.versions.items():
        suite.add_property(name, version)
    for check in level.checks:
        suite.add_testcase(_case(check, level))
    for name, reason in level.skipped.items():
        case = TestCase(name, f"paddock.smoke.{level.level}", 0.0)
        case.result = [Skipped(printable(reason))]
        suite.add_testcase(case)
    return suite


def _case(check: Check, level: LevelReport) -> TestCase:
    """One check; a failed one with the end of its level's log."""
    from junitparser import Failure, TestCase

    case = TestCase(check.name, f"paddock.smoke.{level.level}", check.seconds)
    if not check.passed:
        failure = Failure(printable(check.error or ""), "failed")
        failure.text = "\n".join(map(printable, level.log))
        case.result = [failure]
    return case
