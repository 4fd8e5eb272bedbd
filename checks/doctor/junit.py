"""The findings as a JUnit test report, for whatever collects those.

Every finding that makes the exit status bad is a failure (errors and warnings) or an error
(unknown); what is rightly absent, follows from another finding or was not sent is skipped.
"""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING

from checks.doctor.examine import Report
from checks.doctor.report import lines, machine_line, problem
from checks.machine.finding import Finding
from provision.stream import printable
from provision.words import text

if TYPE_CHECKING:
    from junitparser import TestCase, TestSuite


def encode(report: Report) -> bytes:
    """The report as XML: one suite, a case a check.

    It keeps to what both schemas in use allow, the one of Ant and the one of Jenkins.
    """
    from junitparser import SystemErr, SystemOut

    suite = _suite(report)
    suite.append(SystemOut("\n".join(map(printable, lines(report, colour=False)))))
    suite.append(SystemErr(""))
    suite.update_statistics()
    suite.time = round(report.seconds, 3)
    file = io.BytesIO()
    suite.write(file)
    return file.getvalue()


def _suite(report: Report) -> TestSuite:
    """The suite with its cases."""
    from junitparser import TestSuite

    suite = TestSuite("paddock doctor")
    begin = time.time() if report.taken is None else report.taken
    suite.timestamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(begin))
    suite.hostname = "localhost"  # Ant's word for unknown: a host's name is none of the facts
    suite.add_property("target", report.facts.target)
    suite.add_property("machine", printable(machine_line(report.facts)))
    for finding in report.findings:
        suite.append(_case(finding, report))
    return suite


def _case(finding: Finding, report: Report) -> TestCase:
    """One check. Asking costs no time; what its facts cost is in the time of the suite."""
    from junitparser import Error, Failure, Skipped, TestCase

    case = TestCase(finding.id, "paddock.doctor", 0.0)
    message = printable(finding.part("what"))
    if finding.state in ("error", "warning", "unknown") and finding.case != "unsent":
        kind = Error if finding.state == "unknown" else Failure
        result = kind(message, finding.state)
        result.text = "\n".join(map(printable, problem(finding, report.findings, colour=False)))
        case.append(result)
    elif finding.state != "ok":
        case.append(Skipped(message or text(f"verdict.{finding.state}", id=finding.follows)))
    return case
