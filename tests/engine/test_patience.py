"""A vendor's installer comes to its own end, whatever fails or is asked for meanwhile."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from provision import guard, patience, process
from provision.errors import PaddockError
from provision.journal import Journal
from provision.network import Network
from provision.output import Lasting
from provision.plan import Planned
from provision.process import Processes, Stopped
from provision.run import Runner, Settings
from provision.site import Site
from provision.stack import Step, load
from provision.steps import KINDS
from provision.steps.base import Context, Kind
from tests.engine.world import SMALL


class Plainly(Kind):
    """A script that does what a test says."""

    template = "steps/nothing.sh.j2"

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        return {}

    def verify(self, step: Step, context: Context) -> list[Path]:
        return []


class Installer(Plainly):
    """The same, not to be cut short."""

    leaves_halves = True
    silence = 0.0

    def quiet(self, step: Step, context: Context) -> float:
        return self.silence


class Notes:
    """A Progress that keeps what a person is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __enter__(self) -> Notes:
        return self

    def __exit__(self, *error: object) -> None: ...
    def started(self, step: str) -> None: ...
    def line(self, step: str, line: str) -> None: ...
    def finished(self, step: str, seconds: float) -> None: ...
    def over(self, step: str) -> None: ...
    def failed(self, step: str) -> None: ...

    def note(self, line: str) -> None:
        self.told.append(line)


pytestmark = pytest.mark.slow  # they wait for processes
_APART = 0.2  # seconds: signals within them are one wish


