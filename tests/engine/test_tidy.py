"""What a killed run leaves in the environment."""

from __future__ import annotations

from pathlib import Path

from provision.engine import tidy
from provision.journal import Journal
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
