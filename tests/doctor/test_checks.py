"""Every check in every case: the state, and whole sentences in both languages."""

from __future__ import annotations

from typing import Any

import pytest

from checks.doctor.examine import ask
from checks.machine.finding import Finding
from checks.machine.registry import CHECKS
from provision import words
from provision.facts.installed import Difference
from provision.facts.leftover import Step
from provision.facts.settings import Setting
from provision.facts.snapshot import Facts, Unread
from provision.stack import Layer
from tests.doctor.values import (
    CARD,
    COMPARISON,
    COMPILER,
    ENVIRONMENT,
    LEFTOVER,
    MACHINE,
    PLUGIN,
    PYTHON,
    ROOM,
    SETTINGS,
    changed,
)


def bad(name: str, problem: str) -> Setting:
    return Setting(name, "demo", problem)


def machine(**changes: Any) -> dict[str, Any]:
    return {"machine": changed(MACHINE, **changes)}


def room(**changes: Any) -> dict[str, Any]:
    return {"disk": [ROOM, changed(ROOM, **changes)]}


def setting(**changes: Any) -> dict[str, Any]:
    return {"settings": changed(SETTINGS, **changes)}


def plugin(verdict: str) -> dict[str, Any]:
    return {"plugin": changed(PLUGIN, verdict=verdict, line="demo", hints=["hint"])}


def differs(layer: Layer) -> dict[str, Any]:
    difference = Difference(layer, "a", "1", None)
    return {"comparison": changed(COMPARISON, differences=[difference])}


BARE: dict[str, Any] = {"environment": None, "comparison": None, "plugin": None}
STEP = Step("framework/paddle", "start", 0.0, "")

Case = tuple[str, str, str, dict[str, Any]]  # check, state, case, and what is changed

CASES: list[Case] = [
    ("machine-os", "error", "system", machine(system="Darwin")),
    ("machine-os", "error", "arch", machine(arch="riscv64")),
    ("machine-os", "error", "libc", machine(libc="musl")),
    ("machine-os", "unknown", "libc-unknown", machine(libc=None)),
    ("machine-os", "warning", "aarch64", machine(arch="aarch64")),
    ("machine-memory", "unknown", "unreadable", machine(memory_available=None)),
    ("machine-memory", "warning", "little", machine(memory_available=1 << 30)),
    ("machine-memory", "warning", "little", machine(memory=1 << 30)),
    ("machine-memory", "warning", "limit", machine(memory_limit=1 << 30)),
    ("machine-disk", "error", "read-only", room(read_only=True)),
    ("machine-disk", "error", "not-writable", room(writable=False)),
    ("machine-disk", "error", "full", room(free=1 << 20)),
    ("machine-disk", "warning", "full", room(free=2 << 30) | BARE),
    ("machine-disk", "warning", "inodes", room(inodes=12)),
    ("python-version", "error", "none", {"python": changed(PYTHON, fitting=None)} | BARE),
    ("python-version", "warning", "none", {"python": changed(PYTHON, fitting=None, others=["x"])}),
    ("compiler-works", "absent", "none", {"compiler": None}),
    ("compiler-works", "error", "fails", {"compiler": changed(COMPILER, problem="fatal error: x")}),
    *[("network-certificates", "error", case, setting(certificates=[bad("SSL_CERT_FILE", case)]))
      for case in ("missing", "unreadable", "no-certificate")],
    *[(f"network-{what}", "error", case, setting(**{field: [bad("demo", case)]}))
      for what, field in (("proxies", "proxies"), ("index", "indexes"))
      for case in ("malformed", "scheme", "no-host")],
    ("network-proxies", "warning", "no-scheme", setting(proxies=[bad("demo", "no-scheme")])),
    ("network-index", "error", "no-scheme", setting(indexes=[bad("demo", "no-scheme")])),
    ("accelerator-known", "unknown", "stranger",
     {"accelerators": [CARD, changed(CARD, name=None, target=None)]}),
    ("accelerator-known", "warning", "no-target", {"accelerators": [changed(CARD, target=None)]}),
    ("accelerator-known", "warning", "target-missing",
     {"accelerators": [changed(CARD, target="of-tomorrow")]}),
    ("leftover-run", "unknown", "running", {"leftover": changed(LEFTOVER, running=True)}),
    ("leftover-run", "error", "interrupted", {"leftover": changed(LEFTOVER, steps=[STEP])}),
    ("leftover-run", "error", "failed",
     {"leftover": changed(LEFTOVER, steps=[changed(STEP, event="failed")])}),
    ("leftover-run", "error", "removing",
     {"leftover": changed(LEFTOVER, steps=[STEP, changed(STEP, event="removing")])}),
    ("environment-python", "absent", "none", BARE),
    ("environment-python", "error", "dead-other",
     {"environment": changed(ENVIRONMENT, version=None, problem="no such file", own=False)}),
    ("environment-python", "error", "dead",
     {"environment": changed(ENVIRONMENT, version=None, problem="No such file")}),
    ("stack-framework", "unknown", "no-lock", {"comparison": None}),
    ("stack-packages", "unknown", "no-lock", {"comparison": None}),
    ("stack-framework", "error", "differs", differs("framework")),
    ("stack-packages", "error", "differs", differs("model")),
    *[("plugin-root", "error", case, setting(device_root=bad("CUSTOM_DEVICE_ROOT", case)))
      for case in ("empty", "list", "missing", "no-plugin")],
    ("plugin-root", "warning", "replaces", setting(device_root=bad("CUSTOM_DEVICE_ROOT", ""))),
    ("plugin-root", "error", "replaces",
     setting(device_root=bad("CUSTOM_DEVICE_ROOT", "")) | plugin("skipped")),
    ("plugin-blacklist", "error", "separator",
     setting(black_list=bad("CUSTOM_DEVICE_BLACK_LIST", "separator"))),
    *[("plugin-loads", "error", verdict, plugin(verdict))
      for verdict in ("skipped", "symbol", "broken", "hangs", "crashes", "raises", "paddle",
                      "absent")],
    ("plugin-loads", "unknown", "unknown", plugin("unknown")),
]  # fmt: skip


