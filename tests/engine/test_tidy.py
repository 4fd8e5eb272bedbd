"""What a killed run leaves in the environment."""

from __future__ import annotations

import os
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from provision import orphans
from provision.engine import tidy
from provision.errors import BUSY, PaddockError
from provision.journal import Journal
from provision.orphans import LASTING, MARK
from provision.site import Site


def test_files_that_an_installer_was_copying_go_after_a_killed_run(home: Path) -> None:
    site = Site("small")
    package = site.env / "lib/python3.11/site-packages/package"
    package.mkdir(parents=True)
    half, whole = package / ".tmpAb12Cd", package / ".tmpfile"
    half.touch()
    whole.touch()
    tidy(site)
    assert half.exists()  # no run was killed, so that nobody looks
    Journal(site.journal).record("env/package", "start", "key", run="one-that-is-gone")
    tidy(site)
    assert whole.exists() and not half.exists()


def test_folders_without_a_record_go(home: Path) -> None:
    site = Site("small")
    folder = site.env / "lib/python3.11/site-packages"
    for name in ("half-1.dist-info", "whole-1.dist-info"):
        (folder / name).mkdir(parents=True)
    (folder / "whole-1.dist-info" / "RECORD").touch()
    tidy(site)
    assert [path.name for path in folder.iterdir()] == ["whole-1.dist-info"]


@pytest.mark.parametrize("lasting", [True, False])
def test_an_installer_that_a_killed_run_left_at_work_is_not_ended(
    home: Path, monkeypatch: pytest.MonkeyPatch, lasting: bool
) -> None:
    run = uuid.uuid4().hex
    mark = f"{run}/host/firmware"
    Journal(Site("small").journal).record("host/firmware", "start", "key", run=run)
    monkeypatch.setattr(orphans.still_lasting, "__defaults__", (0.2,))
    marks = {MARK: mark, **({LASTING: mark} if lasting else {})}
    with subprocess.Popen(["sleep", "300"], env={**os.environ, **marks}) as process:
        if lasting:
            with pytest.raises(PaddockError) as caught:
                tidy(Site("small"))
            assert caught.value.status == BUSY
            assert str(process.pid) in str(caught.value) and process.poll() is None
            process.kill()
            process.wait()
        tidy(Site("small"))
        assert process.wait(5)


def test_what_ends_soon_is_waited_for(home: Path) -> None:
    run = uuid.uuid4().hex
    mark = f"{run}/host/firmware"
    Journal(Site("small").journal).record("host/firmware", "start", "key", run=run)
    began = time.monotonic()
    with subprocess.Popen(["sleep", "0.3"], env={**os.environ, LASTING: mark}) as process:
        time.sleep(0.05)
        tidy(Site("small"))
        assert process.wait(5) == 0
    assert time.monotonic() - began > 0.3
