"""What is told before any simulated machine is made: flags that do not fit, programs that lack."""

from __future__ import annotations

import inspect
import json
import shutil
from pathlib import Path

import pytest

import tasks
from checks import rehearsal
from tests.conftest import Cli
from tests.lab.__main__ import main

REHEARSE = ("provision", "--target", "npu", "--rehearse")
SETTLED = {
    "--deps": ".", "--stack": "images/s60/stack.toml", "--accept-eula": "cann",
    "--unsupported-os": None, "--ca-bundle": "/etc/hostname", "--image": "demo:1",
    "--volume": "/home", "--plugin-source": ".", "--plugin-ref": "v1", "--ops-source": ".",
}  # fmt: skip


@pytest.mark.parametrize("place", [(), ("--in", "container")])
@pytest.mark.parametrize("flag", SETTLED)
def test_what_the_machine_settles_is_refused_with_its_reason(
    here: Cli, flag: str, place: tuple[str, ...]
) -> None:
    value = SETTLED[flag]
    words = (*REHEARSE, *place, flag, *([value] if value else []))
    error = json.loads(here(*words, "--json").stdout)
    assert (error["code"], error["status"]) == ("not-rehearsed", 2)
    assert flag in error["what"] and flag in error["do"]
    assert "simulated machine" in error["cause"] or "from a vendor there" in error["cause"]
    chinese = json.loads(here(*words, "--json", PADDOCK_LANG="zh").stdout)
    assert chinese["cause"] != error["cause"] and flag in chinese["what"]


def test_each_flag_is_handed_on_or_refused_with_a_reason() -> None:
    flags = set(inspect.signature(tasks.provision.body).parameters) - {"_", "target", "rehearse"}
    refused = {flag.strip("-").replace("-", "_") for flag in SETTLED}
    assert flags == refused | set(rehearsal._PASSED)


def test_the_reasons_differ(here: Cli) -> None:
    causes = [
        json.loads(here(*REHEARSE, flag, *([value] if value else []), "--json").stdout)["cause"]
        for flag, value in SETTLED.items()
    ]
    assert len(set(causes)) == len(SETTLED) - 2  # those for sources are of one kind


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--in box", "host, container"),
        ("--cards 0", "--in container"),
        ("--name mine", "--in container"),
        ("--privileged", "--in container"),
        ("--in container --cards 3-1", "--cards"),
        ("--in container --name -x", "--name"),
        ("--in container --only no/step", "no/step"),
        ("--in container --release 3.0", "nearest: 3.0.0"),
        ("--in container --index-url file:///tmp", "--index-url"),
        ("--jobs 0", "--jobs"),
    ],
)
def test_a_wrong_value_is_refused_here_and_not_on_the_machine(
    here: Cli, words: str, said: str
) -> None:
    done = here(*REHEARSE, *words.split(), DOCKER_HOST="unix:///nonexistent")
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert "rehearsal of" not in done.stdout


def only(folder: Path, *names: str) -> str:
    """A PATH with these programs alone."""
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(str(shutil.which("true")))
    return str(folder)


@pytest.mark.parametrize("words", [("up", "s60", ""), ("rehearse", "s60", "--yes")])
def test_all_that_is_missing_is_told_at_once(
    words: tuple[str, ...], tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert not home.exists()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    monkeypatch.setenv("PATH", only(tmp_path / "bin", "docker", "gcc", "dpkg-deb"))
    assert main(*words) == 4
    said = capfd.readouterr()
    assert "apt-get install makeself git mmdebstrap" in said.err
    assert f"No container engine answers at unix://{tmp_path}/no.sock" in said.err
    assert said.out == ""
    monkeypatch.setenv("PATH", only(tmp_path / "empty"))
    assert main(*words, "--json") == 4
    error = json.loads(capfd.readouterr().out)
    assert error["code"] == "lab-needs"
    assert "docker.io gcc makeself dpkg git mmdebstrap" in error["details"][0]


def test_a_machine_is_removed_without_what_makes_one(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert not home.exists()
    monkeypatch.setenv("PATH", only(tmp_path / "empty"))
    assert main("down", "s60", "") == 4
    said = capfd.readouterr().err
    assert "apt-get install docker.io\n" in said


@pytest.mark.parametrize("away", [pytest.skip.Exception, pytest.fail.Exception, RuntimeError])
def test_what_fails_on_the_way_is_told_with_its_own_words(
    away: type[BaseException], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: bool) -> None:
        raise away("the archive cannot be reached")

    monkeypatch.setattr("tests.lab.ready.check", fail)
    assert main("up", "s60", "") == 4
    assert "| the archive cannot be reached\n" in capfd.readouterr().err
