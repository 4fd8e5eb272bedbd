"""An undo that is killed: the next run of either kind knows of it, and goes on soundly."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from provision import orphans
from provision.engine import tidy
from provision.errors import BUSY, PaddockError
from provision.journal import Journal
from provision.orphans import MARK, end_orphans
from provision.plan import plan
from provision.steps.base import Context
from provision.undo import begun, host_steps
from tests.vendor.conftest import undone
from tests.vendor.test_undo_upgrade import STEP_NAME, At, at, install, removed

__all__ = ["at"]  # the fixture
PIN = "1.2.0.301"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run does not wait long for what was left at work."""
    monkeypatch.setattr(orphans.still_lasting, "__defaults__", (0.1,))


def killed(work: Callable[[], object], when: Callable[[], object]) -> None:
    """Do it in another process, which is killed alone as soon as `when` holds."""
    process = os.fork()
    if not process:
        try:
            work()
        finally:
            os._exit(1)
    until(when)
    os.kill(process, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL


def until(holds: Callable[[], object]) -> None:
    """Wait for it."""
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def events(context: Context) -> dict[str, str]:
    """The last event of each step."""
    return {name: one.event for name, one in Journal(context.site.journal).last().items()}


def test_its_uninstaller_comes_to_its_end_and_is_waited_for(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOW", "1")
    context = at(PIN)
    assert install(context, tmp_path) == 0
    killed(lambda: undone(context), lambda: removed(tmp_path))
    with pytest.raises(PaddockError) as caught:
        tidy(context.site)
    assert caught.value.status == BUSY and STEP_NAME in str(caught.value)
    until(lambda: not host_steps(context))  # to the last line of the script
    assert not (tmp_path / "driver").exists()
    assert events(context)[STEP_NAME] == "removing" and STEP_NAME in begun(context.site)
    tidy(context.site)
    undone(context)
    assert events(context)[STEP_NAME] == "undone" and begun(context.site) == ""
    assert removed(tmp_path) == [PIN], "what had ended is not done again"


def test_when_all_was_killed_nothing_is_taken_for_whole(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOW", "60")
    context = at(PIN)
    assert install(context, tmp_path) == 0
    killed(lambda: undone(context), lambda: removed(tmp_path))
    entry = Journal(context.site.journal).last()[STEP_NAME]
    end_orphans(entry.run, patience=0.5)
    assert (tmp_path / "driver" / "version").exists()
    driver = next(one for one in plan(context) if one.name == STEP_NAME)
    assert driver.state != "satisfied" and "removal" in driver.reason
    assert STEP_NAME in begun(context.site)
    monkeypatch.setenv("SLOW", "0")
    tidy(context.site)
    undone(context)
    assert not (tmp_path / "driver").exists() and host_steps(context) == []
    assert begun(context.site) == ""


def test_one_that_was_killed_among_the_folders_is_known(
    at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = at(PIN)
    site = context.site
    for folder in (site.env, site.wheels):
        folder.mkdir(parents=True)
    Journal(site.journal).record("env/python", "done", "key")

    def removing(path: Path) -> None:
        (tmp := site.state / "reached").touch()
        while tmp.exists():
            time.sleep(1)

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", removing)
        killed(lambda: undone(context), (site.state / "reached").exists)
    assert events(context) == {"env/python": "removing"} and "env/python" in begun(site)
    assert [path.name[:16] for path in site.env.parent.iterdir()] == [".ascend910b.remo"]
    tidy(site)
    assert list(site.env.parent.iterdir()) == []
    python = next(one for one in plan(context) if one.name == "env/python")
    assert python.state != "satisfied" and begun(site) != ""
    undone(context)
    assert events(context) == {"env/python": "undone"}


def test_what_the_tool_has_not_added_is_no_part_of_it(at: At, tmp_path: Path) -> None:
    """A driver of somebody else's stays, and is not taken for half removed, nor half an upgrade of
    it for none. Of what only looks or loads nothing is left."""
    context = at(PIN)
    assert install(context, tmp_path) == 0
    context.site.added(STEP_NAME).unlink()
    left = {STEP_NAME: "done", "host/firmware": "failed", "host/loaded": "failed"}
    for name, event in left.items():
        Journal(context.site.journal).record(name, event, "key")  # type: ignore[arg-type]
    undone(context)
    assert events(context) == left | {"host/loaded": "undone"} and removed(tmp_path) == []


def test_the_mark_is_one_of_this_undo(at: At, tmp_path: Path) -> None:
    """By it a later run finds what is still at work."""
    context = at(PIN)
    assert install(context, tmp_path) == 0
    note = context.site.added(STEP_NAME)
    note.write_text(f'printf %s "${MARK}" > {tmp_path}/mark; rm -r {tmp_path}/driver\n')
    undone(context)
    entries = [one for one in Journal(context.site.journal).entries() if one.event == "removing"]
    assert (tmp_path / "mark").read_text() == f"{entries[0].run}/{STEP_NAME}"
