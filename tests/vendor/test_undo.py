"""An undo removes the version that was installed, whichever is the wanted one by now."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from provision.errors import PaddockError
from provision.render import render
from provision.steps import debs
from provision.steps.base import Context
from provision.steps.debs import Debs
from provision.steps.vendor import Vendor
from provision.undo import host_steps
from provision.vendor import deps
from tests.vendor.conftest import Make, undone

OLD = "3.0.0b0"
INSTALLER = """#!/bin/bash
[ "$1" != --check ] || exit 0
mkdir -p {there}
echo Version=1 > {there}/version
echo 'echo "$@" > "$(dirname "$0")/removed"; rm "$0"' > {there}/remove.sh
"""
At = Callable[[str], Context]


@pytest.fixture
def at(make: Make, tmp_path: Path) -> At:
    """A context in which the toolkit, and no other package, is one of this test's folder."""

    def context(release: str) -> Context:
        made = make(release=release)
        there = str(tmp_path / "{cann}")
        remove = [f"{there}/remove.sh", "-q"]
        row = msgspec.structs.replace(
            made.stack.packages["toolkit"], shows=f"{there}/version", key="Version", remove=remove
        )
        stack = msgspec.structs.replace(
            made.stack, packages={**made.stack.packages, "toolkit": row}
        )
        return make(release=release, stack=stack)

    return context


def there(context: Context, tmp_path: Path) -> Path:
    """Where the toolkit of a release is installed."""
    return tmp_path / deps.known(context)["cann"]


def script(context: Context) -> str:
    return render(Vendor.template, Vendor().values(context.step("host/toolkit"), context))


def install(context: Context, tmp_path: Path, content: str = INSTALLER) -> int:
    """Run the step of the toolkit; returns the exit status."""
    assert context.deps
    name = deps.wanted(context.stack.packages["toolkit"], context) or ""
    (context.deps / name).write_text(content.format(there=there(context, tmp_path)))
    context.site.output("host/toolkit").parent.mkdir(parents=True, exist_ok=True)
    command = ["/bin/sh", "-euc", script(context)]
    return subprocess.run(command, check=False, capture_output=True).returncode


def test_the_installed_release_is_removed_not_the_default_one(at: At, tmp_path: Path) -> None:
    old, now = at(OLD), at("")
    assert there(old, tmp_path) != there(now, tmp_path)
    assert install(old, tmp_path) == 0
    undone(now)
    assert (there(old, tmp_path) / "removed").read_text() == "-q\n"
    assert host_steps(now) == []


def test_two_releases_side_by_side_are_both_removed(at: At, tmp_path: Path) -> None:
    for context in (at(OLD), at("")):
        assert install(context, tmp_path) == 0
        assert str(context.site.added("host/toolkit")) not in script(context), "noted once"
    undone(at(""))
    for context in (at(OLD), at("")):
        assert (there(context, tmp_path) / "removed").exists()


def test_a_script_that_is_gone_is_no_removal(at: At, tmp_path: Path) -> None:
    context = at(OLD)
    assert install(context, tmp_path) == 0
    (there(context, tmp_path) / "remove.sh").unlink()
    with pytest.raises(PaddockError) as caught:
        undone(at(""))
    assert caught.value.code == "step-failed"
    assert "remove.sh" in "".join(caught.value.details)
    assert host_steps(context) == ["host/toolkit"]


def test_an_installer_that_left_nothing_leaves_nothing_to_remove(at: At, tmp_path: Path) -> None:
    context = at(OLD)
    failing = '#!/bin/bash\n[ "$1" = --check ]\n'
    assert install(context, tmp_path, failing) != 0
    assert host_steps(context) == ["host/toolkit"]
    undone(context)
    assert host_steps(context) == []


def test_what_was_there_before_stays(at: At, tmp_path: Path) -> None:
    context = at(OLD)
    there(context, tmp_path).mkdir()
    (there(context, tmp_path) / "version").write_text("Version=1\n")
    assert install(context, tmp_path) == 0
    assert host_steps(context) == []


def test_of_debian_packages_only_the_new_ones_are_purged(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = make("s60", OLD)
    step = next(step for step in context.stack.steps if step.kind == "debs")
    there = dict.fromkeys((*step.debs, "topsruntime"), "1.0.5.1")
    some = {name: there[name] for name in ("topsfactor", "tops-sdk")}
    monkeypatch.setattr(debs, "_there", lambda step: some)
    removal = Debs().values(step, context)["removal"]
    assert removal == "dpkg --purge eccl topsaten topsruntime"
    monkeypatch.setattr(debs, "_there", lambda step: there)
    assert Debs().values(step, context)["removal"] == ""


def test_a_file_that_others_can_change_is_run_from_a_copy(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody puts another file in its place right after the look at its digest."""
    monkeypatch.setenv("WITNESS", str(tmp_path / "ran"))
    context = at("")
    assert context.deps
    evil = tmp_path / "evil"
    evil.write_text('#!/bin/bash\ntouch "$WITNESS"\n')
    name = deps.wanted(context.stack.packages["toolkit"], context) or ""
    file = context.deps / name
    file.write_text(INSTALLER.format(there=there(context, tmp_path)))
    context.site.output("host/toolkit").parent.mkdir(parents=True, exist_ok=True)
    for mode, is_swapped in ((0o777, False), (0o755, True)):
        context.deps.chmod(mode)
        text = script(context)
        swap = f"cp {evil} '{file}'\n"
        looked = [line for line in text.splitlines() if line.startswith("same ")]
        assert (
            len(looked) == 1 and (context.site.held("host/toolkit").name in looked[0]) != is_swapped
        )
        run = text.replace(f"{looked[0]}\n", f"{looked[0]}\n{swap}")
        subprocess.run(["/bin/sh", "-euc", run], check=False, capture_output=True)
        assert (tmp_path / "ran").exists() == is_swapped
        assert not context.site.held("host/toolkit").exists()
        file.write_text(INSTALLER.format(there=there(context, tmp_path)))


def test_a_package_that_was_changed_is_not_run_by_the_undo(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where the package itself is what removes, it is run by root once more."""
    monkeypatch.setenv("WITNESS", str(tmp_path / "ran"))
    context = make("s60")
    assert context.deps
    name = deps.wanted(context.stack.packages["driver"], context) or ""
    file = context.deps / name
    file.write_text('#!/bin/bash\n[ "$1" = --check ] || touch "$WITNESS"\n')
    values = Vendor().values(context.step("host/driver"), context)
    removal = str(values["removal"])
    file.write_text('#!/bin/bash\ntouch "$WITNESS"; echo evil\n')
    done = subprocess.run(["/bin/sh", "-euc", removal], check=False, capture_output=True, text=True)
    assert done.returncode == 1 and "not the file of the plan" in done.stdout
    assert not (tmp_path / "ran").exists()
    file.write_text('#!/bin/bash\n[ "$1" = --check ] || touch "$WITNESS"\n')
    assert subprocess.run(["/bin/sh", "-euc", removal], check=False).returncode == 0
    assert (tmp_path / "ran").exists()
