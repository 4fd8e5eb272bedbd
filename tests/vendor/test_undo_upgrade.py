"""An undo after an upgrade removes what is there now, by its own uninstaller, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from checks import bring
from provision import engine, guard
from provision.engine import Options
from provision.errors import STEP, PaddockError
from provision.render import render
from provision.steps import loaded
from provision.steps.base import Context
from provision.steps.vendor import Vendor
from provision.undo import host_steps
from provision.vendor import boot, deps
from tests.vendor.conftest import Make, undone

STEP_NAME = "host/driver"
# Its versions have one place; only the package that brought one knows how to remove it.
INSTALLER = """#!/bin/bash
place={place} version={version}
case "$1" in
    --check) ;;
    --uninstall)
        echo "$version" >> $place.removed
        [ -e $place.deaf ] || { sleep ${SLOW:-0}; rm -rf $place; }
        echo "Reboot needed for uninstallation to take effect!"
        ;;
    *) mkdir -p $place; echo "Version=$version" > $place/version; [ ! -e $place.fails ] ;;
esac
"""
At = Callable[[str], Context]


@pytest.fixture
def at(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> At:
    """A context of a release with this pin of the driver, which no card is needed for."""
    modules = tmp_path / "modules"
    modules.mkdir()
    monkeypatch.setattr(loaded, "_MODULES", modules)

    def context(pin: str) -> Context:
        made = make()
        row = msgspec.structs.replace(
            made.stack.packages["driver"], shows=str(tmp_path / "driver" / "version"),
            install=["--full"], upgrade=[], remove=["--uninstall", "-q"],
        )  # fmt: skip
        release = made.stack.releases[made.release]
        pinned = msgspec.structs.replace(release, pins={**release.pins, "driver": pin})
        stack = msgspec.structs.replace(
            made.stack,
            packages={**made.stack.packages, "driver": row},
            releases={**made.stack.releases, made.release: pinned},
        )
        return make(stack=stack)

    return context


def put(context: Context, tmp_path: Path) -> Path:
    """The installer of the pinned version, in the folder of packages."""
    version = deps.known(context)["driver"]
    assert context.deps
    file = context.deps / (deps.wanted(context.stack.packages["driver"], context) or "")
    file.write_text(INSTALLER.replace("{place}", str(tmp_path / "driver"))
                    .replace("{version}", version))  # fmt: skip
    return file


def install(context: Context, tmp_path: Path) -> int:
    """Run the step; returns the exit status."""
    put(context, tmp_path)
    context.site.output(STEP_NAME).parent.mkdir(parents=True, exist_ok=True)
    script = render(Vendor.template, Vendor().values(context.step(STEP_NAME), context))
    done = subprocess.run(["/bin/sh", "-euc", script], check=False, capture_output=True)
    return done.returncode


def removed(tmp_path: Path) -> list[str]:
    """The versions whose uninstallers were run."""
    file = tmp_path / "driver.removed"
    return file.read_text().split() if file.exists() else []


def test_after_an_upgrade_of_ours_the_newer_uninstaller_is_run(at: At, tmp_path: Path) -> None:
    for pin in ("1.0.5.1", "1.2.0.301"):
        assert install(at(pin), tmp_path) == 0
    undone(at("1.2.0.301"))
    assert removed(tmp_path) == ["1.2.0.301"]
    assert host_steps(at("1.0.5.1")) == []


def test_after_an_upgrade_that_failed_it_is_the_one_of_what_is_there(
    at: At, tmp_path: Path
) -> None:
    assert install(at("1.0.5.1"), tmp_path) == 0
    (tmp_path / "driver.fails").touch()
    assert install(at("1.2.0.301"), tmp_path) != 0
    (tmp_path / "driver" / "version").write_text("Version=1.0.5.1\n")
    undone(at("1.2.0.301"))
    assert removed(tmp_path) == ["1.0.5.1"]


def test_an_upgrade_of_somebody_elses_is_not_undone(at: At, tmp_path: Path) -> None:
    (tmp_path / "driver").mkdir()
    (tmp_path / "driver" / "version").write_text("Version=1.0.5.1\n")
    assert install(at("1.2.0.301"), tmp_path) == 0
    assert host_steps(at("1.2.0.301")) == []


def test_a_version_that_somebody_put_in_its_place_stays_and_is_told(at: At, tmp_path: Path) -> None:
    context = at("1.2.0.301")
    assert install(context, tmp_path) == 0
    (tmp_path / "driver" / "version").write_text("Version=2.0.0\n")
    context.site.env.mkdir(parents=True)
    (tmp_path / "modules" / "drv_davinci_intf_host").mkdir()
    with pytest.raises(PaddockError) as caught:
        undone(context)
    assert (caught.value.code, caught.value.status) == ("undo-left", STEP)
    assert f"{STEP_NAME} 2.0.0" in str(caught.value)
    assert caught.value.details == (), "its module is rightly loaded"
    assert removed(tmp_path) == [] and not context.site.env.exists()


def test_an_uninstaller_without_an_effect_is_not_believed(at: At, tmp_path: Path) -> None:
    assert install(at("1.2.0.301"), tmp_path) == 0
    (tmp_path / "driver.deaf").touch()
    with pytest.raises(PaddockError) as caught:
        undone(at("1.2.0.301"))
    assert caught.value.code == "undo-left" and removed(tmp_path) == ["1.2.0.301"]


def test_a_module_that_stays_loaded_and_a_reboot_that_is_asked_for_are_told(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    context = at("1.2.0.301")
    monkeypatch.setattr(engine, "prepare", lambda options: context)
    for is_json in (False, True):
        assert install(context, tmp_path) == 0
        (tmp_path / "modules" / "drv_davinci_intf_host").mkdir(exist_ok=True)
        capsys.readouterr()
        assert bring.undo(Options("ascend910b"), yes=True, json=is_json, dry_run=False) == 0
        out = capsys.readouterr().out
        told = "\n".join(json.loads(out)["reboot"]) if is_json else out
        assert "drv_davinci_intf_host" in told and "still loaded" in told
        assert f"uninstaller of {STEP_NAME}" in told
        assert context.site.reboot.read_text() == boot.current(), "the next run waits for it too"
    assert bring.undo(Options("ascend910b"), yes=True, json=False, dry_run=False) == 0
    assert "reboot" not in capsys.readouterr().out, "nothing was removed"


def test_a_signal_lets_an_uninstaller_finish(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLOW", "0.5")
    context = at("1.2.0.301")
    assert install(context, tmp_path) == 0

    def interrupt() -> None:
        while not removed(tmp_path):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt), guard.signals():
        undone(context)
    assert not (tmp_path / "driver").exists()
    assert host_steps(context) == []
    assert STEP_NAME in capsys.readouterr().err
