"""What goes together: the tables are sound, and nothing is said that no row says."""

from __future__ import annotations

import itertools
import re

import pytest

from provision import pairs
from provision.facts.pci import catalogue
from provision.facts.texts.generation import names
from provision.pairs import KINDS, Row, firmware_fits, judge, rows
from provision.systems import supported, systems
from provision.versions import compare, parse

A2 = "Ascend 910B (A2)"
GENERATIONS = {model.generation for model in catalogue().models}


def identity(row: Row) -> str:
    return f"{row.kind} {row.versions}"


@pytest.mark.parametrize("row", rows(), ids=identity)
def test_every_row_is_sound(row: Row) -> None:
    assert row.source and re.fullmatch(r"20\d\d-\d\d", row.seen)
    assert row.kind in KINDS and len(row.versions) > 1
    assert row.versions.keys() <= set(row.kind.split("+"))
    assert row.generation is None or row.generation in GENERATIONS
    listed = [one.removesuffix(".x") for group in row.versions.values() for one in group]
    assert listed and all(map(parse, listed))
    for name, lowest in row.minimum.items():
        assert all(compare(lowest, one.removesuffix(".x")) in (-1, 0) or one.startswith(
            lowest.rpartition(".")[0]) for one in row.versions[name])  # fmt: skip


@pytest.mark.parametrize("row", rows(), ids=identity)
def test_every_row_is_found_and_none_contradicts_it(row: Row) -> None:
    for combination in itertools.product(*row.versions.values()):
        given = {n: v.removesuffix(".x") for n, v in zip(row.versions, combination, strict=True)}
        state = judge(row.kind, given, row.generation).state
        assert state == row.state or (row.state, state) == ("observed", "documented")


def test_no_row_stands_twice() -> None:
    keys = [(row.kind, str(row.versions), row.source) for row in rows()]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("kind", "versions", "state"),
    [
        ("driver+cann", {"driver": "23.0.3", "cann": "8.0.RC1"}, "documented"),
        ("driver+cann", {"driver": "23.0.3", "cann": "8.0.RC1.beta1"}, "documented"),
        ("driver+cann", {"driver": "24.1.0.3", "cann": "8.0.0"}, "observed"),
        ("driver+cann", {"driver": "25.3.rc1", "cann": "8.5.0"}, "documented"),
        ("driver+cann", {"driver": "24.1.0", "cann": "8.5.0"}, "older"),
        ("driver+cann", {"driver": "27.0.0", "cann": "8.5.0"}, "newer"),
        ("driver+cann", {"driver": "25.4.0", "cann": "8.5.0"}, "unlisted"),
        ("driver+cann", {"driver": "25.0.rc1.1", "cann": "9.1.0"}, "fails"),
        ("driver+cann", {"driver": "23.0.3", "cann": "8.3.RC2"}, "unlisted"),
        ("driver+firmware", {"driver": "25.5.1", "firmware": "7.8.0.6.201"}, "observed"),
        ("driver+firmware", {"driver": "25.5.1", "firmware": "7.1.0.7.220"}, "unlisted"),
        ("paddle+plugin+cann", {"paddle": "3.3.1", "plugin": "3.3.0", "cann": "8.5.1"}, "fails"),
        ("paddle+plugin+cann", {"plugin": "3.3.0", "cann": "8.5.1"}, "fails"),
        ("paddle+plugin+cann", {"paddle": "3.3.1", "cann": "8.5.1"}, "unlisted"),
        ("paddle+plugin+cann", {"plugin": "3.3.0", "cann": "8.0.0"}, "observed"),
        ("paddle+plugin+tops+driver", {"tops": "3.2.109", "driver": "1.2.0.301"}, "documented"),
        ("paddle+plugin+tops+driver", {"tops": "3.2.109", "driver": "1.3.3.4"}, "unlisted"),
        ("torch_npu+cann", {"torch_npu": "2.3.1", "cann": "8.5.0"}, "unlisted"),
        ("torch_npu+cann", {"torch_npu": "2.3.1", "cann": "8.0.RC2"}, "documented"),
        ("torch_npu+cann", {"torch_npu": "2.9.0", "cann": "8.5.1"}, "documented"),
        ("torch_npu+cann", {"torch_npu": "2.9.0.post9", "cann": "9.1.0"}, "unlisted"),
        ("torch+python", {"torch": "2.7.1+cpu", "python": "3.11.9"}, "documented"),
        ("torch+python", {"torch": "2.9.0", "python": "3.9.2"}, "unlisted"),
        ("torch+python", {"torch": "2.9.0", "python": None}, "unlisted"),
        ("torch+python", {"torch": "nightly", "python": "3.9.2"}, "unlisted"),
    ],
)
def test_what_is_said(kind: str, versions: dict[str, str | None], state: str) -> None:
    verdict = judge(kind, versions)
    assert verdict.state == state
    assert (verdict.row is None) == (state in ("unlisted", "older", "newer"))


def test_a_failure_weighs_more_than_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"driver": ["24.1.0"], "cann": ["8.0.0"]}
    told = [Row("driver+cann", state, given, "somewhere", "2026-11")
            for state in ("observed", "documented", "fails")]  # fmt: skip
    monkeypatch.setattr(pairs, "rows", lambda: told)
    assert judge("driver+cann", {"driver": "24.1.0", "cann": "8.0.0"}).state == "fails"
    told.pop()
    assert judge("driver+cann", {"driver": "24.1.0", "cann": "8.0.0"}).state == "documented"


