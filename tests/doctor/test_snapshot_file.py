"""A snapshot: the same findings elsewhere, no secrets in it, and only a real one is taken."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checks.doctor.examine import ask, examine
from checks.doctor.report import to_json
from provision.errors import PaddockError
from provision.facts import compilers, disk, snapshot_file
from provision.facts.snapshot import UNSENT, Facts, Unread
from tests.conftest import Cli
from tests.doctor.test_checks import CASES, Case
from tests.doctor.values import CARD, PLUGIN, changed

PASSWORD = "hunter2-PASSWORD"  # noqa: S105


def again(facts: Facts, folder: Path) -> Facts:
    file = folder / "snapshot.json"
    file.write_bytes(snapshot_file.encode(facts))
    return snapshot_file.read(str(file)).facts


@pytest.mark.parametrize("given", CASES, ids=["-".join(case[:3]) for case in CASES])
def test_every_finding_is_the_same_from_a_snapshot(
    healthy: Facts, tmp_path: Path, given: Case
) -> None:
    sick = changed(healthy, **given[3])
    assert again(sick, tmp_path) == sick
    assert ask(again(sick, tmp_path)) == ask(sick)


def test_what_could_not_be_read_stays_so(healthy: Facts, tmp_path: Path) -> None:
    names = set(Facts.__struct_fields__) - {"target", "device", "stack", "sent"}
    blind = changed(healthy, **{name: Unread("no answer within 10 s") for name in names})
    assert again(blind, tmp_path) == blind


def test_a_fact_that_an_older_tool_did_not_write_could_not_be_read(
    healthy: Facts, tmp_path: Path
) -> None:
    raw = json.loads(snapshot_file.encode(healthy))
    del raw["facts"]["plugin"]
    file = tmp_path / "old.json"
    file.write_text(json.dumps(raw))
    expected = changed(healthy, plugin=Unread("not in the snapshot"))
    assert snapshot_file.read(str(file)).facts == expected


@pytest.mark.parametrize(("disk", "sent"), [(UNSENT, True), (Unread("no answer"), False)])
def test_an_older_tool_told_by_the_disk_that_only_outputs_were_sent(
    healthy: Facts, tmp_path: Path, disk: Unread, sent: bool
) -> None:
    raw = json.loads(snapshot_file.encode(changed(healthy, disk=disk)))
    del raw["facts"]["sent"]
    file = tmp_path / "old.json"
    file.write_text(json.dumps(raw))
    assert snapshot_file.read(str(file)).facts == changed(healthy, disk=disk, sent=sent)
    assert again(changed(healthy, sent=True), tmp_path).sent


def test_names_that_are_no_text_can_be_written(healthy: Facts, tmp_path: Path) -> None:
    strange = changed(healthy, plugin=changed(PLUGIN, folder="/demo/\udcff"))
    made = again(strange, tmp_path).plugin
    assert made == changed(PLUGIN, folder="/demo/?")


def test_findings_do_not_depend_on_the_time_zone(
    healthy: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    remembered = changed(healthy, plugin=changed(PLUGIN, proved=86400.0))
    made = []
    for zone in ("Asia/Shanghai", "America/New_York"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        made.append(ask(remembered))
    monkeypatch.undo()
    time.tzset()
    assert made[0] == made[1]
    assert any("1970-01-02 00:00 UTC" in line.where for one in made[0] for line in one.evidence)


def spoiled(raw: dict[str, Any], *path: str, value: object) -> bytes:
    place = raw
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return json.dumps(raw).encode()


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("schema",), "paddock/snapshot/2", "paddock/snapshot/2"),
        (("schema",), "paddock/doctor/1", "something else"),
        (("schema",), 1, "something else"),
        (("time",), 1e300, "damaged"),
        (("time",), None, "damaged"),
        (("facts",), [], "damaged"),
        (("facts", "stack"), None, "damaged"),
        (("facts", "stack", "target"), "loopback; reboot", "damaged"),
        (("facts", "machine"), {"system": "Linux"}, "damaged"),
        (("facts", "machine"), None, "damaged"),
        (("facts", "machine", "cpus"), "four", "damaged"),
        (("facts", "disk"), {"0": {}}, "damaged"),
        (("facts", "plugin", "verdict"), "rather well", "damaged"),
    ],
)
def test_what_is_no_snapshot_of_this_version_is_refused(
    healthy: Facts, tmp_path: Path, path: tuple[str, ...], value: object, said: str
) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(spoiled(json.loads(snapshot_file.encode(healthy)), *path, value=value))
    refused(file, said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"\n", "empty"),
        (b"hello", "no JSON"),
        (b"\xff\xfe{\0}\0", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[1, 2]", "something else"),
        (b"null", "something else"),
        (b'"paddock/snapshot/1"', "something else"),
        (b'{"schema": "paddock/snapshot/1"}', "damaged"),
        (b" " * (17 << 20), "larger than 16 MiB"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    refused(file, said)


def refused(file: Path, said: str) -> None:
    with pytest.raises(PaddockError) as caught:
        snapshot_file.read(str(file))
    assert (caught.value.code, caught.value.status) == ("bad-snapshot", 2)
    assert said in caught.value.part("what")


def test_no_prefix_of_a_snapshot_is_one(healthy: Facts, tmp_path: Path) -> None:
    whole = snapshot_file.encode(healthy).rstrip()
    for end in range(0, len(whole), 97):
        file = tmp_path / "x.json"
        file.write_bytes(whole[:end])
        refused(file, "no JSON" if end else "empty")


def test_no_file_a_folder_and_an_endless_one(tmp_path: Path) -> None:
    refused(tmp_path / "gone.json", "No such file")
    refused(tmp_path, "Is a directory")
    refused(Path("/dev/zero"), "larger")


def test_another_target_in_the_facts_than_in_the_stack_does_not_get_into_a_command(
    healthy: Facts, tmp_path: Path
) -> None:
    raw = json.loads(snapshot_file.encode(healthy))
    raw["facts"]["target"] = "x; reboot"
    file = tmp_path / "x.json"
    file.write_text(json.dumps(raw))
    assert snapshot_file.read(str(file)).facts.target == "loopback"


def test_secrets_do_not_get_into_a_snapshot(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"https://me:{PASSWORD}@index.test/simple"
    compiler = tmp_path / "c++"
    compiler.write_text(f"#!/bin/sh\necho error: cannot reach {url} >&2\nexit 1\n")
    compiler.chmod(0o755)
    (tmp_path / "pip.conf").write_text(f"[global]\nindex-url = {url}\n")
    for name in ("HTTPS_PROXY", "http_proxy", "UV_DEFAULT_INDEX", "PIP_INDEX_URL"):
        monkeypatch.setenv(name, url)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("CXX", str(compiler))

    def fail() -> None:
        raise ValueError(f"no room at {url}")

    monkeypatch.setattr(disk, "collect", fail)
    made = examine("loopback")
    written = snapshot_file.encode(made.facts).decode()
    assert isinstance(made.facts.compiler, compilers.Compiler) and made.facts.compiler.problem
    assert written.count("https://***@index.test/simple") == 7
    assert PASSWORD not in written and PASSWORD not in json.dumps(to_json(made))


def test_doctor_elsewhere_finds_what_doctor_found_there(cli: Cli, tmp_path: Path) -> None:
    bad = {"HTTPS_PROXY": "nonsense://x", "CUSTOM_DEVICE_ROOT": "/a:/b"}
    file = tmp_path / "there.json"
    there = cli("doctor", "--target", "loopback", "--json", "--snapshot", str(file), **bad)
    here = cli("doctor", "--from", str(file), "--json", TZ="Asia/Shanghai")
    assert there.returncode == here.returncode == 11
    found = [json.loads(made.stdout) for made in (there, here)]
    assert found[0]["findings"] == found[1]["findings"] and found[0]["facts"] == found[1]["facts"]
    assert found[0]["taken"] is None and found[1]["taken"] > 1.7e9
    shown = cli("doctor", "--from", str(file), "--lang", "zh")
    assert "快照" in shown.stdout.splitlines()[0] and shown.returncode == 11


def test_one_machine_can_pipe_into_another(cli: Cli, healthy: Facts, tmp_path: Path) -> None:
    taken = cli("doctor", "--snapshot", "-", "--target", "loopback")
    assert json.loads(taken.stdout)["schema"] == snapshot_file.SCHEMA
    file = tmp_path / "x.json"
    file.write_text(taken.stdout)
    with file.open() as stdin:
        made = subprocess.run(
            ["sh", "-c", "cat | \"$0\" tasks.py doctor --from -", sys.executable],
            stdin=stdin, capture_output=True, text=True, check=False,
            cwd=Path(snapshot_file.__file__).parents[2],
        )  # fmt: skip
    assert made.returncode == taken.returncode and "snapshot" in made.stdout.splitlines()[0]


def test_every_field_of_the_facts_can_be_written(healthy: Facts, tmp_path: Path) -> None:
    full = changed(healthy, accelerators=[CARD, CARD], environment=None)
    assert again(full, tmp_path) == full
    assert msgspec.to_builtins(again(full, tmp_path)) == msgspec.to_builtins(full)
