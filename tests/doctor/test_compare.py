"""Two snapshots: the checks first, each field by its path, and what is noise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checks import compare_report
from checks.compare import Comparison, compare, differences
from provision import words
from provision.facts import snapshot_file
from provision.facts.installed import Difference
from provision.facts.leftover import Step
from provision.facts.settings import Setting
from provision.facts.snapshot import Facts, Unread
from tests.conftest import Cli
from tests.doctor.test_checks import BARE, STEP, machine, plugin, room, setting
from tests.doctor.values import CARD, COMPARISON, ENVIRONMENT, LEFTOVER, PLUGIN, ROOM, changed


def facts_of(a: Facts, b: Facts) -> dict[str, tuple[Any, Any]]:
    pair = (msgspec.to_builtins(a), msgspec.to_builtins(b))
    return {path: (left, right) for path, left, right in differences(*pair)}


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


def test_two_items_of_one_name_are_told_apart_by_their_place(healthy: Facts) -> None:
    twice = [Difference("build", "a", "1", None), Difference("model", "a", "2", None)]
    a = changed(healthy, comparison=changed(COMPARISON, differences=twice))
    b = changed(healthy, comparison=changed(COMPARISON, differences=[twice[0], twice[0]]))
    assert facts_of(a, b) == {
        "comparison.differences.1.layer": ("model", "build"),
        "comparison.differences.1.wanted": ("2", "1"),
    }


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
