"""The checks of Enflame machines: healthy, each case, and what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.doctor.examine import ask
from provision.facts.dkms import Dkms
from provision.facts.installed import Environment
from provision.facts.kernel_modules import Module, ModuleFile
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread
from tests.doctor.values import MACHINE, changed
from tests.doctor.vendor import (
    KERNEL,
    MODULE,
    NODES,
    OUTPUTS,
    S60,
    dpkg,
    gcu,
    node,
    of,
    query,
    states,
    table,
    told,
)

_NONE = Output("")
_BARE = {"dpkg": Output("dpkg -l", "ii  bash  5.2  amd64  x")}
_FOLDER = "/tmp/topsinstaller"  # noqa: S108 - where the installer logs
_LOG = """\
Verifying archive integrity... All good.
Uncompressing ENFLAME TOPSRIDER PACKAGE
Logging file: /tmp/topsinstaller/TopsRider20260102-000000.log
[1/2] Install TopsPlatform Package
[2/2] Install Data Center Toolkit
Install Finished. 2 installed.  100%   MD5 checksums are OK.  100%
"""


@pytest.fixture(autouse=True)
def language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_LANG", "en")


def efsmi(text: str, **more: Any) -> dict[str, Output]:
    return {"efsmi": changed(OUTPUTS["efsmi"], text=text, **more)}


def asked(first: dict[str, str], **more: str) -> dict[str, Output]:
    return {"query": changed(OUTPUTS["query"], text=query(first, **more))}


def packages(**others: str) -> dict[str, Output]:
    return {"dpkg": changed(OUTPUTS["dpkg"], text=dpkg(**others))}


def log(text: str, name: str = "TopsRider20260102-000000.log") -> dict[str, Output]:
    return {name: Output(f"{_FOLDER}/{name}", text)}


def kernel(**changes: Any) -> dict[str, Any]:
    return {"kernel": changed(KERNEL, **changes)}


def plugin(version: str) -> dict[str, Any]:
    names = {"paddlepaddle": version, "paddle-custom-gcu": version}
    return {"environment": Environment("/demo/python", "3.10.1", "", names)}


OLD = ModuleFile("5.15.0-8-generic", "enflame", "Enflame", "/lib/modules/old/enflame.ko")
UNLOADED: dict[str, Any] = {"loaded": []}

# check, state and case, other outputs, other facts
CASES: list[tuple[str, str, dict[str, Output], dict[str, Any]]] = [
    ("gcu-topsrider", "error archive", log(_LOG.replace("All good.", "")), kernel(loaded=[])),
    ("gcu-topsrider", "error unfinished", log(_LOG.partition("[2/2]")[0]), kernel(loaded=[])),
    ("gcu-topsrider", "warning unfinished", log(_LOG.partition("[2/2]")[0]), {}),
    ("gcu-topsrider", "warning no-end", log(_LOG.partition("[1/2]")[0]), {}),
    ("gcu-topsrider", "warning parts", log(_LOG.replace("2 installed", "1 installed")), {}),
    ("gcu-module", "error not-loaded", {}, kernel(loaded=[])),
    ("gcu-module", "error other-kernel", {}, kernel(loaded=[], files=[OLD])),
    ("gcu-module", "error other-kernel", {}, kernel(
        loaded=[], files=[], dkms=[Dkms("enflame", "1.2", None, None, "added", True, True)])),
    ("gcu-module", "error missing", {}, kernel(loaded=[], files=[])),
    ("gcu-module", "error missing", {}, kernel(loaded=[], files=None, dkms=None)),
    ("gcu-module", "absent no-card", {}, kernel(loaded=[]) | {"accelerators": []}),
    ("gcu-nodes", "error none", {}, {"nodes": []}),
    ("gcu-nodes", "error fewer", {}, {"nodes": NODES[1:]}),
    ("gcu-nodes", "error wrong-kind", {}, {"nodes": [node("/dev/gcu0", kind="dir")]}),
    ("gcu-nodes", "error closed", {}, {"nodes": [node("/dev/gcu0", writable=False), *NODES[1:]]}),
    ("gcu-nodes", "error control", efsmi("cannot open", status=1), {"nodes": NODES[:2]}),
    ("gcu-tool", "error absent", efsmi("", problem="absent", status=None), {}),
    ("gcu-tool", "absent container", efsmi("", problem="absent", status=None),
     {"machine": changed(MACHINE, container="docker")}),
    ("gcu-tool", "error silent", efsmi("", problem="silent", status=None), {}),
    ("gcu-tool", "error fails", efsmi("libefml.so: cannot open shared object", status=127), {}),
    ("gcu-tool", "error no-cards", efsmi(table(cards=0)), {}),
    ("gcu-tool", "unknown layout", efsmi("a layout of tomorrow"), {}),
    ("gcu-tool", "warning outside", {}, {"variables": {"PATH": "/usr/bin"}}),
    ("gcu-driver-version", "warning reboot", {},
     kernel(files=[changed(MODULE, version="1.5.0.5")])),
    ("gcu-driver-version", "warning tool", efsmi(table(tool="1.5.0.5")), {}),
    ("gcu-driver-version", "unknown unreadable", {"efsmi": _NONE, "query": _NONE},
     kernel(loaded=[Module("enflame", "Enflame", None)])),
    ("gcu-driver-target", "unknown unreadable", {"efsmi": _NONE, "query": _NONE},
     kernel(loaded=[Module("enflame", "Enflame", None)])),
    ("gcu-driver-target", "warning unlisted", efsmi(table(driver="1.3.3.4")), {}),
    ("gcu-driver-target", "error fails", efsmi(table(driver="1.3.3.4")), plugin("3.0.0")),
    ("gcu-driver-target", "warning other", efsmi(table(driver="1.4.0.3")), plugin("3.1.1")),
    ("gcu-health", "error health", asked({"Health": "False"}), {}),
    ("gcu-health", "error return", asked({"Flags": "True"}), {}),
    ("gcu-health", "error cable", asked({"Status": "Abnormal"}), {}),
    ("gcu-health", "warning memory", asked({"DBE": "4"}), {}),
    ("gcu-health", "warning memory", asked({"DBE": "4"}, total_dbe="DBE"), {}),
    ("gcu-health", "error health", asked({"Health": "False", "DBE": "4"}), {}),
    ("gcu-ecc", "warning mixed", efsmi(table(("Enable", "Disable"))), {}),
    ("gcu-ecc", "warning pending", asked({"Pending": "Disable"}), {}),
    ("gcu-link", "warning narrow", asked({"Width": "X8"}),
     {"accelerators": [changed(S60, link_width=None)] * 2}),
    ("gcu-packages", "error half", packages(topsaten="iU 1.5.0.601"), {}),
    ("gcu-packages", "error half", packages(eccl="iF 1.5.0.601"), {}),
    ("gcu-packages", "warning partly", packages(eccl="no"), {}),
    ("gcu-packages", "warning partly", packages(eccl="rc 3.6.3.11"), {}),
    ("gcu-packages", "warning releases", packages(topsaten="ii 1.2.0.301-1"), {}),
    ("gcu-packages", "absent elsewhere", _BARE, {}),
    ("gcu-packages", "error none", _BARE, plugin("3.0.0")),
]  # fmt: skip


def test_a_healthy_machine_has_nothing_to_say(healthy: Facts) -> None:
    facts = gcu(healthy, log(_LOG))
    assert states(facts, ("gcu-", "docker-", "container-", "machine-")) == {}
    assert of(facts, "gcu-topsrider").state == "ok"


@pytest.mark.parametrize("driver", ["1.0.5.1", "1.4.0.3", "1.5.0.5"])
def test_a_driver_that_any_source_pairs_with_paddle_is_fine(healthy: Facts, driver: str) -> None:
    text = table(tool=driver, driver=driver)
    own = kernel(loaded=[Module("enflame", "Enflame", driver)], files=[])
    assert states(gcu(healthy, efsmi(text), **own), ("gcu-",)) == {}


def test_a_plugin_whose_driver_no_source_names_is_fine(healthy: Facts) -> None:
    assert of(gcu(healthy, **plugin("3.3.0")), "gcu-driver-target").state == "ok"


def test_every_sentence_belongs_to_a_case() -> None:
    shown = {(name, wanted.split()[1]) for name, wanted, *_ in CASES}
    assert told(("gcu-",)) - shown == set()


@pytest.mark.parametrize("given", CASES, ids=lambda given: f"{given[0]}-{given[1]}")
def test_cases(healthy: Facts, given: tuple[str, str, dict[str, Output], dict[str, Any]]) -> None:
    name, wanted, outputs, changes = given
    finding = of(gcu(healthy, outputs, **changes), name)
    assert f"{finding.state} {finding.case}" == wanted


@pytest.mark.parametrize(
    ("outputs", "changes", "root"),
    [
        ({}, kernel(loaded=[], files=[]) | {"nodes": []}, "gcu-module"),
        (log(_LOG.partition("[2/2]")[0]), kernel(loaded=[], files=[]), "gcu-topsrider"),
        (efsmi("cannot open", status=1) | {"query": _NONE}, {"nodes": []}, "gcu-nodes"),
        (efsmi("", problem="silent") | {"query": _NONE}, {}, "gcu-tool"),
    ],
)
def test_only_the_cause_is_told(
    healthy: Facts, outputs: dict[str, Output], changes: dict[str, Any], root: str
) -> None:
    assert list(states(gcu(healthy, outputs, **changes), ("gcu-",))) == [root]


def test_the_evidence_is_the_line_that_was_printed(healthy: Facts) -> None:
    found = of(gcu(healthy, efsmi(table(tool="1.5.0.5"))), "gcu-driver-version").evidence[0]
    assert "V1.5.0.5" in found.line and "1.2.0.301" in found.line and found.where == "efsmi"
    health = of(gcu(healthy, asked({"Health": "False"})), "gcu-health")
    assert health.evidence[0].line == "DEV ID 0 Device Info Health: False"
    assert health.values["cards"] == "0"


def test_the_last_log_counts(healthy: Facts) -> None:
    older = log(_LOG.partition("[2/2]")[0], "TopsRider20250101-000000.log")
    assert of(gcu(healthy, older | log(_LOG)), "gcu-topsrider").state == "ok"


def test_a_container_has_fewer_nodes_than_the_bus_has_cards(healthy: Facts) -> None:
    inside = {"machine": changed(MACHINE, container="docker"), "nodes": NODES[1:]}
    assert of(gcu(healthy, **inside), "gcu-nodes").state == "ok"


def test_a_card_of_a_virtual_machine_needs_no_node(healthy: Facts) -> None:
    cards = [S60, changed(S60, driver="vfio-pci")]
    facts = gcu(healthy, accelerators=cards, nodes=NODES[1:])
    assert of(facts, "gcu-nodes").state == "ok"


@pytest.mark.parametrize("field", ["kernel", "nodes", "outputs"])
def test_what_cannot_be_read_is_unknown(healthy: Facts, field: str) -> None:
    facts = changed(gcu(healthy), **{field: Unread("no answer within 10 s")})
    found = [one for one in ask(facts) if one.id.startswith("gcu-")]
    unread = [one for one in found if one.state == "unknown"]
    assert unread and {one.case for one in unread} == {"unread"}
    assert {one.state for one in found} <= {"ok", "unknown", "apart", "follows"}


def test_words_that_say_nothing_are_no_findings(healthy: Facts) -> None:
    quiet = dict.fromkeys(("Health", "Flags", "DBE", "Status", "Pending"), "N/A")
    assert states(gcu(healthy, asked(quiet)), ("gcu-",)) == {}


def recordings() -> list[Path]:
    folder = os.environ.get("PADDOCK_TEST_RECORDINGS")
    return sorted(Path(folder, "efsmi").glob("efsmi_*")) if folder else []


@pytest.mark.parametrize("file", recordings(), ids=lambda file: file.name)
def test_recorded_tables(healthy: Facts, file: Path) -> None:
    outputs = efsmi(file.read_text(), source="efsmi") | {"query": _NONE}
    facts = gcu(healthy, outputs, **kernel(loaded=[Module("enflame", "Enflame", None)], files=[]))
    found = {one.id: one for one in ask(facts)}
    assert not [one for one in found.values() if one.case == "crashed"]
    if "dmon" not in file.name and "_q_" not in file.name:
        assert found["gcu-tool"].state == "ok" and found["gcu-driver-version"].state == "ok"
        wanted = "mixed" if "mixed_ecc" in file.name else "ok"
        assert found["gcu-ecc"].case == wanted


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(["efsmi", "query", "dpkg", "info", "version"]), st.data())
def test_damaged_outputs_crash_no_check(healthy: Facts, name: str, data: st.DataObject) -> None:
    text = OUTPUTS[name].text
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    mutated = text[:start] + data.draw(st.text(max_size=20)) + text[end:]
    facts = gcu(healthy, {name: changed(OUTPUTS[name], text=mutated)})
    assert not [one for one in ask(facts) if one.case == "crashed"]
