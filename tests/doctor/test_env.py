"""`doctor --env`: an environment of the user's own in place of Paddock's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from checks.doctor.examine import Report, ask, examine
from checks.doctor.report import lines
from checks.machine.finding import known, present
from provision.errors import PaddockError
from provision.facts import snapshot
from provision.facts.leftover import Leftover, Step
from provision.facts.snapshot import Facts
from tests.conftest import Cli
from tests.doctor.values import COMPARISON, ENVIRONMENT, PLUGIN, changed

FOREIGN = changed(ENVIRONMENT, own=False)
APART = ["leftover-run", "stack-framework", "stack-packages"]


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with two made-up distributions and no Paddle."""
    path = tmp_path_factory.mktemp("own") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", path], check=True)
    packages = next(path.glob("lib/python3*/site-packages"))
    for name in ("demo-7.1", "other_one-0.2"):
        folder = packages / f"{name}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\n")
    return path


def states(facts: Facts) -> dict[str, str]:
    return {finding.id: finding.state for finding in ask(facts)}


def test_the_environment_is_read_in_place_of_paddock_s(home: Path, venv: Path) -> None:
    made = examine("loopback", env=str(venv))
    found = present(made.facts.environment)
    assert (found.prefix, found.own, found.kind) == (str(venv), False, "venv")
    assert found.packages == {"demo": "7.1", "other-one": "0.2"}
    assert made.facts.comparison is None and made.facts.foreign
    assert present(made.facts.plugin).folder.startswith(str(venv))
    assert known(made.facts.linkage) == [] and not (home / "state" / "loopback").exists()


def test_what_is_about_paddock_s_own_environment_does_not_arise(healthy: Facts) -> None:
    left = Leftover("/demo/journal", False, [Step("env/python", "failed", 1.0, "/demo/log")])
    wrong = changed(healthy, environment=FOREIGN, comparison=None, leftover=left)
    found = states(wrong)
    assert [found[name] for name in APART] == ["apart"] * 3
    assert (found["environment-python"], found["plugin-loads"]) == ("ok", "ok")
    found = states(changed(wrong, environment=ENVIRONMENT, comparison=COMPARISON))
    assert found["leftover-run"] == "error"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_tells_to_provision_over_it(
    healthy: Facts, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setenv("PADDOCK_LANG", language)
    for verdict in ("absent", "skipped", "paddle", "crashes"):
        sick = changed(healthy, environment=FOREIGN, plugin=changed(PLUGIN, verdict=verdict))
        made = Report(sick, ask(sick), 0.1)
        wanted = "" if verdict == "paddle" else "paddock build-ops --backend loopback"
        finding = next(one for one in made.findings if one.id == "plugin-loads")
        assert (finding.state, finding.command) == ("error", wanted)
        shown = lines(made, colour=False)
        assert not any("paddock provision" in line for line in shown)
        announced = [
            shown[n + 1].strip() for n, line in enumerate(shown) if line[-1:] in (":", "：")
        ]
        assert set(announced) <= {wanted} - {""}


def test_a_dead_interpreter_of_the_user_s_own(healthy: Facts) -> None:
    dead = changed(FOREIGN, version=None, problem="no such file")
    finding = next(
        one
        for one in ask(changed(healthy, environment=dead, plugin=None))
        if one.id == "environment-python"
    )
    assert (finding.state, finding.case, finding.command) == ("error", "dead-other", "")


def test_a_path_that_is_no_environment(home: Path, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone", Path("/dev/null")):
        with pytest.raises(PaddockError) as caught:
            examine("loopback", env=str(path))
        assert caught.value.code == "bad-option" and "--env" in str(caught.value)


def test_flags_that_go_with_it_and_those_that_do_not(cli: Cli, venv: Path, tmp_path: Path) -> None:
    for flags in (["--from", "x"], ["--list"], ["--compare", "a", "b"]):
        assert cli("doctor", "--env", str(venv), *flags).returncode == 2
    file = tmp_path / "x.json"
    made = cli("doctor", "--env", str(venv), "--target", "loopback", "--json",
               "--snapshot", str(file))  # fmt: skip
    told = json.loads(made.stdout)
    assert told["facts"]["environment"]["prefix"] == str(venv)
    again = json.loads(cli("doctor", "--from", str(file), "--json").stdout)
    assert again["findings"] == told["findings"]


def test_the_stack_s_environment_given_by_its_path_loads_its_plugin(
    stack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDOCK_HOME", str(tmp_path))
    facts = examine("loopback", env=str(stack / "bin" / "python")).facts
    plugin = present(facts.plugin)
    assert (plugin.verdict, plugin.proved) == ("loads", None)
    assert states(facts)["plugin-loads"] == "ok" and facts.comparison is None
    assert snapshot.collect(facts.stack).environment is None
