"""Is the driver one that the Paddle plugin for GCU is documented with?"""

from __future__ import annotations

from collections.abc import Iterable

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
    return next((environment.packages[name] for name in _PLUGIN if name in environment.packages),
                None)  # fmt: skip


def _with_plugin(stack: Stack, driver: str, plugin: str, shown: Evidence) -> Finding:
    """The driver against what is known about this plugin."""
    evidence = [shown, Evidence(f"paddle-custom-gcu {plugin}", "environment")]
    values = {"driver": driver, "plugin": plugin}
    tops = next((release.pins.get("topsrider") for release in stack.releases.values()
                 if versions.same_release(release.pins.get("plugin", ""), plugin)), None)  # fmt: skip
    failing = pairs.judge(_KIND, {"plugin": plugin, "tops": tops, "driver": driver})
    if failing.state == "fails" and failing.row:
        values |= {"tops": tops or "?", "wanted": _drivers(_rows_of(plugin)) or "?"}
        return Finding("error", "fails", values, evidence, source=failing.row.source)
    verdict = pairs.judge(_KIND, {"plugin": plugin, "driver": driver})
    documented = _drivers(_rows_of(plugin))
    if verdict.row or not documented:  # known to go together, or no source names a driver
        return Finding("ok", evidence=evidence)
    source = next(row.source for row in _rows_of(plugin) if "driver" in row.versions)
    return Finding("warning", "other", values | {"wanted": documented}, evidence, source=source)


def _without_plugin(stack: Stack, driver: str, shown: Evidence) -> Finding:
    """Any driver that is documented with some release may be the right one."""
    rows = [row for row in pairs.rows() if row.kind == _KIND and row.state != "fails"]
    if any(versions.same_release(driver, one) for row in rows for one in row.versions.get("driver", [])):  # fmt: skip
        return Finding("ok", evidence=[shown])
    pin = stack.releases[stack.default_release].pins.get("driver", "?")
    values = {"driver": driver, "wanted": pin, "release": stack.default_release,
              "known": _drivers(rows)}  # fmt: skip
    source = stack.releases[stack.default_release].source
    return Finding("warning", "unlisted", values, [shown], source=source)


def _rows_of(plugin: str) -> list[pairs.Row]:
    """What goes together with this plugin."""
    return [row for row in pairs.rows() if row.kind == _KIND and row.state != "fails"
            and any(versions.same_release(plugin, one) for one in row.versions.get("plugin", []))]  # fmt: skip


def _drivers(rows: Iterable[pairs.Row]) -> str:
    """The drivers that rows name."""
    return ", ".join(dict.fromkeys(one for row in rows for one in row.versions.get("driver", [])))


CHECK = Check("gcu-driver-target", _run, needs=("gcu-module",), devices=("gcu",))
