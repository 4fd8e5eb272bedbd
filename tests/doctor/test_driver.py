"""The checks of Huawei's driver: healthy, each case, causes and their consequences."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.doctor.examine import ask
from provision.facts.dkms import Dkms
from provision.facts.kernel_modules import Module
from provision.facts.nodes import Holder, Holders
from provision.facts.questions import Output
from provision.facts.snapshot import UNSENT, Facts, Unread
from tests.doctor.ascend_values import (
    CONTROL,
    DRIVER,
    FILE,
    FIRMWARE,
    INFO,
    KERNEL,
    MEMBER,
    NODES,
    OUTPUTS,
    RELEASE,
    ROOT,
    STRANGER,
    TOOL,
    node,
    npu,
    smi,
    table,
    version,
    without,
)
from tests.doctor.values import MACHINE, changed
from tests.doctor.vendor import of, states

MINE = ("driver-i", "driver-u", "driver-k", "driver-m", "driver-n", "driver-v", "driver-f",
        "driver-t", "driver-o", "npu-", "accelerator-", "machine-system", "kernel-log")  # fmt: skip
FAILS = smi("dcmi module initialize failed. ret is -8005\n", status=1)
BUSY = smi("dcmi model initialized failed, because the device is used. ret is -8020\n", status=1)
GONE = smi("", problem="absent", status=None, real="")
INSIDE: dict[str, Any] = {
    "machine": changed(MACHINE, container="docker"),
    "kernel": changed(KERNEL, files=None, headers=None, others=None),
}
OLD = changed(FILE, kernel="5.15.0-8-generic", path="/lib/modules/old/x.ko", vermagic=None)
HELD: dict[str, Any] = {"holders": Holders([Holder("/dev/davinci3", 4242, "python3")], True)}
CLOSED = [node("davinci0", mode="0600", uid=0, gid=0, owner="root", group="root", readable=False,
               writable=False), *NODES[1:]]  # fmt: skip


def kernel(**changes: Any) -> dict[str, Any]:
    """Another kernel, and what follows: no nodes and no answer."""
    return {"kernel": changed(KERNEL, **({"loaded": []} | changes)), "nodes": []}


def dkms(**changes: Any) -> list[Dkms]:
    made = Dkms("davinci_ascend", "1.0", None, None, "added", True, False)
    return [changed(made, **changes)]


# check, state and case, other outputs, other facts
CASES: list[tuple[str, str, dict[str, Output], dict[str, Any]]] = [
    ("driver-installed", "error absent", GONE | without(DRIVER, FIRMWARE, INFO),
     kernel(files=[])),
    ("driver-installed", "error incomplete", FAILS | without(DRIVER), {}),
    ("driver-installed", "warning incomplete", without(DRIVER), {}),
    ("driver-installed", "error unmounted", BUSY | without(DRIVER), INSIDE),
    ("driver-installed", "warning unmounted", without(DRIVER), INSIDE),
    ("driver-installed", "error container", GONE | without(DRIVER, INFO),
     INSIDE | {"kernel": changed(KERNEL, loaded=[], files=None), "nodes": []}),
    ("driver-installed", "unknown hidden", without(DRIVER), {"accounts": MEMBER}),
    ("driver-installed", "unknown closed",
     {DRIVER: Output(DRIVER, "Permission denied", DRIVER, problem="unreadable")}, {}),
    ("driver-install-info", "warning absent", without(INFO), {}),
    ("driver-install-info", "error unmounted", BUSY | without(INFO), INSIDE),
    ("driver-install-info", "warning key", version(INFO, "UserName=a", "UserGroup=a"), {}),
    ("driver-install-info", "warning key", version(INFO, "something else"), {}),
    ("driver-install-info", "unknown closed",
     {INFO: Output(INFO, "Permission denied", INFO, problem="unreadable")}, {}),
    ("driver-user", "error missing", FAILS, {"accounts": changed(ROOT, ascend_user=None)}),
    ("driver-user", "warning missing", {}, {"accounts": changed(ROOT, ascend_user=None)}),
    ("driver-user", "warning missing", without(INFO), {
        "accounts": changed(ROOT, ascend_group=None),
        "nodes": [changed(one, owner=None, group=None) for one in NODES]}),
    ("driver-user", "error outside", {}, {"accounts": STRANGER}),
    ("driver-user", "error outside", {}, {"accounts": changed(STRANGER, recorded=None)}),
    ("driver-user", "error login", {}, {"accounts": changed(STRANGER, recorded=MEMBER.groups)}),
    ("driver-kernel", "error other", FAILS, kernel(files=[OLD])),
    ("driver-kernel", "error headers", FAILS, kernel(files=[OLD], headers=False)),
    ("driver-kernel", "error other", FAILS, kernel(files=[], dkms=dkms())),
    ("driver-kernel", "error build", FAILS, kernel(files=[], dkms=dkms(failed=True))),
    ("driver-kernel", "error vermagic", FAILS,
     kernel(files=[changed(FILE, vermagic="5.15.0-8-generic SMP")])),
    ("driver-kernel", "error missing", FAILS, kernel(files=[])),
    ("driver-module", "error not-loaded", FAILS, kernel()),
    ("driver-module", "error not-loaded", FAILS, kernel(files=[changed(FILE, vermagic=None)])),
    ("driver-module", "error secure-boot", FAILS, kernel(secure_boot=True)),
    ("driver-module", "error container", FAILS, INSIDE | kernel(files=None)),
    ("driver-module", "warning reboot", {}, {"kernel": changed(
        KERNEL, loaded=[Module("drv_devmng_host", "Huawei", "23.0.3")],
        files=[changed(FILE, version="24.1.0")])}),
    ("driver-nodes", "error wrong-kind", FAILS,
     {"nodes": [*NODES, node("davinci_manager", kind="dir")]}),
    ("driver-nodes", "error wrong-kind", FAILS,
     {"nodes": [*NODES, node("davinci9", kind="broken link")]}),
    ("driver-nodes", "error none", FAILS, {"nodes": CONTROL}),
    ("driver-nodes", "error none-container", FAILS, INSIDE | {"nodes": []}),
    ("driver-nodes", "error control", FAILS, {"nodes": NODES[:-1]}),
    ("driver-nodes", "error control-container", FAILS, INSIDE | {"nodes": NODES[:-2]}),
    ("driver-nodes", "error fewer", {}, {"nodes": NODES[1:]}),
    ("driver-nodes", "error closed", FAILS, {"nodes": CLOSED, "accounts": MEMBER}),
    ("driver-nodes", "unknown unread-node", {}, {"nodes": [
        *NODES, node("davinci8", kind="unread", readable=None, writable=None)]}),
    ("driver-versions", "warning reboot", smi(table(driver="23.0.3", tool="23.0.3")), {}),
    ("driver-versions", "warning mounted", smi(table(driver="23.0.3", tool="23.0.3")), INSIDE),
    ("driver-versions", "warning tool", smi(table(tool="23.0.3")), {}),
    ("driver-firmware", "error apart", version(
        FIRMWARE, "Version=6.4.12.1.241", "firmware_version=1.0",
        "compatible_version_drv=[22.0,22.0.]"), {}),
    ("driver-firmware", "error apart", version(DRIVER, "Version=25.5.1", "ascendhal_version=7.1",
                                               "compatible_version_fw=[7.7.0,7.9.99]"), {}),
    ("driver-firmware", "warning absent", without(FIRMWARE), {}),
    ("driver-firmware", "unknown open", version(FIRMWARE, "Version=9.9.9.1.1",
                                                "firmware_version=1.0")
     | version(DRIVER, "Version=24.1.0", "package_version=24.1.0"), {}),
    ("driver-firmware", "unknown closed",
     {FIRMWARE: Output(FIRMWARE, "Permission denied", FIRMWARE, problem="unreadable")}, {}),
    ("driver-target", "warning older", version(DRIVER, "Version=22.0.4", "package_version=22.0.4"),
     {}),
    ("driver-target", "warning older", smi(table(driver="22.0.4", tool="22.0.4"))
     | without(DRIVER), {}),
    ("driver-occupied", "warning held", smi(table(driver="23.0.3", tool="23.0.3")), HELD),
]  # fmt: skip


@pytest.fixture(autouse=True)
def language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_LANG", "en")


@pytest.mark.parametrize("accounts", [ROOT, MEMBER], ids=["root", "member"])
def test_a_healthy_machine_has_nothing_to_say(healthy: Facts, accounts: Any) -> None:
    facts = npu(healthy, accounts=accounts)
    assert states(facts, MINE) == {}
    good = [one for one in ask(facts) if one.id.startswith("driver-") and one.state == "ok"]
    assert len(good) >= 10 and all(one.evidence for one in good)


@pytest.mark.parametrize("given", CASES, ids=lambda given: f"{given[0]}-{given[1]}")
def test_cases(healthy: Facts, given: tuple[str, str, dict[str, Output], dict[str, Any]]) -> None:
    name, wanted, outputs, changes = given
    finding = of(npu(healthy, outputs, **changes), name)
    assert f"{finding.state} {finding.case}" == wanted


@pytest.mark.parametrize(
    ("outputs", "changes", "root"),
    [
        (GONE | without(DRIVER, FIRMWARE, INFO), kernel(files=[]), "driver-installed"),
        (GONE, kernel(files=[OLD]), "driver-kernel"),
        (FAILS, kernel(), "driver-module"),
        (FAILS, {"nodes": [*NODES[1:], node("davinci0", kind="dir")]}, "driver-nodes"),
        (FAILS, {"nodes": CLOSED, "accounts": MEMBER}, "driver-nodes"),
        (FAILS, {"nodes": [changed(one, readable=False, writable=False) for one in NODES],
                 "accounts": STRANGER}, "driver-user"),
        (BUSY | without(DRIVER, FIRMWARE, INFO), INSIDE, "driver-installed"),
        (BUSY | without(FIRMWARE, INFO), INSIDE, "driver-install-info"),
        (BUSY, {}, "npu-tool"),
        (smi("", problem="silent", status=None), {}, "npu-tool"),
    ],
)  # fmt: skip
def test_only_the_cause_is_told(
    healthy: Facts, outputs: dict[str, Output], changes: dict[str, Any], root: str
) -> None:
    found = states(npu(healthy, outputs, **changes), MINE)
    assert list(found) == [root] and found[root].startswith("error ")


def test_the_evidence_is_the_line_and_its_file(healthy: Facts) -> None:
    shown = of(npu(healthy), "driver-installed").evidence[0]
    assert (shown.line, shown.where) == ("Version=24.1.0", DRIVER)
    fitting = of(npu(healthy), "driver-firmware").evidence
    assert "compatible_version_fw=[7.0.0,7.5.99]" in {one.line for one in fitting}
    assert {one.where for one in fitting} == {DRIVER, FIRMWARE}
    kernel_ = of(npu(healthy, FAILS, **kernel(files=[OLD])), "driver-kernel")
    assert kernel_.values == {"kernel": RELEASE, "others": "5.15.0-8-generic"}
    assert of(npu(healthy, accounts=STRANGER), "driver-user").command == (
        "sudo usermod -aG HwHiAiUser lee"
    )


@pytest.mark.parametrize("pair", [("23.0.7", "7.1.0.11.220"), ("24.1.rc2", "7.3.0.1.231")])
def test_a_pair_that_was_seen_together_needs_no_ranges(
    healthy: Facts, pair: tuple[str, str]
) -> None:
    files = version(DRIVER, f"Version={pair[0]}", "ascendhal_version=7") | version(
        FIRMWARE, f"Version={pair[1]}", "firmware_version=1.0"
    )
    running = smi(table(driver=pair[0], tool=pair[0]))
    assert of(npu(healthy, files | running), "driver-firmware").state == "ok"


def test_two_files_that_name_each_other_fit_whatever_a_newer_driver_wants(healthy: Facts) -> None:
    files = version(
        DRIVER, "Version=22.0.4", "ascendhal_version=7", "compatible_version_fw=[1.80.0,6.3.99]"
    ) | version(FIRMWARE, "Version=6.3.0.1.241", "firmware_version=1.0",
                "compatible_version_drv=[22.0.4,22.0.4.]")  # fmt: skip
    assert of(npu(healthy, files), "driver-firmware").state == "ok"


def test_another_account_is_its_installers_matter(healthy: Facts) -> None:
    info = version(INFO, "UserName=npu", "UserGroup=npu", "Driver_Install_Path_Param=/opt")
    accounts = changed(ROOT, ascend_user=None, ascend_group=None)
    assert of(npu(healthy, info, accounts=accounts), "driver-user").state == "ok"
    nodes = [changed(one, owner="npu", group="npu") for one in NODES]
    unnoted = npu(healthy, without(INFO), accounts=accounts, nodes=nodes)
    assert of(unnoted, "driver-user").state == "ok"
    incomplete = changed(accounts, complete=False)
    assert of(npu(healthy, accounts=incomplete), "driver-user").state == "ok"


def test_a_driver_elsewhere_is_a_driver(healthy: Facts) -> None:
    info = version(INFO, "UserName=HwHiAiUser", "UserGroup=HwHiAiUser",
                   "Driver_Install_Path_Param=/opt/Ascend")  # fmt: skip
    assert states(npu(healthy, info | without(DRIVER, FIRMWARE)), MINE) == {}


def test_nodes_that_all_may_open_need_no_group(healthy: Facts) -> None:
    nodes = [changed(one, mode="0666") for one in NODES]
    assert states(npu(healthy, nodes=nodes, accounts=STRANGER), MINE) == {}


def test_a_container_has_the_nodes_and_files_that_it_was_given(healthy: Facts) -> None:
    facts = npu(healthy, without(FIRMWARE, INFO), **INSIDE, nodes=[NODES[3], *CONTROL])
    assert states(facts, MINE) == {}


def test_who_may_not_look_into_the_drivers_folder_is_told_of_the_group(healthy: Facts) -> None:
    nodes = [changed(one, readable=False, writable=False) for one in NODES]
    found = states(npu(healthy, GONE | without(DRIVER, FIRMWARE), accounts=STRANGER, nodes=nodes),
                   MINE)  # fmt: skip
    assert found["driver-user"] == "error outside"
    assert set(found) == {"driver-user", "driver-installed"}
    assert found["driver-installed"] == "unknown hidden"


def test_holders_matter_only_where_the_driver_is_to_be_changed(healthy: Facts) -> None:
    finding = of(npu(healthy, **HELD), "driver-occupied")
    assert finding.state == "ok" and "4242" in finding.evidence[0].line


@pytest.mark.parametrize("field", ["kernel", "nodes", "outputs", "accounts", "holders"])
def test_what_cannot_be_read_is_unknown(healthy: Facts, field: str) -> None:
    facts = changed(npu(healthy), **{field: Unread("no answer within 10 s")})
    found = [one for one in ask(facts) if one.id.startswith(MINE)]
    assert {one.case for one in found if one.state == "unknown"} == {"unread"}
    assert {one.state for one in found} <= {"ok", "unknown", "apart", "follows"}


def test_what_was_not_sent_is_not_absent(healthy: Facts) -> None:
    """Only npu-smi's answer is known of a machine: its files may be there all the same."""
    nothing = dict.fromkeys(("machine", "disk", "python", "compiler", "settings", "comparison",
                             "plugin", "leftover", "limits", "kernel", "accounts", "variables",
                             "folders", "nodes", "holders", "runtime", "linkage", "environment",
                             "accelerators"), UNSENT)  # fmt: skip
    only = npu(healthy, without(DRIVER, FIRMWARE, INFO), sent=True, **nothing)
    found = [one for one in ask(only) if one.id.startswith(MINE)]
    assert {one.id for one in found if one.state in ("error", "warning")} == set()
    assert "driver-installed" in {one.id for one in found if one.case == "unsent"}


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_odd_texts_crash_no_check(healthy: Facts, data: st.DataObject) -> None:
    outputs = {}
    for name, output in OUTPUTS.items():
        text = output.text
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, len(text)))
        junk = data.draw(st.sampled_from(["", "=", "[", "|", "\n", "NA", "9" * 30, "\0", "驱动"]))
        outputs[name] = changed(output, text=text[:start] + junk + text[end:])
    outputs |= smi(outputs[TOOL].text, status=data.draw(st.sampled_from([None, 0, 1, -9])))
    for facts in (npu(healthy, outputs), npu(healthy, outputs, **INSIDE)):
        found = [one for one in ask(facts) if one.id.startswith(MINE)]
        assert not [one for one in found if one.case == "crashed"], found