def of(facts: Facts, name: str) -> Finding:
    return next(finding for finding in ask(facts) if finding.id == name)


def test_a_healthy_machine_holds_every_check(healthy: Facts) -> None:
    findings = ask(healthy)
    asked = [finding for finding in findings if finding.state != "apart"]
    assert [finding.id for finding in asked if finding.state != "ok"] == []
    assert len(findings) == len(CHECKS) and all(finding.evidence for finding in asked)


@pytest.mark.parametrize("given", CASES, ids=["-".join(case[:3]) for case in CASES])
@pytest.mark.parametrize("language", words.LANGUAGES)
def test_cases(healthy: Facts, monkeypatch: pytest.MonkeyPatch, language: str, given: Case) -> None:
    name, state, case, changes = given
    monkeypatch.setenv("PADDOCK_LANG", language)
    finding = of(changed(healthy, **changes), name)
    assert (finding.state, finding.case) == (state, case)
    assert finding.part("what") and finding.part("cause")
    assert finding.part("fix") or finding.command
    assert all("{" not in finding.part(part) for part in ("what", "cause", "fix"))


@pytest.mark.parametrize("field", ["machine", "disk", "python", "compiler", "settings",
                                   "accelerators", "environment", "comparison", "plugin",
                                   "leftover"])  # fmt: skip
def test_a_fact_that_could_not_be_read_is_unknown_never_fine(healthy: Facts, field: str) -> None:
    findings = ask(changed(healthy, **{field: Unread("no answer within 10 s")}))
    unread = [finding for finding in findings if finding.case == "unread"]
    assert unread and all(finding.state == "unknown" for finding in unread)
    assert all("10 s" in finding.evidence[0].line and finding.part("what") for finding in unread)


def test_every_text_of_the_catalogue_belongs_to_a_case() -> None:
    used = {f"check.{name}.{case}" for name, _, case, _ in CASES}
    there = {
        key.rpartition(".")[0]
        for key in words.catalogue()
        if key.startswith("check.") and key.count(".") == 3
    }
    tested = {name for name, *_ in CASES}  # the other checks have tests of their own
    assert {one for one in there if one.split(".")[1] in tested} == used


@pytest.mark.parametrize(
    ("layer", "state"), [("framework", "follows"), ("build", "error"), ("paddlenlp", "error")]
)
def test_only_another_paddle_explains_a_plugin_that_does_not_load(
    healthy: Facts, layer: Layer, state: str
) -> None:
    assert (
        of(changed(healthy, **differs(layer), **plugin("skipped")), "plugin-loads").state == state
    )


def test_a_device_root_that_is_the_installed_folder_is_fine(healthy: Facts) -> None:
    own = Setting("CUSTOM_DEVICE_ROOT", "/demo/packages/paddle_custom_device", "")
    environment = changed(ENVIRONMENT, site_packages="/demo/packages")
    facts = changed(healthy, environment=environment, **setting(device_root=own))
    assert of(facts, "plugin-root").state == "ok"


def test_the_plugin_is_built_again_from_the_step_that_builds_it(healthy: Facts) -> None:
    finding = of(changed(healthy, **plugin("symbol")), "plugin-loads")
    assert finding.command.endswith("--from plugin/build")
    assert [one.where for one in finding.evidence] == ["import paddle", "ELF symbols"]


def test_a_remembered_verdict_says_when_it_was_proved(healthy: Facts) -> None:
    finding = of(changed(healthy, plugin=changed(PLUGIN, proved=86400.0 * 365)), "plugin-loads")
    assert "1971-01-01" in finding.evidence[0].where or "1970-12-31" in finding.evidence[0].where
