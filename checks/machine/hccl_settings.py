"""Do the HCCL_ variables go together, and are their values ones that the documentation allows?"""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from checks.machine.finding import Check, Evidence, Finding, State, known
from provision.document import Table, read
from provision.facts.snapshot import Facts
from provision.paths import IMAGES

_IP = "HCCL_IF_IP"
_IP_SOURCE = "hiascend.com, CANN 8.0.0 and 8.5.0, HCCL_IF_IP"


class Range(Table, frozen=True):
    """A variable with a whole number; see `images/hccl.toml`."""

    name: str
    lowest: int
    source: str
    seen: str
    highest: int | None = None
    multiple: int = 1
    fraction: bool = False

    @property
    def allowed(self) -> str:
        """What is allowed, as `120..7200`."""
        end = "" if self.highest is None else str(self.highest)
        return f"{self.lowest}..{end}" + (f", n*{self.multiple}" if self.multiple > 1 else "")


class Rule(Table, frozen=True):
    """Settings that do not go together; see `images/hccl.toml`."""

    case: Literal["refused", "lacks", "ignored"]
    name: str
    other: str
    when: dict[str, str]
    source: str
    seen: str
    mild: bool = False


class Rules(Table, frozen=True):
    """The whole of `images/hccl.toml`."""

    ranges: list[Range]
    rules: list[Rule]


def _run(facts: Facts) -> Finding:
    given = {name: value for name, value in known(facts.variables).items()
             if name.startswith("HCCL_")}  # fmt: skip
    found = sorted(problems(given), key=lambda one: one.state != "error")
    if found:
        return found[0]
    line = ", ".join(f"{name}={value}" for name, value in given.items())
    return Finding("ok", evidence=[Evidence(line or "none set", "variables")])


def problems(given: Mapping[str, str]) -> Iterator[Finding]:
    """All that is wrong with the variables."""
    for rule in rules().rules:
        if all(_holds(given.get(name, ""), value) for name, value in rule.when.items()):
            values = {"name": rule.name, "other": rule.other}
            evidence = [Evidence(f"{name}={given[name]}", "variable")
                        for name in rule.when if name in given]  # fmt: skip
            state: State = "warning" if rule.mild else "error"
            yield Finding(state, rule.case, values, evidence, f"unset {rule.name}", rule.source)
    for row in rules().ranges:
        if given.get(row.name) and not _allowed(row, given[row.name]):
            yield _outside(row.name, given[row.name], row.allowed, row.source)
    if given.get(_IP) and not _is_address(given[_IP]):
        yield _outside(_IP, given[_IP], "IPv4, IPv6", _IP_SOURCE)


def _holds(value: str, wanted: str) -> bool:
    return bool(value) if wanted == "*" else value == wanted


def _outside(name: str, value: str, allowed: str, source: str) -> Finding:
    """A value that the documentation does not allow."""
    values = {"name": name, "value": value, "allowed": allowed}
    evidence = [Evidence(f"{name}={value}", "variable")]
    return Finding("error", "value", values, evidence, f"unset {name}", source)


def _allowed(row: Range, value: str) -> bool:
    """Whether a value is in its range."""
    if row.fraction and re.fullmatch(r"[0-9]{1,10}\.[0-9]{1,6}", value):
        value = value.partition(".")[0]
    if not re.fullmatch("[0-9]{1,12}", value):
        return False
    number = int(value)
    fits = row.lowest <= number and (row.highest is None or number <= row.highest)
    return fits and number % row.multiple == 0


def _is_address(value: str) -> bool:
    try:
        ipaddress.ip_address(value.partition("%")[0])
    except ValueError:
        return False
    return True


@functools.cache
def rules() -> Rules:
    """All rows."""
    return read(IMAGES / "hccl.toml", Rules, Range, Rule)


CHECK = Check("hccl-settings", _run, devices=("npu",))
