"""`paddock explain`, and the errors of failed steps that it enriches."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from checks.known import explained, first_known, smoke_failed
from checks.logs import folder
from checks.smoke.report import Check, LevelReport, SmokeReport
from provision.errors import PaddockError
from tests.conftest import ROOT, Cli, variables

UNDEFINED = "/usr/bin/ld: a.o: undefined reference to `PD_RegisterPhiKernel'"


def test_a_known_log(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text(f"[1/2] c++ a.cc\n{UNDEFINED}\nninja: build stopped: subcommand failed.\n")
    result = cli("explain", str(log))
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == f"x  K041 build  {log}:2"
    assert "libphi_core.so" in result.stdout
    assert "paddock doctor (plugin-loads)" in result.stdout
    assert lines.index(f"     > {UNDEFINED}") < next(n for n, x in enumerate(lines) if "then" in x)


def test_json_of_several_logs(cli: Cli, tmp_path: Path) -> None:
    logs = [tmp_path / "a log", tmp_path / "b"]
    logs[0].write_text("fine\n")
    logs[1].write_text(f"{UNDEFINED}\n{UNDEFINED}\n")
    value = json.loads(cli("explain", *map(str, logs), "--json").stdout)
    assert (value["schema"], value["known"]) == ("paddock/explain/1", True)
    assert [log["name"] for log in value["logs"]] == list(map(str, logs))
    [found] = value["findings"]
    assert (found["id"], found["count"], found["line"]) == ("K041", 2, 1)
    assert found["log"] == str(logs[1])


FATAL = "ImportError: libascend_hal.so: cannot open shared object file: No such file or directory"


def test_a_folder_of_logs(cli: Cli, tmp_path: Path) -> None:
    place = tmp_path / "logs of a run"
    for name, content in {
        "workerlog.10": "fine\n", "workerlog.2": f"a\n{UNDEFINED}\n", "below/deep/dmesg": FATAL,
        "model.safetensors": UNDEFINED, "train.py": UNDEFINED, "core": "\0" + UNDEFINED,
        ".git/x.log": UNDEFINED,
    }.items():  # fmt: skip
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content)
    (place / "packed.log.gz").write_bytes(gzip.compress(f"b\n\n{UNDEFINED}\n".encode()))
    os.mkfifo(place / "pipe.log")
    result = cli("explain", str(place))
    assert result.returncode == 0, result.stderr
    assert f"K041 build  {place}/packed.log.gz:3 " in result.stdout
    assert f"K097 import  {place}/below/deep/dmesg:1\n" in result.stdout
    assert "files: 3: " in result.stdout.splitlines()[-1]
    value = json.loads(cli("explain", str(place), "--json").stdout)
    names = ["below/deep/dmesg", "packed.log.gz", "workerlog.2", "workerlog.10"]
    assert [log["name"] for log in value["logs"]] == [f"{place}/{name}" for name in names]
    left = [f"{place}/{name}" for name in ("core", "model.safetensors", "train.py")]
    assert value["left"] == left
    assert {one["id"]: one["count"] for one in value["findings"]} == {"K041": 2, "K097": 1}


def test_of_a_folder_what_cannot_be_read_is_named_and_the_rest_searched(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "a.log").write_bytes(gzip.compress(b"x" * 9000)[:-9])
    (tmp_path / "b.log").write_text(f"{UNDEFINED}\n")
    (tmp_path / "c.log").symlink_to(tmp_path / "gone")
    result = cli("explain", str(tmp_path))
    assert result.returncode == 2
    assert f"K041 build  {tmp_path}/b.log:1" in result.stdout
    assert f"{tmp_path}/a.log" in result.stdout
    assert f"Not read: {tmp_path}/c.log: No such file" in result.stdout


def test_a_folder_without_logs_says_what_logs_are_called(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(b"\0\1\2")
    result = cli("explain", str(tmp_path))
    assert result.returncode == 2
    assert "workerlog.N" in result.stderr


def test_of_many_logs_a_thousand_are_searched(tmp_path: Path) -> None:
    for number in range(1003):
        (tmp_path / f"w.log.{number}").touch()
    found = folder.logs(str(tmp_path))
    assert len(found.logs) == 1000
    assert [Path(one).name for one in found.left] == ["w.log.1000", "w.log.1001", "w.log.1002"]


def test_standard_input(home: Path) -> None:
    result = subprocess.run(
        [sys.executable, ROOT / "tasks.py", "explain", "-"], input=f"a\n{UNDEFINED}\n",
        capture_output=True, text=True, check=False, env=variables(home),
    )  # fmt: skip
    assert result.returncode == 0
    assert "standard input:2" in result.stdout


def test_not_known(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("all is well\n")
    result = cli("explain", str(log))
    assert result.returncode == 12
    assert "None of the known failures" in result.stdout


@pytest.mark.parametrize("name", ["missing", "", "."])
def test_what_cannot_be_read(cli: Cli, tmp_path: Path, name: str) -> None:
    result = cli("explain", str(tmp_path / name) if name else "")
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


def test_an_entry_in_both_languages(cli: Cli) -> None:
    assert "--as-needed" in cli("explain", "K041").stdout
    assert "链接" in cli("explain", "k041", PADDOCK_LANG="zh").stdout
    assert json.loads(cli("explain", "K041", "--json").stdout)["id"] == "K041"


def test_an_unknown_entry_names_a_near_one(cli: Cli) -> None:
    result = cli("explain", "K999")
    assert result.returncode == 2
    assert "--list" in result.stderr


def test_the_list(cli: Cli) -> None:
    assert len(cli("explain", "--list").stdout.splitlines()) >= 100
    assert len(json.loads(cli("explain", "--list", "--json").stdout)["failures"]) >= 100


def _failed(log: Path, *details: str) -> PaddockError:
    return PaddockError(
        "step-failed", details, step="plugin/build", status=2, log=log, path="/env", remedy=""
    )


def test_a_failed_step_names_the_cause_that_its_log_shows(tmp_path: Path) -> None:
    log = tmp_path / "step.log"
    log.write_text(f"{UNDEFINED}\n" + "more\n" * 30 + "ninja: build stopped: subcommand failed.\n")
    error = explained(_failed(log, "more", "ninja: build stopped: subcommand failed."))
    assert (error.code, error.status) == ("step-known", 7)
    assert "known as K041, paddock explain K041" in error.part("do")
    assert "libphi_core.so" in error.part("cause")
    assert error.details[0] == UNDEFINED
    assert str(log) in error.part("do")


def test_a_failed_step_without_a_known_cause_stays_as_it_is(tmp_path: Path) -> None:
    log = tmp_path / "step.log"
    log.write_text("odd\n")
    assert (error := _failed(log)) is explained(error)
    assert (error := _failed(tmp_path / "none")) is explained(error)
    assert (error := PaddockError("declined", what="x")) is explained(error)


def _report(*log: str) -> SmokeReport:
    check = Check("end", False, error="exit status 1")
    level = LevelReport(
        level="device",
        device="",
        passed=False,
        checks=(check,),
        seconds=0.0,
        native={},
        fallback={},
        figures={},
        skipped={},
        log=log,
    )
    return SmokeReport(device="loopback", passed=False, levels=(level,))


def test_a_failed_smoke_test_names_its_cause() -> None:
    error = smoke_failed(_report("Fail to open library: x", UNDEFINED), "loopback")
    assert (error.code, error.status) == ("smoke-known", 8)
    assert "K041" in error.part("do")
    assert smoke_failed(_report("odd"), "loopback").code == "smoke-failed"


def test_the_first_cause_of_some_lines() -> None:
    known = first_known(["ninja: build stopped: subcommand failed.", UNDEFINED])
    assert known is not None
    assert known.id == "K041"
    assert first_known(["nothing"]) is None
