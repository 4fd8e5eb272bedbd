"""Tops packages hold where they are of the release, by the number that dpkg has for the whole."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from provision.errors import PaddockError
from provision.forms.commands import holds
from provision.forms.wanted import Wanted
from provision.stack import Step, load
from provision.steps.base import Context, NotSo
from provision.steps.debs import Debs
from provision.vendor import kept
from tests.vendor.conftest import Make

# A dpkg-query that knows the packages of the file beside it, in the form of its answer here.
_QUERY = """#!/bin/sh
for name; do grep "^$name " "$(dirname "$0")/status"; done
"""
# The same for `-W -f '${FIELD}' NAME`, one field at a time.
_SHOWN = """#!/bin/sh
case $3 in *Version*) field=3 ;; *) field=2 ;; esac
grep "^$4 " "$(dirname "$0")/status" | cut -d ' ' -f $field | tr -d '\\n'
"""
_SCRIPT = """set -eu
say() { echo "$*"; }
fail() { say "$*"; exit 1; }
"""
PARTS = ("topsfactor", "tops-sdk", "eccl", "topsaten")


@pytest.fixture
def dpkg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which a test says what is installed."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "dpkg-query").write_text(_QUERY)
    (folder / "dpkg-query").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder / "status"


def lines(runtime: str = "", state: str = "installed", part: str = "3.1.2-1") -> str:
    """Four parts, which count on their own, and the runtime, which has the number of the whole."""
    told = [f"{name} installed {part}\n" for name in PARTS]
    return "".join([*told, f"topsruntime {state} {runtime}\n" if runtime else ""])


def tops(context: Context) -> Step:
    return context.step("host/tops")


def says(context: Context) -> str:
    """`same`, the version that is asked about, or what is missing."""
    try:
        Debs().verify(tops(context), context)
    except NotSo as missing:
        return f"not so: {missing}"
    return Debs().asks(tops(context), context) or "same"


@pytest.mark.parametrize(
    ("release", "runtime", "told"),
    [
        ("3.0.0", "1.2.0.301", "same"),
        ("3.0.0", "1.2.0.301-1", "same"),
        ("3.0.0", "1:1.2.0.301-1", "same"),
        ("3.0.0", "1.0.5.1", "not so: topsruntime 1.0.5.1 < 1.2.0.301"),
        ("3.3.0", "1.2.0.301-1", "not so: topsruntime 1.2.0.301 < 1.5.0.601"),
        ("3.0.0", "1.5.0.601", "1.5.0.601"),
        ("3.0.0b0", "1.0.5.1", "same"),
        ("3.0.0b0", "1.2.0.301", "1.2.0.301"),
    ],
)
def test_the_version_is_that_of_the_release(
    make: Make, dpkg: Path, release: str, runtime: str, told: str
) -> None:
    dpkg.write_text(lines(runtime))
    assert says(make("s60", release)) == told


def test_each_release_takes_the_others_stack_for_another_one(make: Make, dpkg: Path) -> None:
    stack = make("s60").stack
    pins = {name: one.pins["tops"].partition("-")[0] for name, one in stack.releases.items()}
    for name, pinned in pins.items():
        for version in pins.values():
            dpkg.write_text(lines(version))
            assert (says(make("s60", name)) == "same") == (version == pinned)


@pytest.mark.parametrize("status", [lines(), lines("1.2.0.301", "half-configured")])
def test_a_version_that_dpkg_does_not_tell_is_asked_about_once(
    make: Make, dpkg: Path, status: str
) -> None:
    dpkg.write_text(status)
    context = make("s60")
    asked = says(context)
    assert "topsruntime" in asked and "1.2.0.301" not in asked
    kept.agree(context.site, {"host/tops": asked})
    assert says(context) == "same"
    dpkg.write_text(lines("1.5.0.601"))
    assert says(context) == "1.5.0.601"


def test_a_missing_part_counts_first(make: Make, dpkg: Path) -> None:
    dpkg.write_text(lines("1.5.0.601").replace("eccl installed", "eccl half-installed"))
    assert says(make("s60")) == "not so: eccl"


def test_only_what_is_there_can_be_newer(make: Make, dpkg: Path) -> None:
    """On a fresh machine nothing is asked; a newer version counts where a part is missing, too."""
    context = make("s60")
    dpkg.write_text("")
    assert Debs().newer(tops(context), context) == ""
    dpkg.write_text("topsruntime installed 1.5.0.601\n")
    assert Debs().newer(tops(context), context) == "1.5.0.601"
    assert Debs().removing(tops(context), context) == "dpkg --purge topsruntime"
    dpkg.write_text("topsruntime installed 1.0.5.1\n")
    assert Debs().newer(tops(context), context) == ""


def test_a_step_that_tells_needs_a_pin(make: Make, tmp_path: Path) -> None:
    text = (make("s60").folder / "stack.toml").read_text(encoding="utf-8")
    assert 'pin = "tops"\n' in text
    file = tmp_path / "stack.toml"
    file.write_text(text.replace('pin = "tops"\n', ""), encoding="utf-8")
    with pytest.raises(PaddockError, match="`told_by` needs a `pin`"):
        load(file)


@pytest.mark.parametrize(
    ("runtime", "told"),
    [
        ("1.2.0.301-1", ["holds"]),
        (
            "1.0.5.1",
            [
                "installed is 1.0.5.1, wanted 1.2.0.301: nothing is replaced here, "
                "see paddock provision"
            ],
        ),
        ("", ["the installed version cannot be told: dpkg has no topsruntime", "holds"]),
    ],
)
def test_the_rendered_script_looks_at_it_too(
    make: Make, dpkg: Path, runtime: str, told: list[str]
) -> None:
    """It replaces nothing, so it ends where the stack is another one."""
    (dpkg.parent / "dpkg-query").write_text(_SHOWN)
    dpkg.write_text(lines(runtime))
    context = make("s60")
    check = holds(tops(context), Wanted(context.stack, context.folder, context.release))
    script = f"{_SCRIPT}check() {{\n{check}}}\ncheck && echo holds"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == told, done.stderr
