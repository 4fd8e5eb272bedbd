"""The checks of the cards themselves: count, kind, links, npu-smi, health, memory, kernel's log."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.doctor import sent_folder
from checks.doctor.examine import ask
from checks.machine.finding import Evidence
from provision.facts.nodes import Holder, Holders
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread
from provision.stack import load, stack_file
from tests.doctor.ascend_values import (
    CARDS,
    DIES,
    NODES,
    TOOL,
    card,
    die,
    node,
    npu,
    smi,
    table,
    version,
    without,
)
from tests.doctor.test_driver import BUSY, FAILS, GONE, INSIDE, MINE
from tests.doctor.values import changed
from tests.doctor.vendor import S60, gcu, of, states
from tests.read.samples import FIRST_910B

FIRST = [card(one.slot, device="d801", name="Ascend 910 (first generation)", target=None,
              generation="Ascend 910", numa_node=one.numa_node) for one in CARDS]  # fmt: skip
SEVEN = [one for one in CARDS if "42" not in one.slot]
WITHOUT_SIX = smi(table([one for one in DIES if "42" not in one.bus]))
VIRTUAL = [card(physical="0000:01:00.0", name="Ascend 910B (virtual function)", device="d805")]
ALARM = smi(table([*DIES[:5], die(5, health="Alarm"), *DIES[6:]]))
HELD: dict[str, Any] = {"holders": Holders([Holder("/dev/davinci3", 4242, "python3")], True)}
USED = smi(table([die(0, hbm="60000/ 65536"), *DIES[1:]]))
NAMED = [["0", "0", "4242", "python3", "56000"]]


def asked(topic: str, text: str, npu_id: int = 5) -> dict[str, Output]:
    """The answer about one card."""
    source = f"npu-smi info -t {topic} -i {npu_id}"
    return {source: Output(source, text, "/usr/local/bin/npu-smi", 0)}


def words(text: str) -> str:
    """Rows `label : value` as npu-smi draws them."""
    pairs = [line.split(" : ") for line in text.splitlines()]
    return "\n".join(f"\t{label:<31}: {value}" for label, value in pairs) + "\n"


HEALTH = asked(
    "health",
    words("Health Status : Alarm\nError Code : 80E01801\nError Information : event state=Failed"),
)
SLIGHT = smi(table([*DIES[:5], die(5, health="Warning"), *DIES[6:]])) | asked(
    "health", words("Health Status : Warning\nError Code : 80E01801")
)
ECC = asked("ecc", words(
    "NPU ID : 5\nChip Count : 1\nHBM Single Bit Error Count : 7\nHBM Double Bit Error Count : 3\n"
    "HBM Double Bit Isolated Pages Count : 2\nChip ID : 0"))  # fmt: skip
BOARD = asked(
    "board",
    words(
        "NPU ID : 5\nSoftware Version : 24.1.0\nFirmware Version : 7.1.0.3.220\nCompatibility : NOK"
    ),
)
DMESG = "[    1.000001] pci 0000:01:00.0: [19e5:d802] type 00 class 0x120000\n"


def dmesg(*lines: str, **more: Any) -> dict[str, Output]:
    text = DMESG + "".join(f"[   {n + 2}.000001] {line}\n" for n, line in enumerate(lines))
    return {"dmesg": changed(Output("dmesg", text, "/usr/bin/dmesg", 0), **more)}


def link(word: str) -> dict[str, Output]:
    source = "hccn_tool -i 3 -link -g"
    return {source: Output(source, f"link status: {word}\n", "/usr/local/bin/hccn_tool", 0)}


# check, state and case, other outputs, other facts
CASES: list[tuple[str, str, dict[str, Output], dict[str, Any]]] = [
    ("accelerator-vendors", "warning two", {}, {"accelerators": [*CARDS, S60]}),
    ("accelerator-generation", "error trap", smi(table(FIRST_910B)), {"accelerators": FIRST}),
    ("accelerator-generation", "error trap", smi(table(FIRST_910B)),
     {"accelerators": FIRST, "device": "loopback", "target": "loopback"}),
    ("accelerator-generation", "error other", {}, {"accelerators": FIRST}),
    ("accelerator-generation", "error mixed", {}, {"accelerators": [*CARDS, *FIRST[:1]]}),
    ("accelerator-generation", "error other", smi(table(FIRST_910B)), {"accelerators": []}),
    ("accelerator-generation", "unknown unclear", smi(table([die(0, name="910B")])),
     {"accelerators": []}),
    ("accelerator-count", "error none", GONE, {"accelerators": [], "nodes": []}),
    ("accelerator-count", "error fallen", {}, {"accelerators": [card(revision="ff"), *CARDS[1:]]}),
    ("accelerator-count", "error hidden", WITHOUT_SIX, {}),
    ("accelerator-count", "warning lost", WITHOUT_SIX, {"accelerators": SEVEN}),
    ("accelerator-count", "warning lost", {}, {"accelerators": [
        changed(one, slot=f"0000:{8 * n:02x}:00.0") for n, one in enumerate(SEVEN)]}),
    ("accelerator-virtual", "warning lent", {},
     {"accelerators": [card(driver="vfio-pci"), *CARDS[1:]]}),
    ("accelerator-virtual", "warning shared", {},
     {"accelerators": [card(functions=4), *CARDS[1:]]}),
    ("accelerator-virtual", "warning share", {}, {"accelerators": VIRTUAL}),
    ("accelerator-virtual", "warning share", smi(table([die(0, name="910Bvir05_1c_8g")])), {}),
    ("accelerator-virtual", "warning share", {}, {"nodes": [*NODES, node("vdavinci100")]}),
    ("accelerator-link", "warning narrow", {}, {"accelerators": [card(link_width=8), *CARDS[1:]]}),
    ("accelerator-link", "warning slow", {},
     {"accelerators": [card(link_speed_gt=2.5), *CARDS[1:]]}),
    ("machine-system", "warning unlisted", version(
        "/etc/os-release", "ID=debian", 'VERSION_ID="12"', 'VERSION="12 (bookworm)"',
        'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"'), {}),
    ("machine-system", "unknown open", version(
        "/etc/os-release", "ID=openEuler", 'VERSION_ID="22.03"', 'PRETTY_NAME="openEuler 22.03"'),
     {}),
    ("npu-tool", "warning outside", {}, {"variables": {"PATH": "/usr/bin"}}),
    ("npu-tool", "error absent", GONE, {}),
    ("npu-tool", "error unmounted", GONE, INSIDE),
    ("npu-tool", "error silent", smi("", problem="silent", status=None), {}),
    ("npu-tool", "error library", smi(
        "npu-smi: error while loading shared libraries: libdcmi.so: cannot open shared object "
        "file: No such file or directory", status=127), {}),
    ("npu-tool", "error denied", smi("/usr/local/bin/npu-smi: Permission denied",
                                     problem="unreadable", status=None), {}),
    ("npu-tool", "error internal", FAILS, {}),
    ("npu-tool", "error busy", BUSY, HELD),
    ("npu-tool", "error board", smi("npu get board type failed. ret is -9005", status=1), {}),
    ("npu-tool", "error code", smi("dcmi module initialize failed. ret is -8012", status=1), {}),
    ("npu-tool", "error code-unknown", smi("dcmi module initialize failed. ret is -8999"), {}),
    ("npu-tool", "error fails", smi("Segmentation fault", status=-11), {}),
    ("npu-tool", "unknown layout", smi("a layout of tomorrow"), {}),
    ("npu-health", "error alarm", ALARM | HEALTH, {}),
    ("npu-health", "error alarm-uncoded", smi(table([die(0, health="Critical")])), {}),
    ("npu-health", "warning warning-uncoded", smi(table([die(0, health="Warning"), *DIES[1:]])),
     {}),
    ("npu-health", "warning warning", SLIGHT, {}),
    ("npu-health", "unknown unclear", smi(table([die(0, health="UNKNOWN"), *DIES[1:]])), {}),
    ("npu-health", "unknown unsaid", smi(table([die(n, health="NA") for n in range(8)])), {}),
    ("npu-health", "error alarm", HEALTH, {}),
    ("npu-health", "error alarm", without(TOOL) | HEALTH, {}),
    ("npu-ecc", "warning double", ECC, {}),
    ("npu-board", "error nok", BOARD, {}),
    ("npu-foreign-use", "warning hidden", USED, {}),
    ("npu-foreign-use", "warning hidden-container", USED, INSIDE),
    ("npu-foreign-use", "warning taken",
     smi(table([die(0, hbm="60000/ 65536"), *DIES[1:]], NAMED)), {}),
    ("npu-network", "warning down", link("DOWN"), {}),
    ("kernel-log", "warning link", dmesg(
        "pcieport 0000:00:01.0: AER: Uncorrected (Fatal) error received: 0000:81:00.0"), {}),
    ("kernel-log", "warning link", dmesg(
        "devdrv 0000:81:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Inaccessible"),
     {}),
    ("kernel-log", "warning known", dmesg(
        "drv_vascend: Unknown symbol mdev_register_parent (err -2)"), {}),
    ("kernel-log", "warning known", dmesg(
        "[ascend] [uda] [ERROR] [uda_occupy_dev_by_ns 932] <npu-smi:1> Conflict open udevid."), {}),
]  # fmt: skip


@pytest.fixture(autouse=True)
def language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_LANG", "en")


@pytest.mark.parametrize("given", CASES, ids=lambda given: f"{given[0]}-{given[1]}")
def test_cases(healthy: Facts, given: tuple[str, str, dict[str, Output], dict[str, Any]]) -> None:
    name, wanted, outputs, changes = given
    finding = of(npu(healthy, outputs, **changes), name)
    assert f"{finding.state} {finding.case}" == wanted


def test_what_is_asked_for_cards_in_trouble_does_not_arise_on_a_healthy_machine(
    healthy: Facts,
) -> None:
    apart = {one.id for one in ask(npu(healthy)) if one.state == "apart"}
    assert {"npu-ecc", "npu-board", "npu-network"} <= apart


def test_no_check_of_a_card_is_asked_without_one(healthy: Facts) -> None:
    found = {one.id: one.state for one in ask(healthy) if one.id.startswith(MINE)}
    assert found.pop("accelerator-known") == "ok"
    assert set(found.values()) == {"apart"} and len(found) > 20


def test_the_values_name_what_is_wrong(healthy: Facts) -> None:
    hidden = of(npu(healthy, WITHOUT_SIX), "accelerator-count")
    assert hidden.values == {"slots": "0000:42:00.0", "there": "8", "shown": "7"}
    lost = of(npu(healthy, WITHOUT_SIX, accelerators=SEVEN), "accelerator-count")
    assert lost.values["place"] == "0000:41:00.0" and len(lost.evidence) == 8
    alarm = of(npu(healthy, ALARM | HEALTH), "npu-health")
    assert (alarm.values["npus"], alarm.values["codes"]) == ("5", "80E01801")
    assert alarm.evidence[0].line.startswith("| 5 910B3 | Alarm |")
    assert "codes" not in of(npu(healthy, ALARM), "npu-health").values
    assert alarm.evidence[1].where == "npu-smi info -t health -i 5"
    busy = of(npu(healthy, BUSY, **HELD), "npu-tool")
    assert [one.line for one in busy.evidence][1] == "/dev/davinci3: 4242 python3"
    system = of(npu(healthy, CASES[19][2]), "machine-system")
    assert system.values["system"] == "debian 12 (bookworm)" and "ubuntu" in system.values["listed"]


def test_a_code_is_explained_in_the_users_language(
    healthy: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = npu(healthy, smi("dcmi module initialize failed. ret is -8012", status=1))
    english = next(one for one in ask(failing) if one.id == "npu-tool")
    monkeypatch.setenv("PADDOCK_LANG", "zh")
    chinese = next(one for one in ask(failing) if one.id == "npu-tool")
    assert english.values["meaning"].isascii() and not chinese.values["meaning"].isascii()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 8])
def test_other_numbers_of_cards_are_machines_of_their_own(healthy: Facts, count: int) -> None:
    some = npu(healthy, smi(table(DIES[:count])), accelerators=CARDS[:count],
               nodes=[*NODES[:count], *NODES[8:]])  # fmt: skip
    assert states(some, MINE) == {}


def test_seven_cards_without_a_gap_are_no_finding(healthy: Facts) -> None:
    cards = [changed(one, slot=f"0000:{8 * n:02x}:00.0", numa_node=0)
             for n, one in enumerate(CARDS[:7])]  # fmt: skip
    buses = [die(n, bus=one.slot) for n, one in enumerate(cards)]
    assert (
        of(npu(healthy, smi(table(buses)), accelerators=cards), "accelerator-count").state == "ok"
    )


def test_a_part_of_a_table_shows_no_card_as_missing(healthy: Facts) -> None:
    head = smi(table(DIES[:2], processes=None))
    assert of(npu(healthy, head), "accelerator-count").state == "ok"
    used = smi(table([die(0, hbm="60000/ 65536")], processes=None))
    assert of(npu(healthy, used), "npu-foreign-use").state == "ok"


def test_all_links_slower_than_they_could_be_is_an_idle_machine(healthy: Facts) -> None:
    idle = [changed(one, link_speed_gt=2.5) for one in CARDS]
    assert of(npu(healthy, accelerators=idle), "accelerator-link").state == "ok"
    unknown = [changed(one, link_width=None) for one in CARDS]
    assert of(npu(healthy, accelerators=unknown), "accelerator-link").case == "unread"


def test_a_container_shows_the_cards_that_it_was_given(healthy: Facts) -> None:
    facts = npu(healthy, smi(table(DIES[:1])), **INSIDE)
    assert of(facts, "accelerator-count").state == "ok"
    assert of(facts, "machine-system").state == "apart"


@pytest.mark.parametrize("line", [
    "drv_seclib_host: module verification failed: signature and/or required key missing - "
    "tainting kernel",
    "devdrv_device_driver 0000:01:00.0: enabling device (0140 -> 0142)",
    "pcieport 0000:00:01.0: AER: Corrected error received: 0000:81:00.0",
    "pcieport 0000:00:01.0: AER: Uncorrected (Fatal) error received: 0000:99:00.0",
])  # fmt: skip
def test_lines_of_a_healthy_boot_are_none(healthy: Facts, line: str) -> None:
    assert of(npu(healthy, dmesg(line)), "kernel-log").state == "ok"


def test_a_log_that_only_root_may_read_is_no_finding(healthy: Facts) -> None:
    refused = dmesg(text="dmesg: read kernel buffer failed: Operation not permitted", status=1)
    finding = next(one for one in ask(npu(healthy, refused)) if one.id == "kernel-log")
    assert finding.state == "apart" and "not permitted" in finding.evidence[0].line


def test_links_and_processes_that_are_in_order(healthy: Facts) -> None:
    assert of(npu(healthy, link("UP")), "npu-network").state == "ok"
    few = smi(table([die(0, hbm="13000/ 65536"), *DIES[1:]], [["0", "0", "7", "a", "9500"]]))
    assert of(npu(healthy, few), "npu-foreign-use").state == "ok"


def test_enflame_cards_are_counted_too(healthy: Facts) -> None:
    mine = ("accelerator-", "machine-system", "kernel-log")
    first = changed(S60, slot="0000:00:00.0", max_link_width=16)
    cards = [first, *(changed(first, slot=f"0000:0{n}:00.0") for n in (1, 2))]
    assert states(gcu(healthy, accelerators=cards[:2]), mine) == {}
    found = states(gcu(healthy, accelerators=cards), mine)
    assert found == {"accelerator-count": "error hidden"}
    other = changed(first, device="c033", name="Enflame S60G 48GB", target=None)
    assert states(gcu(healthy, accelerators=[other] * 2), mine)["accelerator-generation"] == (
        "error other"
    )


LINE = "[ascend] [uda] [ERROR] [uda_open 17] <npu-smi:41,41> Conflict open udevid. (udevid=2)"


@pytest.mark.parametrize(
    ("text", "check", "line"),
    [("link status: DOWN", "npu-network", "link status: DOWN"), (LINE, "kernel-log", LINE)],
)
def test_one_line_that_somebody_sent_suffices(
    tmp_path: Path, text: str, check: str, line: str
) -> None:
    (tmp_path / "notes.txt").write_text(f"{text}\n")
    report = sent_folder.examine("", tmp_path)
    assert report.facts.device == "npu"
    finding = next(one for one in report.findings if one.id == check)
    assert (finding.state, finding.evidence) == ("warning", [Evidence(line, "notes.txt")])


def test_one_line_of_the_other_vendor(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("enflame 0000:41:00.0: card 0 is ready\n")
    report = sent_folder.examine("", tmp_path)
    assert report.facts.device == "gcu"
    assert next(one for one in report.findings if one.id == "kernel-log").state == "ok"


@pytest.mark.parametrize("name", ["accelerators", "outputs"])
def test_what_cannot_be_read_is_unknown(healthy: Facts, name: str) -> None:
    facts = changed(npu(healthy), **{name: Unread("no answer within 10 s")})
    found = [one for one in ask(facts) if one.id.startswith(MINE)]
    assert {one.case for one in found if one.state == "unknown"} == {"unread"}
    assert not [one for one in found if one.state in ("error", "warning")]


def recordings() -> list[Path]:
    folder = os.environ.get("PADDOCK_TEST_RECORDINGS")
    return sorted(Path(folder, "npu-smi").glob("*.txt")) if folder else []


@pytest.mark.parametrize("file", recordings(), ids=lambda file: file.name)
def test_recorded_tables(healthy: Facts, file: Path) -> None:
    text = file.read_text()
    facts = npu(healthy, smi(text) | without("/usr/local/Ascend/driver/version.info"))
    found = {one.id: one for one in ask(facts)}
    words = [word for word in ("Alarm", "Critical", "Warning") if f"| {word} " in text]
    assert found["npu-tool"].state == "ok"
    assert found["npu-health"].state in (("error", "warning") if words else ("ok",))
    assert not [one for one in found.values() if one.case == "crashed"]


@pytest.mark.skipif("PADDOCK_TEST_RECORDINGS" not in os.environ, reason="no recordings are given")
@pytest.mark.parametrize(("name", "case"), [("8005", "internal"), ("8020_busy", "busy"),
                                            ("9005", "board")])  # fmt: skip
def test_recorded_errors(healthy: Facts, name: str, case: str) -> None:
    text = Path(os.environ["PADDOCK_TEST_RECORDINGS"], f"errors/npu-smi_{name}.txt").read_text()
    assert of(npu(healthy, smi(text, status=1)), "npu-tool").case == case


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_odd_cards_crash_no_check(healthy: Facts, data: st.DataObject) -> None:
    slots = st.sampled_from(["0000:01:00.0", "0001:01:00.0", "0000:02:00.1", "10000:e1:00.0"])
    drawn = st.builds(
        card, slots, revision=st.sampled_from([None, "ff", "20"]),
        numa_node=st.none() | st.integers(0, 3),
        link_width=st.sampled_from([None, 1, 16]), max_link_width=st.sampled_from([None, 16]),
        link_speed_gt=st.sampled_from([None, 2.5, 16.0]), functions=st.sampled_from([None, 0, 2]),
        driver=st.sampled_from([None, "vfio-pci", "x"]),
        generation=st.none() | st.just("Ascend 910"), target=st.none() | st.just("ascend910b"),
    )  # fmt: skip
    cards = data.draw(st.lists(drawn, max_size=16))
    text = data.draw(st.sampled_from(["", table(DIES[:3]), table(FIRST_910B), "ret is -8005"]))
    for device in ("ascend910b", "s60"):
        stack = load(stack_file(device))
        facts = npu(healthy, smi(text), accelerators=cards, target=device, device=stack.device)
        assert not [one for one in ask(facts) if one.case == "crashed"], facts
    assert TOOL in {one.source for one in npu(healthy).outputs}  # type: ignore[union-attr]