class World:
    """A runner of steps that are given as name -> (kind, script, needs)."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.notes, self.is_over = folder, Notes(), False
        context = Context(load(SMALL / "stack.toml"), SMALL, "1", Site("small"), None)
        settings = Settings(Network(), 1, folder.name + str(os.getpid()))  # marks what it starts
        self.runner = Runner(context, settings, settings.variables(folder), self.notes)

    def execute(self, **steps: tuple[str, str, tuple[str, ...]]) -> None:
        """Run them as `provision` does."""
        planned = [
            Planned(
                Step(name=name, kind=kind, needs=needs),  # type: ignore[arg-type]
                "pending", "", script, "key",
            ) for name, (kind, script, needs) in steps.items()
        ]  # fmt: skip
        try:
            with guard.signals():
                self.runner.execute(planned)
        finally:
            self.is_over = True

    def last(self) -> dict[str, str]:
        """The last event of each step."""
        journal = Journal(self.runner.context.site.journal)
        return {name: entry.event for name, entry in journal.last().items()}

    def send(self, *numbers: signal.Signals, apart: float = 0.3) -> None:
        """Send signals to this process, the first as soon as the installer is at work.

        Those that are not one wish are sent when the one before was answered, and so long after it.
        """

        def work() -> None:
            while not self.is_there("began"):
                time.sleep(0.01)
            for count, number in enumerate(numbers, start=1):
                if self.is_over:
                    return
                os.kill(os.getpid(), number)
                until = time.monotonic() + 10
                while apart > _APART and len(self.notes.told) < count and time.monotonic() < until:
                    time.sleep(0.01)
                time.sleep(apart)

        threading.Thread(target=work, daemon=True).start()

    def is_there(self, name: str) -> bool:
        return (self.folder / name).exists()

    def installer(self, seconds: float) -> tuple[str, str, tuple[str, ...]]:
        """An installer that takes its time."""
        script = f"touch {self.folder}/began; sleep {seconds}; touch {self.folder}/whole"
        return "install", script, ()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("PADDOCK_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(KINDS, "install", Installer())
    monkeypatch.setitem(KINDS, "wheel", Plainly())
    monkeypatch.setattr(patience, "_APART", _APART)
    return World(tmp_path)


def test_a_step_that_fails_cuts_no_installer_short(world: World) -> None:
    fails = f"while [ ! -e {world.folder}/began ]; do sleep 0.01; done; exit 3"
    slow = ("wheel", "sleep 300", ())
    with pytest.raises(PaddockError) as caught:
        world.execute(flash=world.installer(0.4), index=("wheel", fails, ()), build=slow,
                      after=("wheel", f"touch {world.folder}/after", ("flash",)))  # fmt: skip
    assert caught.value.values["step"] == "index"
    assert world.is_there("whole") and not world.is_there("after")
    assert world.last() == {"flash": "done", "index": "failed", "build": "interrupted"}
    (told,) = world.notes.told
    assert told.startswith("flash: ") and "let finish" in told


def test_the_failure_of_the_installer_meanwhile_is_told_too(world: World) -> None:
    fails = f"while [ ! -e {world.folder}/began ]; do sleep 0.01; done; exit 3"
    kind, script, _ = world.installer(0.2)
    with pytest.raises(PaddockError) as caught:
        world.execute(flash=(kind, f"{script}; exit 4", ()), index=("wheel", fails, ()))
    assert caught.value.values["step"] == "index"
    assert "flash" in caught.value.details[-1]
    assert world.last()["flash"] == "failed"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_lets_it_finish_and_starts_nothing_else(
    world: World, number: signal.Signals
) -> None:
    world.send(number)
    with pytest.raises(KeyboardInterrupt):
        world.execute(flash=world.installer(2), build=("wheel", "sleep 300", ()),
                      after=("wheel", f"touch {world.folder}/after", ("flash",)))  # fmt: skip
    assert world.is_there("whole") and not world.is_there("after")
    assert world.last() == {"flash": "done", "build": "interrupted"}
    (told,) = world.notes.told
    assert "flash (last output " in told and "A second Ctrl-C" in told and "firmware" in told


def test_the_second_signal_ends_it_and_the_next_run_takes_it_up(world: World) -> None:
    world.send(signal.SIGINT, signal.SIGINT)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        world.execute(flash=world.installer(30))
    assert time.monotonic() - began < 10 and not world.is_there("whole")
    assert world.last() == {"flash": "interrupted"}
    assert len(world.notes.told) == 2


def test_one_that_no_signal_ends_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that waits within the kernel."""
    monkeypatch.setattr(process, "signal_group", lambda group, number: None)
    monkeypatch.setattr(Processes.stop, "__defaults__", (0.2,))
    world.send(signal.SIGINT, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        world.execute(flash=world.installer(2.5))
    assert world.is_there("whole")
    *_, stuck = world.notes.told
    assert "flash: cannot be ended" in stuck and f"kill -9 {os.getpid()}" in stuck


@pytest.mark.parametrize(
    ("numbers", "apart"),
    [((signal.SIGINT, signal.SIGINT), 0.01), ((signal.SIGHUP, signal.SIGHUP), 0.3)],
    ids=["a key held down", "a closed terminal"],
)
def test_two_signals_that_are_one_wish_end_nothing(
    world: World, numbers: tuple[signal.Signals, ...], apart: float
) -> None:
    world.send(*numbers, apart=apart)
    with pytest.raises(KeyboardInterrupt):
        world.execute(flash=world.installer(0.8))
    assert world.is_there("whole") and world.last() == {"flash": "done"}


def test_a_failure_then_two_signals(world: World) -> None:
    """The first of them is told what another would do, as without the failure."""
    fails = f"while [ ! -e {world.folder}/began ]; do sleep 0.01; done; exit 3"
    world.send(signal.SIGWINCH, signal.SIGTERM, signal.SIGTERM)  # the first one: time to fail
    with pytest.raises(PaddockError):
        world.execute(flash=world.installer(30), index=("wheel", fails, ()))
    assert world.last()["flash"] == "interrupted"
    assert [("second" in told, "ended" in told) for told in world.notes.told] == [
        (False, False), (True, False), (False, True),
    ]  # fmt: skip


def test_one_that_prints_nothing_for_long_is_told_and_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal nobody else would: after the time, after twice the time, not in between.

    What has no end of a line counts as output, and is told as its newest line.
    """
    monkeypatch.setattr(Installer, "silence", 0.4)
    dots = "for n in 1 2 3 4 5; do printf .; sleep 0.2; done; echo; printf 'Continue? [y/n] '"
    world.execute(flash=("install", f"{dots}; sleep 1.2; echo; touch {world.folder}/whole", ()))
    assert world.is_there("whole") and world.last() == {"flash": "done"}
    assert [told.split(";")[0] for told in world.notes.told] == [
        "flash: no output for 0.4 s", "flash: no output for 0.8 s",
    ]  # fmt: skip
    assert all("Continue? [y/n]" in told and "flash.log" in told for told in world.notes.told)


def test_it_is_told_also_while_it_is_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a signal: at once what is waited for, later how long it has printed nothing."""
    monkeypatch.setattr(Installer, "silence", 0.8)
    world.send(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        world.execute(flash=world.installer(1.2))
    first, second = world.notes.told
    assert "A second" in first and "no output for 0.8 s" in second
    assert world.last() == {"flash": "done"}


def test_a_log_that_cannot_be_written_ends_no_installer(world: World) -> None:
    world.runner.logs.mkdir(parents=True)
    (world.runner.logs / "flash.log").symlink_to("/dev/full")
    kind, script, _ = world.installer(0.3)
    lines = "for n in 1 2 3; do echo $n; sleep 0.05; done"
    with pytest.raises(OSError, match="No space"):
        world.execute(flash=(kind, f"{lines}; {script}; {lines}; touch {world.folder}/end", ()))
    assert world.is_there("end")
    assert world.last() == {"flash": "start"}, "how it ended was not seen"


def test_what_is_begun_after_the_end_of_a_run_is_not_started(tmp_path: Path) -> None:
    processes, script = Processes(), tmp_path / "script.sh"
    script.write_text(f"touch {tmp_path}/began")
    processes.stop()
    with pytest.raises(Stopped):
        processes.run(script, tmp_path / "log", os.environ, lambda _: None, Lasting("flash"))
    assert not (tmp_path / "began").exists()


def test_work_that_is_not_cut_short_answers_all_the_same(tmp_path: Path) -> None:
    processes, script = Processes(), tmp_path / "script.sh"
    script.write_text("exit 3")
    told: list[str] = []

    def work() -> int:
        undo = Lasting("undo")
        return processes.run(script, tmp_path / "log", os.environ, told.append, undo).status

    assert patience.to_its_end(work, processes, told.append) == 3
    assert told == []
