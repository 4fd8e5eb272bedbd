"""Is the driver one that the Paddle plugin for GCU is documented with?"""

from __future__ import annotations

from checks import documented
from checks.finding import Check, Evidence, Finding, known
from provision import pairs, versions
from provision.facts import enflame
from provision.facts.snapshot import Facts, Unread
from provision.stack import Stack

_KIND = "paddle+plugin+tops+driver"
_PLUGIN = ("paddle-custom-gcu", "paddle_custom_gcu")


def _run(facts: Facts) -> Finding:
    kernel = None if isinstance(facts.kernel, Unread) else facts.kernel
    running = enflame.driver_version(kernel, known(facts.outputs))
    if running is None:
        evidence = [Evidence("no version", "efsmi, /sys/module/enflame/version")]
        return Finding("unknown", "unreadable", {}, evidence)
    driver, where = running
    shown = Evidence(f"driver {driver}", where)
    plugin = _plugin(facts)
    if plugin is None:
        return _without_plugin(facts.stack, driver, shown)
    return _with_plugin(facts.stack, driver, plugin, shown)


def _plugin(facts: Facts) -> str | None:
    """The version of the installed plugin."""
    environment = facts.environment
    if environment is None or isinstance(environment, Unread):
        return None
    versions_there = (environment.packages.get(name) for name in _PLUGIN)
    return next(filter(None, versions_there), None)


def _with_plugin(stack: Stack, driver: str, plugin: str, shown: Evidence) -> Finding:
    """The driver against what is known about this plugin."""
    evidence = [shown, Evidence(f"paddle-custom-gcu {plugin}", "environment")]
    rows = [row for row in documented.rows(_KIND) if documented.names(row, "plugin", plugin)]
    values = {
        "driver": driver,
        "plugin": plugin,
        "wanted": documented.all_of(rows, "driver"),
    }
    tops = _topsrider(stack, plugin)
    failing = pairs.judge(_KIND, {"plugin": plugin, "tops": tops, "driver": driver})
    if failing.state == "fails" and failing.row:
        source = failing.row.source
        return Finding("error", "fails", values | {"tops": tops or "?"}, evidence, source=source)
    if not values["wanted"] or any(documented.names(row, "driver", driver) for row in rows):
        return Finding("ok", evidence=evidence)  # also where no source names a driver
    source = next(row.source for row in rows if "driver" in row.versions)
    return Finding("warning", "other", values, evidence, source=source)


def _without_plugin(stack: Stack, driver: str, shown: Evidence) -> Finding:
    """Any driver that is documented with some release may be the right one."""
    if any(documented.names(row, "driver", driver) for row in documented.rows(_KIND)):
        return Finding("ok", evidence=[shown])
    release = stack.releases[stack.default_release]
    values = {"driver": driver, "release": stack.default_release,
              "known": documented.all_of(documented.rows(_KIND), "driver"),
              "wanted": release.pins.get("driver", "?")}  # fmt: skip
    return Finding("warning", "unlisted", values, [shown], source=release.source)


def _topsrider(stack: Stack, plugin: str) -> str | None:
    """The TopsRider that the stack pins beside this plugin."""
    for release in stack.releases.values():
        if versions.same_release(release.pins.get("plugin", ""), plugin):
            return release.pins.get("topsrider")
    return None


CHECK = Check("gcu-driver-target", _run, needs=("gcu-module",), devices=("gcu",))
