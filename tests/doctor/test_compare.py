"""Two snapshots: the checks first, each field by its path, and what is noise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checks.doctor import compare_report
from checks.doctor.compare import Comparison, compare, plain
from checks.doctor.compare_values import differences
from provision import words
from provision.facts import snapshot_file
from provision.facts.installed import Difference
from provision.facts.leftover import Step
from provision.facts.questions import Output
from provision.facts.settings import Setting
from provision.facts.snapshot import Facts, Unread
from tests.conftest import Cli
from tests.doctor.test_checks import BARE, STEP, machine, plugin, room, setting
from tests.doctor.values import CARD, COMPARISON, ENVIRONMENT, LEFTOVER, PLUGIN, ROOM, changed
from tests.read.drawn import npu_table
from tests.read.samples import B3, CANN, b3


def facts_of(a: Facts, b: Facts) -> dict[str, tuple[Any, Any]]:
    return {path: (left, right) for path, left, right in differences(plain(a), plain(b))}


def differ(healthy: Facts, **changes: Any) -> dict[str, tuple[Any, Any]]:
    return facts_of(healthy, changed(healthy, **changes))


def made(healthy: Facts, folder: Path, **changes: Any) -> Comparison:
    files = [folder / "good.json", folder / "bad.json"]
    files[0].write_bytes(snapshot_file.encode(healthy))
    files[1].write_bytes(snapshot_file.encode(changed(healthy, **changes)))
    return compare(str(files[0]), str(files[1]))


def test_each_field_is_named_by_its_path(healthy: Facts) -> None:
    packages = {"paddlepaddle": "9.8", "numpy": "1"}
    proxy = [Setting("HTTP_PROXY", "http://p", "")]
    assert differ(healthy, environment=changed(ENVIRONMENT, packages=packages),
                  **machine(kernel="1.3"), **setting(proxies=proxy)) == {
        "machine.kernel": ("1.2", "1.3"),
        "settings.proxies": ([], {"HTTP_PROXY": msgspec.to_builtins(proxy[0])}),
        "environment.packages.paddlepaddle": ("9.9", "9.8"),
        "environment.packages.numpy": (None, "1"),
    }  # fmt: skip


def test_items_of_a_list_are_told_apart_by_their_name_not_by_their_place(healthy: Facts) -> None:
    other = changed(CARD, slot="0000:02:00.0")
    a = changed(healthy, accelerators=[CARD, other])
    assert facts_of(a, changed(healthy, accelerators=[other, CARD])) == {}
    assert list(facts_of(a, changed(healthy, accelerators=[other]))) == [
        "accelerators.0000:01:00.0"
    ]
    moved = changed(healthy, accelerators=[CARD, changed(other, numa_node=1)])
    assert facts_of(a, moved) == {"accelerators.0000:02:00.0.numa_node": (0, 1)}


def test_of_items_without_a_name_of_their_own_each_is_compared_whole(healthy: Facts) -> None:
    twice = [Difference("build", "a", "1", None), Difference("model", "a", "2", None)]
    a = changed(healthy, comparison=changed(COMPARISON, differences=twice))
    b = changed(healthy, comparison=changed(COMPARISON, differences=[twice[0], twice[0]]))
    found = facts_of(a, b)
    assert list(found) == ["comparison.differences"]
    left, right = found["comparison.differences"]
    assert [json.loads(one)["layer"] for one in (*left, *right)] == ["model", "build"]


@pytest.mark.parametrize(
    "changes",
    [
        {"disk": [changed(ROOM, free=10 << 30)]},
        {"disk": [changed(ROOM, inodes=10**6 + 1)]},
        {"disk": [changed(ROOM, device=77)]},
        machine(memory_available=1 << 30),
        {"plugin": changed(PLUGIN, proved=5.0)},
    ],
)
def test_noise_is_no_difference(healthy: Facts, changes: dict[str, Any]) -> None:
    assert differ(healthy, **changes) == {}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"disk": [changed(ROOM, free=9 << 30)]}, "disk.data.free"),
        ({"disk": [changed(ROOM, free=0)]}, "disk.data.free"),
        ({"disk": [changed(ROOM, inodes=None)]}, "disk.data.inodes"),
        ({"disk": [changed(ROOM, path="/other")]}, "disk.data.path"),
        (machine(memory=4 << 30), "machine.memory"),
        (machine(memory_available=700 << 20), "machine.memory_available"),
        ({"machine": Unread("?")}, "machine"),
        ({"compiler": None}, "compiler"),
    ],
)
def test_what_is_no_noise_is_told(healthy: Facts, changes: dict[str, Any], path: str) -> None:
    assert list(differ(healthy, **changes)) == [path]


def test_the_time_of_a_step_is_noise_and_the_device_id_of_a_card_is_not(healthy: Facts) -> None:
    steps: list[Step] = [STEP, changed(STEP, time=9.0)]
    left = [changed(healthy, leftover=changed(LEFTOVER, steps=[step])) for step in steps]
    assert facts_of(left[0], left[1]) == {}
    a, b = (changed(healthy, accelerators=[changed(CARD, device=one)]) for one in ("d801", "d802"))
    assert list(facts_of(a, b)) == [f"accelerators.{CARD.slot}.device"]


def test_another_target_is_one_difference_and_not_all_its_pins(healthy: Facts) -> None:
    other = changed(healthy, target="other", stack=changed(healthy.stack, target="other", data=[]))
    assert facts_of(healthy, other) == {"target": ("loopback", "other")}
    newer = changed(healthy, stack=changed(healthy.stack, default_release="x"))
    assert list(facts_of(healthy, newer)) == ["stack.default_release"]


def test_checks_with_another_verdict_come_first(healthy: Facts, tmp_path: Path) -> None:
    result = made(healthy, tmp_path, **BARE, **room(read_only=True))
    assert result.status == 10
    shown = list(compare_report.lines(result))
    assert shown.index("checks with another verdict") < shown.index("facts that differ")
    at = shown.index("  environment-python: environment")
    assert shown[at + 1] == "     A  holds"
    assert shown[at + 2].startswith("     B  not there: loopback is not provisioned")
    assert "     B  depends on environment-python" in shown
    at = shown.index("  environment")
    assert shown[at + 1 : at + 3] == ["     A  there", "     B  -"]
    assert shown[0].startswith(f"A  {tmp_path}/good.json: no accelerator, Demo Linux 7")


def test_other_evidence_for_the_same_verdict_is_no_other_verdict(
    healthy: Facts, tmp_path: Path
) -> None:
    result = made(healthy, tmp_path, **machine(kernel="2"))
    assert (result.checks, result.status) == ([], 10)


def test_the_same_machine_at_another_time(healthy: Facts, tmp_path: Path) -> None:
    result = made(healthy, tmp_path, **machine(memory_available=3 << 30))
    assert (result.checks, result.facts, result.status) == ([], [], 0)
    assert list(compare_report.lines(result))[-1].startswith("nothing differs")


def test_json_says_all_with_the_rule(healthy: Facts, tmp_path: Path) -> None:
    result = made(healthy, tmp_path, **plugin("skipped"), machine=Unread("x"))
    told = json.loads(json.dumps(compare_report.to_json(result)))
    assert (told["schema"], told["status"]) == ("paddock/compare/1", 10)
    verdicts = {one["id"]: (one["a"]["state"], one["b"]["state"]) for one in told["checks"]}
    assert verdicts["plugin-loads"] == ("ok", "error")
    assert verdicts["machine-os"] == ("ok", "unknown")
    assert all(one["b"]["what"] for one in told["checks"])
    assert {"path": "plugin.verdict", "a": "loads", "b": "skipped"} in told["facts"]
    assert "disk.*.free" in told["rule"]["same_below_tenfold"]
    assert told["a"]["machine"] and told["b"]["file"].endswith("bad.json")


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_both_languages(
    healthy: Facts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setenv("PADDOCK_LANG", language)
    changes = BARE | plugin("skipped") | {"compiler": None, "machine": Unread("x")}
    shown = "\n".join(compare_report.lines(made(healthy, tmp_path, **changes)))
    assert "{" not in shown and ("以下" in shown or "不同" in shown) == (language == "zh")


@pytest.mark.slow
def test_on_the_command_line(cli: Cli, healthy: Facts, tmp_path: Path) -> None:
    made(healthy, tmp_path, **plugin("absent"))
    good, bad = str(tmp_path / "good.json"), str(tmp_path / "bad.json")
    for flags in (["--compare", good, bad], ["--compare", good, "--compare", bad],
                  ["--json", f"--compare={good}", f"--compare={bad}"]):  # fmt: skip
        result = cli("doctor", *flags)
        assert result.returncode == 10 and "plugin-loads" in result.stdout, result.stderr
    assert cli("doctor", "--compare", good, good, "--lang", "zh").returncode == 0
    for flags in (["--compare", good], ["--compare", good, "--json"],
                  ["--compare", good, str(tmp_path / "gone")]):  # fmt: skip
        assert cli("doctor", *flags).returncode == 2


def said(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {"outputs": [Output(source, text) for source, text in pairs]}


def test_outputs_are_compared_by_what_they_say(healthy: Facts, tmp_path: Path) -> None:
    table = npu_table(B3, [b3(0), b3(1)], [])
    good = changed(healthy, **said(("npu-smi info", table)))
    warm = b3(1, temp="77", power="301.5", aicore="99")
    bad = npu_table(B3, [b3(0), warm._replace(health="Alarm")], [("1", "0", "77", "python", "9")])
    assert facts_of(good, changed(good, **said(("npu-smi info", bad)))) == {
        "outputs.npu-smi info.cards.1.health": ("OK", "Alarm")
    }
    assert facts_of(good, changed(good, **said(("npu-smi info", table + "\n")))) == {}


def test_an_output_of_an_unknown_kind_is_compared_line_by_line(healthy: Facts) -> None:
    a = changed(healthy, **said(("/etc/demo.conf", "one\ntwo\nthree\n")))
    b = changed(healthy, **said(("/etc/demo.conf", "one\n 2\nthree\n")))
    assert facts_of(a, b) == {"outputs./etc/demo.conf.lines": (["two"], ["2"])}
    gone = changed(healthy, outputs=[Output("efsmi", problem="absent")])
    assert facts_of(changed(healthy, **said(("efsmi", "?"))), gone)["outputs.efsmi.problem"] == (
        "", "absent",
    )  # fmt: skip


def test_two_files_of_a_kind_are_told_apart_by_their_paths(healthy: Facts) -> None:
    new = CANN.replace("8.0.1", "8.0.9")
    a = changed(healthy, **said(("/a/x.info", CANN), ("/b/x.info", CANN)))
    b = changed(healthy, **said(("/a/x.info", CANN), ("/b/x.info", new)))
    assert "outputs.cann install.info (/b/x.info).version" in facts_of(a, b)


def test_the_times_of_a_kernel_s_log_are_no_difference(healthy: Facts) -> None:
    line = "[ {}.123456] [ascend] [drv_uda] ready\n"
    a = changed(healthy, **said(("dmesg", line.format("  12"))))
    b = changed(healthy, **said(("dmesg", line.format("9999"))))
    assert facts_of(a, b) == {}


def test_many_differences_of_a_fact_stay_readable(healthy: Facts, tmp_path: Path) -> None:
    many = {f"demo-{n}": "1" for n in range(100)}
    result = made(healthy, tmp_path, environment=changed(ENVIRONMENT, packages=many))
    shown = list(compare_report.lines(result))
    assert len(shown) < 60 and any("environment.packages: 93 more" in line for line in shown)
    told: Any = compare_report.to_json(result)
    assert len(told["facts"]) == 101


def test_a_folder_of_outputs_is_a_side_too(healthy: Facts, tmp_path: Path) -> None:
    for name, version in (("good", "8.0.1"), ("bad", "8.0.9")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(CANN.replace("8.0.1", version))
        (tmp_path / name / "u").write_text("Linux a 5.10.0 #1 SMP x aarch64 GNU/Linux\n")
    result = compare(str(tmp_path / "good"), str(tmp_path / "bad"))
    found = {path: (a, b) for path, a, b in result.facts}
    assert found["outputs.cann install.info.version"] == ("8.0.1", "8.0.9")
    assert all(path.startswith("outputs.cann install.info") for path in found)
    assert {"disk", "plugin"} <= set(result.unsent)
    assert any("disk" in line for line in compare_report.lines(result))
    other = tmp_path / "whole.json"
    other.write_bytes(snapshot_file.encode(healthy))
    mixed = compare(str(other), str(tmp_path / "bad"))
    assert ("machine.arch", "x86_64", "aarch64") in mixed.facts
    assert not [one for one in mixed.facts if None in one[1:]]
    assert not [path for path, *_ in mixed.facts if path.startswith("sent")]
