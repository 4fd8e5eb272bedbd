"""Names the known failure behind a failed step or smoke test, in place of the general sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from provision.errors import PaddockError

if TYPE_CHECKING:
    from checks.logs.catalogue import Failure
    from checks.smoke.run import SmokeReport


def explained(error: PaddockError) -> PaddockError:
    """A failed step with its cause, where its log shows a known one; else the error as it is."""
    if error.code != "step-failed":
        return error
    from checks.logs.scan import Scan, ordered

    scan = Scan()
    try:
        scan.log(str(error.values["log"]))
    except PaddockError:  # no log was written: the step's own error says more than that
        return error
    if not scan.finds:
        return error
    find = ordered(scan.finds.values())[0][0]
    line = find.first.text.strip()
    shown = any(line == one.strip() for one in error.details)
    details = error.details if shown else (line, "...", *error.details)
    return PaddockError("step-known", details, **error.values, **_values(find.failure))


def smoke_failed(report: SmokeReport, target: str) -> PaddockError:
    """The error of a report with a failed level."""
    said = [line for level in report.levels for line in level.log]
    said += [one.error for level in report.levels for one in level.checks if one.error]
    levels = ", ".join(report.failed)
    if known := first_known(said):
        return PaddockError("smoke-known", (), levels=levels, target=target, **_values(known))
    return PaddockError("smoke-failed", levels=levels, target=target)


def first_known(lines: Iterable[str]) -> Failure | None:
    """The first cause among the known failures that these lines show."""
    from checks.logs.catalogue import causes, failures

    found = [one for line in lines for one in failures().values() if one.matches(line)]
    here = {one.id for one in found}
    return next((one for one in found if not here & causes(one.id)), None)


def _values(known: Failure) -> dict[str, object]:
    """What the sentences of the error say of an entry."""
    return {"id": known.id, "why": str(known.cause), "fix": str(known.fix)}
