"""The flags of `doctor`, as a user gives them."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from checks.doctor import catalogue, visit
from checks.doctor.examine import Report, ask
from checks.doctor.report import lines, status, to_json
from checks.machine.registry import CHECKS
from provision import files, words
from provision.console import show
from provision.errors import PaddockError
from provision.facts.snapshot import Facts, Unread
from provision.several import pair
from tests.conftest import ROOT, Cli
from tests.doctor.test_checks import machine, plugin
from tests.doctor.values import CARD, COMPILER, changed


@pytest.mark.parametrize(
    ("changes", "plain", "strict"),
    [
        ({}, 0, 0),
        ({"machine": Unread("?")}, 12, 11),
        ({"machine": Unread("?"), "accelerators": [changed(CARD, target=None)]}, 10, 11),
        ({"accelerators": [changed(CARD, target=None)]}, 10, 10),
        (plugin("skipped"), 11, 11),
    ],
)
def test_strict_takes_the_unknown_for_an_error(
    healthy: Facts, changes: dict[str, object], plain: int, strict: int
) -> None:
    sick = changed(healthy, **changes)
    made = Report(sick, ask(sick), 0.1)
    assert (status(made), status(made, strict=True)) == (plain, strict)
    assert to_json(made, strict=True)["status"] == strict


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_every_check_is_in_the_catalogue(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setenv("PADDOCK_LANG", language)
    shown = "\n".join(catalogue.lines())
    told = json.loads(json.dumps(catalogue.to_json()))
    assert told["schema"] == "paddock/checks/1"
    assert [one["id"] for one in told["checks"]] == [check.id for check in CHECKS]
    for one, check in zip(told["checks"], CHECKS, strict=True):
        assert one["title"] and one["looks"] in shown and one["needs"] == list(check.needs)
    assert len({one["looks"] for one in told["checks"]}) == len(CHECKS)


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("doctor --compare a b", "doctor --compare a --compare b"),
        ("doctor --compare a b --json", "doctor --compare a --compare b --json"),
        ("doctor --json --compare - b", "doctor --json --compare - --compare b"),
        ("doctor --compare a -", "doctor --compare a --compare -"),
        ("doctor --compare a --compare b", "doctor --compare a --compare b"),
        ("doctor --compare a --json", "doctor --compare a --json"),
        ("doctor --compare a", "doctor --compare a"),
        ("doctor --compare", "doctor --compare"),
        ("doctor", "doctor"),
    ],
)
def test_two_values_of_one_flag(given: str, made: str) -> None:
    assert " ".join(pair(given.split())) == made


@pytest.mark.parametrize(
    "flags",
    [
        ["--lang", "de"],
        ["--list", "--strict"],
        ["--list", "--compare", "a", "b"],
        ["--list", "--sarif", "x"],
        ["--compare", "a", "b", "--junit", "x"],
        ["--from", "a", "--fresh"],
        ["--from", "a", "--list"],
        ["--from", "gone.json"],
        ["--snapshot", "/nowhere/at/all"],
        ["--junit", "/"],
        ["--sarif", "/dev/null/x"],
        ["--html", "/"],
        ["--list", "--fix"],
        ["--from", "a", "--fix"],
        ["--from", "a", "--env", "b"],
        ["--env", "/nowhere/at/all"],
        ["--snapshot", "-"],
        ["--junit", "-", "--sarif", "-"],
        ["--junit", "x", "--sarif", "x"],
        ["--yes"],
    ],
)
def test_what_cannot_be_is_refused(here: Cli, flags: list[str]) -> None:
    for language in words.LANGUAGES:
        made = here("doctor", "--json", *flags, PADDOCK_LANG=language)
        assert made.returncode == 2, made.stdout + made.stderr
        assert "Traceback" not in made.stderr and made.stderr.startswith("x ")


def test_a_snapshot_of_another_target_than_the_one_asked_for(cli: Cli, tmp_path: Path) -> None:
    file = str(tmp_path / "x.json")
    assert cli("doctor", "--target", "loopback", "--snapshot", file).returncode == 0
    assert cli("doctor", "--target", "loopback", "--from", file).returncode == 0
    refused = cli("doctor", "--target", "npu", "--from", file)
    assert refused.returncode == 2 and "loopback" in refused.stderr


def test_a_language_once_asked_for_holds_for_all(cli: Cli) -> None:
    assert "检查" in cli("doctor", "--lang", "zh", "--target", "loopback").stdout
    assert "next: " in cli(
        "doctor", "--lang", "en", "--target", "loopback", PADDOCK_LANG="zh"
    ).stdout  # fmt: skip
    assert "没有" in cli("doctor", "--lang", "zh", "--target", "nowhere").stderr


@pytest.mark.parametrize("form", ["snapshot", "junit", "sarif", "html"])
def test_a_dash_is_standard_output_and_nothing_else_is_there(cli: Cli, form: str) -> None:
    made = cli("doctor", "--target", "loopback", f"--{form}", "-", "--lang", "zh", LC_ALL="C")
    assert made.stdout[0] in "<{" and made.stdout.rstrip()[-1] in ">}"
    assert made.returncode == 0 and not made.stderr


def test_all_files_at_once_beside_the_report(cli: Cli, tmp_path: Path) -> None:
    names = {form: tmp_path / form for form in ("snapshot", "junit", "sarif", "html")}
    flags = [word for form, file in names.items() for word in (f"--{form}", str(file))]
    made = cli("doctor", "--target", "loopback", *flags)
    assert made.stdout.splitlines()[-1].startswith("next: ")
    assert all(file.stat().st_size > 1000 for file in names.values())
    assert sorted(file.name for file in tmp_path.iterdir() if file.is_file()) == sorted(names)


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"before")

    def fail(self: Path, data: bytes) -> int:
        os.truncate(os.open(self, os.O_CREAT | os.O_WRONLY), 0)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fail)
        with pytest.raises(PaddockError) as raised:
            files.write("--snapshot", str(file), b"after")
    assert raised.value.code == "disk-full" and str(file) in raised.value.part("what")
    assert file.read_bytes() == b"before" and list(tmp_path.iterdir()) == [file]
    files.write("--snapshot", str(file), b"after")
    assert file.read_bytes() == b"after" and list(tmp_path.iterdir()) == [file]


def test_a_link_that_leads_to_itself_is_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    with pytest.raises(PaddockError) as raised:
        files.write("--html", str(loop), b"x")
    assert raised.value.code == "bad-option"


def test_a_link_stays_a_link_and_a_pipe_a_pipe(tmp_path: Path) -> None:
    file, link, pipe = tmp_path / "file", tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(file)
    files.write("--snapshot", str(link), b"one")
    assert link.is_symlink() and file.read_bytes() == b"one"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    files.write("--snapshot", str(pipe), b"two")
    reader.join(10)
    assert read == [b"two"] and stat.S_ISFIFO(pipe.stat().st_mode)
    files.write("--snapshot", "/dev/null", b"three")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize("colour", [False, True])
def test_what_a_snapshot_says_cannot_steer_the_terminal(
    healthy: Facts, capsys: pytest.CaptureFixture[str], colour: bool
) -> None:
    bad = "\x1b[2Jgone"
    sick = changed(healthy, **machine(name=bad, system="\x1b]0;x\x07"))
    sick = changed(sick, compiler=changed(COMPILER, problem=bad))
    for line in lines(Report(sick, ask(sick), 0.1), colour=colour):
        show(line)
    shown, own = re.subn(r"\033\[(3[1-6]|0)m", "", capsys.readouterr().out)
    assert all(line.isprintable() for line in shown.split("\n"))
    assert shown.count("[2Jgone") > 1 and bool(own) == colour


def test_flags_that_exclude_each_other_are_named() -> None:
    with pytest.raises(PaddockError) as caught:
        visit.refuse_mixed({"list": True, "junit": "", "sarif": "x"})
    assert "--list and --sarif" in caught.value.part("what")
    with pytest.raises(PaddockError) as caught:
        visit.refuse_mixed({"strict": True, "fresh": True, "from": "x"})
    assert "--from and --fresh" in caught.value.part("what")
    visit.refuse_mixed({"from": "x", "strict": True, "sarif": "x", "list": False})
    visit.refuse_mixed({"fresh": True, "strict": True, "from": ""})
    visit.refuse_mixed({"list": True, "json": True})
    visit.refuse_mixed({"compare": ["a", "b"], "json": True, "yes": False})


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"junit": "-", "sarif": "-"}, "--junit - and --sarif -"),
        ({"snapshot": "x", "html": "x"}, "--snapshot x and --html x"),
        ({"json": True, "snapshot": "-"}, "--json and --snapshot -"),
        ({"fix": True, "html": "-"}, "--fix and --html -"),
        ({"json": True, "snapshot": "-", "junit": "x"}, "--json and --snapshot -"),
    ],
)
def test_one_file_takes_one_answer(given: dict[str, object], named: str) -> None:
    with pytest.raises(PaddockError) as caught:
        visit.refuse_mixed(given)
    assert caught.value.code == "flags-apart" and named in caught.value.part("what")


def test_one_answer_for_each_file() -> None:
    visit.refuse_mixed({"json": True, "snapshot": "x", "junit": "y"})
    visit.refuse_mixed({"snapshot": "-", "junit": "x", "fix": False, "json": False})
    visit.refuse_mixed({"fix": True, "json": True})


def test_strict_reaches_the_exit_status(healthy: Facts, tmp_path: Path) -> None:
    sick = changed(healthy, machine=Unread("?"))
    made = Report(sick, ask(sick), 0.1)
    files = {"junit": str(tmp_path / "x")}
    assert visit.tell(made, files, json=True, strict=False) == 12
    assert visit.tell(made, files, json=True, strict=True) == 11


def test_a_flag_that_means_something_else_here_has_its_own_help(cli: Cli) -> None:
    helps = [" ".join(cli("--help", task).stdout.split()) for task in ("doctor", "provision")]
    assert "the machine of this snapshot" in helps[0] and "all later ones" not in helps[0]
    assert "all later ones" in helps[1]
    assert "--compare GOOD BAD" in helps[0]


def test_a_plain_visit_loads_nothing_of_the_other_forms() -> None:
    """Modules that only some flags need would make every start slower."""
    code = (
        "import sys; from checks.doctor import visit; "
        "visit.tell(visit.examine('loopback', '', fresh=False), {}, json=False, strict=False); "
        "print(*sys.modules, file=sys.stderr)"
    )
    made = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(made.stderr.split())
    late = {"junitparser", "xml.etree.ElementTree", "checks.doctor.junit", "checks.doctor.sarif",
            "checks.doctor.compare", "checks.doctor.catalogue", "checks.doctor.html",
            "provision.facts.snapshot_file", "jinja2", "checks.doctor.fix",
            "checks.doctor.sent_folder"}  # fmt: skip
    assert "checks.doctor.report" in loaded and not loaded & late
