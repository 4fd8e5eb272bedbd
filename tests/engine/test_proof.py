"""The smoke tests as the end of a run: never skipped for a state that they have not seen."""

from __future__ import annotations

from pathlib import Path

import pytest

import checks.proof
import checks.smoke.run
from checks.chain import Face, carry_out
from checks.smoke.report import LevelReport, SmokeReport
from checks.smoke.settings import settings_of
from provision.engine import Options, holding
from provision.errors import PaddockError
from provision.journal import Journal
from provision.paths import IMAGES
from provision.progress import progress
from tests.engine.world import World

FACE = Face(lambda line: None, lambda: progress(json=True), lambda what: False)


@pytest.fixture
def proofs(ready: World, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What each run of the smoke tests says, last first; their content is tested elsewhere."""
    for name, value in ready.environment({}).items():
        monkeypatch.setenv(name, value)
    verdicts: list[bool] = []

    def run_smoke(*_: object, **__: object) -> SmokeReport:
        passed = verdicts.pop()
        level = LevelReport(
            level="ops", device="small:0", passed=passed, checks=(), seconds=0.0, native={},
            fallback={}, figures={}, skipped={}, log=(),
        )  # fmt: skip
        return SmokeReport(device="small", passed=passed, levels=(level,))

    monkeypatch.setattr(checks.smoke.run, "run_smoke", run_smoke)
    settings = settings_of(IMAGES / "loopback")
    monkeypatch.setattr(checks.proof, "settings_of", lambda folder: settings)
    return verdicts


def run(world: World, verdicts: list[bool], *says: bool, only: tuple[str, ...] = ()) -> bool:
    """Run the whole stack, or these steps; returns whether the smoke tests ran."""
    verdicts[:] = says
    carry_out(Options("small", stack=world.stack, only=only), FACE)
    return not verdicts


def test_a_state_is_proved_once_and_every_change_of_it_again(
    ready: World, proofs: list[bool]
) -> None:
    options = Options("small", stack=ready.stack)
    assert holding(options) is None
    assert run(ready, proofs, True)
    assert holding(options) == 5
    assert not run(ready, proofs, True)
    record = next(ready.env.glob("lib/*/site-packages/gamma-*/RECORD"))
    record.unlink()
    assert holding(options) is None
    assert run(ready, proofs, True), "the same keys, but installed anew"
    assert holding(options) == 5


def test_a_failed_proof_is_an_error_and_repeated(ready: World, proofs: list[bool]) -> None:
    with pytest.raises(PaddockError, match="ops") as error:
        run(ready, proofs, False)
    report = error.value.to_json()["smoke"]
    assert isinstance(report, dict) and report["levels"][0]["level"] == "ops"
    assert holding(Options("small", stack=ready.stack)) is None
    assert Journal(Path(ready.state / "journal.jsonl")).last()["smoke"].event == "failed"
    assert run(ready, proofs, True)


def test_the_proof_can_be_asked_for_with_steps_and_is_the_same(
    ready: World, proofs: list[bool]
) -> None:
    """As where some of the steps are a container's."""
    assert not run(ready, proofs, True, only=("env/python",))
    assert run(ready, proofs, True, only=("env/python", "smoke"))
    assert not run(ready, proofs, True, only=("env/python", "smoke"))
    assert not run(ready, proofs, True)
    ready.env.rename(ready.env.with_name("gone"))
    with pytest.raises(PaddockError) as error:
        run(ready, proofs, True, only=("smoke",))
    assert error.value.code == "not-provisioned"
