"""Distributions by their folders, pins by their lock."""

from __future__ import annotations

from pathlib import Path

import pytest

from provision.distributions import pins
from provision.facts import installed
from provision.site import Site

LOCK = """\
# made by a tool
--index-url https://index.test/simple
alpha==1.0 \\
    --hash=sha256:00 \\
    --hash=sha256:11
Beta.Two[extra]==2.0.0 ; python_version >= '3.11' --hash=sha256:22
gamma==3 ; python_full_version < '3.11'
loose>=4
delta==5.0.post1  # why
"""


def dist(folder: Path, name: str, complete: bool = True) -> None:
    (folder / f"{name}.dist-info").mkdir(parents=True)
    if complete:
        (folder / f"{name}.dist-info/METADATA").touch()


@pytest.mark.usefixtures("home")
def test_names_are_normalised_and_torn_installs_left_out() -> None:
    site = Site("loopback")
    folder = site.env / "lib/python3.11/site-packages"
    dist(folder, "Beta_Two-2.0")
    dist(folder, "zope.thing-1.0.post1")
    dist(folder, "torn-1.0", complete=False)
    found = installed.environment(site)
    assert found and found.packages == {"beta-two": "2.0", "zope-thing": "1.0.post1"}


@pytest.mark.usefixtures("home")
def test_what_an_installer_left_undone_is_seen() -> None:
    site = Site("loopback")
    folder = site.env / "lib/python3.11/site-packages"
    dist(folder, "whole-1.0")
    (folder / "whole-1.0.dist-info/WHEEL").write_text("Wheel-Version: 1.0\nTag: py3-none-any\n")
    dist(folder, "torn-1.0", complete=False)
    found = installed.environment(site)
    assert found and found.wheels == {"whole": ["py3-none-any"]}
    assert [(odd.kind, odd.names) for odd in found.oddities] == [("torn", ["torn"])]


def test_pins_that_apply_to_a_python() -> None:
    assert pins(LOCK, "3.11.7") == {"alpha": "1.0", "beta-two": "2.0.0", "delta": "5.0.post1"}
    assert set(pins(LOCK, "3.10.1")) == {"alpha", "gamma", "delta"}


def environment(**packages: str) -> installed.Environment:
    return installed.Environment("python", "3.11.7", "", packages)


def release(locks: Path, name: str, **texts: str) -> None:
    (locks / name).mkdir(parents=True)
    for layer, text in texts.items():
        (locks / name / f"{layer}.txt").write_text(text)


def test_missing_and_other_versions(tmp_path: Path) -> None:
    release(tmp_path, "1", framework="a==1.0\nb==2\n", model="c==3\n")
    made = installed.compare(environment(a="1.0.0", b="2.1"), tmp_path, "1")
    assert made and made.locked == 3
    assert [(d.layer, d.name, d.wanted, d.found) for d in made.differences] == [
        ("framework", "b", "2", "2.1"), ("model", "c", "3", None),
    ]  # fmt: skip


def test_the_nearest_release_is_meant(tmp_path: Path) -> None:
    release(tmp_path, "1", framework="a==1\n")
    release(tmp_path, "2", framework="a==2\n")
    (tmp_path / "3").mkdir()
    for version, default, expected in (("2", "1", "2"), ("1", "2", "1"), ("7", "2", "2")):
        made = installed.compare(environment(a=version), tmp_path, default)
        assert made and made.release == expected


def test_without_a_lock_there_is_no_comparison(tmp_path: Path) -> None:
    assert installed.compare(environment(), tmp_path / "none", "1") is None


def test_a_version_that_is_none_differs(tmp_path: Path) -> None:
    release(tmp_path, "1", framework="a==1\n")
    made = installed.compare(environment(a="not.a.version"), tmp_path, "1")
    assert made and made.differences[0].found == "not.a.version"


@pytest.mark.usefixtures("home")
def test_an_environment_that_is_not_there_and_one_that_does_not_answer() -> None:
    site = Site("loopback")
    assert installed.environment(site) is None
    site.python.parent.mkdir(parents=True)
    site.python.symlink_to("/nowhere/python3")
    found = installed.environment(site)
    assert found and found.version is None and "No such file" in found.problem
    site.python.unlink()
    site.python.write_text("#!/bin/sh\necho 'broken pipe dream' >&2; exit 3\n")
    site.python.chmod(0o755)
    found = installed.environment(site)
    assert found and found.version is None and found.problem == "broken pipe dream"