def test_a_verdict_names_what_its_row_does_not() -> None:
    given = {"paddle": "3.3.0", "plugin": "3.3.0", "tops": "3.5.102", "driver": "1.0.5.1"}
    assert judge("paddle+plugin+tops+driver", given).silent == ("driver",)


def test_the_nearest_rows_answer_either_question() -> None:
    verdict = judge("torch_npu+cann", {"torch_npu": "2.3.1", "cann": "8.5.0"})
    found = [row.versions for row in verdict.nearest]
    assert {"torch_npu": ["2.9.0"], "cann": ["8.5.0"]} in found
    assert {"torch_npu": ["2.3.1"], "cann": ["8.0.RC2"]} in found
    tops = judge("paddle+plugin+tops+driver", {"tops": "3.2.109", "driver": "1.3.3.4"})
    assert {version for row in tops.nearest for version in row.versions["driver"]} == {"1.2.0.301"}


def test_rows_for_another_generation_do_not_count() -> None:
    given = {"paddle": "2.6.1", "cann": "7.0.1"}
    assert judge("paddle+plugin+cann", given, "Ascend 910").state == "documented"
    assert judge("paddle+plugin+cann", given, A2).state == "unlisted"
    assert judge("paddle+plugin+cann", given).row is not None


def test_an_unknown_kind_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="driver"):
        judge("cann+driver", {"driver": "23.0.3", "cann": "8.0.RC1"})


@pytest.mark.parametrize(
    ("driver", "firmware", "fits"),
    [
        ("23.0.7", "7.1.0.11.220", True),  # by the driver's list alone
        ("23.0.0", "7.3.0.1.231", True),  # by the firmware's alone
        ("23.0.7", "7.3.0.1.231", False),
        ("23.0.0", "6.3.0.1.231", False),
        ("strange", "7.3.0.1.231", None),
    ],
)
def test_driver_and_firmware_by_their_own_lists(
    driver: str, firmware: str, fits: bool | None
) -> None:
    lists = ([("7.0.0", "7.1.99")], [("23.0.rc3", "23.0.rc3."), ("23.0.0", "23.0.0.")])
    assert firmware_fits(driver, firmware, *lists) is fits


def test_without_lists_nothing_is_said_about_firmware() -> None:
    assert firmware_fits("23.0.7", "7.3.0.1.231", [("7.0.0", "7.1.99")], []) is None
    assert firmware_fits("23.0.7", "7.3.0.1.231", [], []) is None


@pytest.mark.parametrize(
    ("system", "version", "arch", "answer"),
    [
        ("ubuntu", "22.04.3 LTS (Jammy Jellyfish)", "x86_64", "listed"),
        ("ubuntu", "22.04", "aarch64", "listed"),
        ("ubuntu", "20.04.6 LTS (Focal Fossa)", "x86_64", "unlisted"),
        ("debian", "12 (bookworm)", "x86_64", "unlisted"),
        ("openEuler", "22.03 (LTS-SP4)", "aarch64", "listed"),
        ("openEuler", "22.03 (LTS-SP3)", "aarch64", "unlisted"),
        ("openEuler", "22.03 LTS", "x86_64", "listed"),
        ("openEuler", "22.03", "aarch64", None),
        ("kylin", "V10 (Sword)", "aarch64", "listed"),
        ("kylin", "V10 (Tercel)", "aarch64", "unlisted"),
        ("kylin", "V10", "aarch64", None),
        ("euleros", "2.0 (SP10x86_64)", "x86_64", "listed"),
        ("centos", "7 (Core)", "x86_64", None),
        ("ubuntu", "22.04", "riscv64", "unlisted"),
        ("ubuntu", "", "x86_64", None),
        ("arch", "", "x86_64", "unlisted"),
    ],
)
def test_systems_for_the_second_generation(
    system: str, version: str, arch: str, answer: str | None
) -> None:
    assert supported(A2, system, version, arch) == answer


def test_no_list_is_known_for_other_cards() -> None:
    assert supported("GCU generation 3", "ubuntu", "22.04", "x86_64") is None


def test_every_system_is_sound() -> None:
    keys = [(row.id, row.version, row.edition, row.arch) for row in systems()]
    assert len(keys) == len(set(keys))
    for row in systems():
        assert row.source and row.seen and row.id == row.id.lower() and parse(row.version)
        assert row.generations and set(row.generations) <= GENERATIONS
        answers = {card: supported(card, row.id, f"{row.version} ({row.edition})", row.arch)
                   for card in row.generations}  # fmt: skip
        assert set(answers.values()) <= {"listed", None if not row.edition else "listed"}


def test_chip_versions_have_a_generation() -> None:
    told = {
        name: next((n.generation for n in names() if re.fullmatch(n.pattern, name)), None)
        for name in ("910_9391", "910_9579", "910_95", "950PR", "910B4-1", "910B")
    }
    assert told == {
        "910_9391": "Ascend 910_93 (A3)", "910_9579": "Ascend 950 (A5)",
        "910_95": "Ascend 950 (A5)", "950PR": "Ascend 950 (A5)", "910B4-1": A2, "910B": None,
    }  # fmt: skip
