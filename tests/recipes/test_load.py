"""A plugin is loaded by a Python that does as told: where, and what it is not blamed for."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from provision.facts.command import Answer
from provision.wheels import trial
from provision.wheels.trial import Trial

Load = Callable[..., Trial]


@pytest.fixture
def load(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Load a wheel by a shell script in place of Python: with the plugin, and Paddle alone."""
    monkeypatch.setattr(trial, "is_scarce", lambda: False)
    monkeypatch.setattr(trial, "busy", lambda: 1.0)
    wheel = tmp_path / "x-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("paddle_custom_device/libpaddle-custom-cpu.so", b"")

    def run(plugin: str, alone: str, limit: float = 60) -> Trial:
        python = tmp_path / "python"
        python.write_text(
            '#!/bin/sh\nif [ -e "$CUSTOM_DEVICE_ROOT/libpaddle-custom-cpu.so" ]\n'
            f"then {plugin}\nelse {alone}\nfi\n"
        )
        python.chmod(0o755)
        return trial.load(wheel, trial.Place(python), "custom_cpu", compute=True, limit=limit)

    return run


def test_a_folder_for_temporary_files_that_forbids_to_run_them_is_not_used(
    load: Load, home: Path
) -> None:
    made = load('echo "$CUSTOM_DEVICE_ROOT" >&2; exit 1', "exit 0")
    assert made == Trial("error", "paddle_custom_device")
    made = load("echo at $PWD >&2; exit 1", "exit 0")
    assert made.line.startswith(f"at {home / 'cache'}/")
    assert not list((home / "cache").iterdir())


@pytest.mark.parametrize(
    ("plugin", "alone", "made"),
    [
        ("kill -ILL $$", "kill -ILL $$", Trial("paddle", "SIGILL")),
        ("echo libgomp.so.1 >&2; exit 1", "echo libgomp.so.1 >&2; exit 1",
         Trial("paddle", "libgomp.so.1")),
        ("kill -SEGV $$", "exit 0", Trial("crash", "SIGSEGV")),
        ("echo undefined symbol: x >&2; exit 1", "exit 0", Trial("symbol", "undefined symbol: x")),
        ("echo paddock-types; exit 0", "exit 1", Trial("absent", "registered: nothing")),
        ("exit 0", "exit 0", Trial("error", "exit status 0")),
    ],
)  # fmt: skip
def test_a_paddle_that_does_not_import_is_not_the_plugin_s_fault(
    load: Load, plugin: str, alone: str, made: Trial
) -> None:
    assert load(plugin, alone) == made


@pytest.mark.parametrize(
    ("plugin", "made"),
    [
        ("echo paddock-types custom_cpu; echo paddock-computed; exit 3",
         Trial("exit-crash", "exit status 3")),
        ("echo paddock-types custom_cpu; exec sleep 60", Trial("hang", "")),
        ("echo starting; echo paddock-types custom_cpu; echo paddock-computed; exec sleep 60",
         Trial("exit-hang", "starting")),
    ],
)  # fmt: skip
def test_the_line_that_shows_an_end_is_never_the_probe_s_own(
    load: Load, plugin: str, made: Trial
) -> None:
    assert load(plugin, "exit 0", 1) == made


def test_what_seems_to_hang_is_tried_again(load: Load, tmp_path: Path) -> None:
    """A slow disk from which all of Paddle is read for the first time."""
    cold = f"[ -e {tmp_path}/read ] || {{ touch {tmp_path}/read; exec sleep 60; }}"
    good = "echo paddock-types custom_cpu; echo paddock-computed"
    assert load(f"{cold}; {good}", "exit 0", 1) == Trial("loads", "")


def test_what_paddle_says_of_its_own_progress_is_no_reason(load: Load) -> None:
    progress = '[ "$GLOG_minloglevel" = 1 ] || echo I1130 Try loading custom device libs >&2'
    assert load(f"{progress}; exit 0", "exit 0") == Trial("error", "exit status 0")


def test_a_flood_is_told_and_not_the_signal_that_ended_it() -> None:
    answer = Answer(-9, "spam\n", "\nmore than 64 MiB of output")
    made = trial.judge(answer, "custom_cpu", compute=True)
    assert made == Trial("crash", "more than 64 MiB of output")
