"""Is the driver one that the Paddle plugin for GCU is documented with?"""

from __future__ import annotations

from checks.machine import documented, here
from checks.machine.environment import plugin
from checks.machine.finding import Check, Evidence, Finding, known
from provision import pairs, versions
from provision.facts import enflame
from provision.facts.snapshot import Facts
from provision.stack import Stack

_KIND = "paddle+plugin+tops+driver"


def _run(facts: Facts) -> Finding:
    running = enflame.driver_version(here.kernel(facts), known(facts.outputs))
    if running is None:
        evidence = [Evidence("no version", "efsmi, /sys/module/enflame/version")]
        return Finding("unknown", "unreadable", {}, evidence)
    driver, where = running
    shown = Evidence(f"driver {driver}", where)
    installed = plugin(facts)
    if installed is None:
        return _without_plugin(facts.stack, driver, shown)
    return _with_plugin(facts.stack, driver, installed, shown)


def _with_plugin(stack: Stack, driver: str, found: tuple[str, str], shown: Evidence) -> Finding:
    """The driver against what is known about this plugin."""
    name, version = found
    evidence = [shown, Evidence(f"{name} {version}", "environment")]
    rows = documented.naming(_KIND, "plugin", version)
    wanted = documented.all_of(rows, "driver")
    values = {"driver": driver, "plugin": version, "wanted": ", ".join(wanted)}
    tops = _topsrider(stack, version)
    failing = pairs.judge(_KIND, {"plugin": version, "tops": tops, "driver": driver})
    if failing.state == "fails" and failing.row:
        source = failing.row.source
        return Finding("error", "fails", values | {"tops": tops or "?"}, evidence, source=source)
    if not wanted or any(documented.names(row, "driver", driver) for row in rows):
        return Finding("ok", evidence=evidence)  # also where no source names a driver
    source = next(row.source for row in rows if "driver" in row.versions)
    return Finding("warning", "other", values, evidence, source=source)


def _without_plugin(stack: Stack, driver: str, shown: Evidence) -> Finding:
    """Any driver that is documented with some release may be the right one."""
    if documented.naming(_KIND, "driver", driver):
        return Finding("ok", evidence=[shown])
    release = stack.releases[stack.default_release]
    values = {"driver": driver, "release": stack.default_release,
              "known": ", ".join(documented.all_of(documented.rows(_KIND), "driver")),
              "wanted": release.pins.get("driver", "?")}  # fmt: skip
    return Finding("warning", "unlisted", values, [shown], source=release.source)


def _topsrider(stack: Stack, plugin: str) -> str | None:
    """The TopsRider that the stack pins beside this plugin."""
    for release in stack.releases.values():
        if versions.same_release(release.pins.get("plugin", ""), plugin):
            return release.pins.get("topsrider")
    return None


CHECK = Check("gcu-driver-target", _run, needs=("gcu-module",), devices=("gcu",))
