"""The script does what the steps do, by itself: run, run again, cut short, with other pins."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from provision import stack
from provision.forms.registry import FORMS
from provision.forms.wanted import Wanted
from provision.render import document
from tests.engine.world import STEPS, World, wheel
from tests.frame.index import Index, served
from tests.render.values import RELEASES, TARGETS, clean, made

DEVICE = "def get_all_custom_device_type():\n    return ['small']\n"


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize(("target", "release"), RELEASES)
def test_it_is_sound_for_every_release(target: str, release: str, machine: str) -> None:
    text = made("script", target, release, machine=machine)
    subprocess.run(["/bin/sh", "-n"], input=text.encode(), check=True)
    clean("shellcheck", text, "--shell=sh")


@pytest.mark.parametrize("target", TARGETS)
def test_it_has_every_step_in_the_order_of_the_stack(target: str) -> None:
    """But for those that need a person's sources."""
    text = made("script", target)
    steps = stack.load(stack.stack_file(target)).steps
    shown = [line.removeprefix("# ---- ") for line in text.splitlines() if line[:7] == "# ---- "]
    assert shown == [step.name for step in steps if step.kind != "built"]


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
@example("END_OF_FILE\n$(touch x) `touch x` \\\nEND_OF_FILE_\n")
@example("E家\nEN家\nx")
@example("")
def test_a_file_in_the_script_is_written_as_it_was(content: str) -> None:
    """But for a line break at its end, which a text file has."""
    script = f"cat {document(content)}\n"
    done = subprocess.run(
        ["/bin/sh", "-eu"], input=script.encode(), capture_output=True, check=True
    )
    assert done.stdout.decode() == content.removesuffix("\n") + "\n"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index with what the small stack needs, and a paddle that knows its device."""
    folder = tmp_path_factory.mktemp("wheels")
    paddle = wheel(folder, "paddle", "1.0")
    with zipfile.ZipFile(paddle, "a") as archive:
        archive.writestr("paddle/__init__.py", "from paddle import device\n")
        archive.writestr("paddle/device.py", DEVICE)
    others = [wheel(folder, *one) for one in (("alpha", "1.0"), ("alpha", "2.0"), ("beta", "1.0"))]
    with served([paddle, *others]) as running:
        yield running


@pytest.fixture
def world(tmp_path: Path, index: Index) -> World:
    """A machine on which nothing was done yet, whose folders have hostile names."""
    folder = tmp_path / "a b 家 'q' $(x)"
    folder.mkdir()
    made = World(folder, index)
    made.pin("paddlenlp", "paddle-1.0")
    return made


def run(world: World, **more: str) -> subprocess.CompletedProcess[str]:
    """Render the script of the world's stack and run it."""
    loaded = stack.load(world.stack)
    text = FORMS["script"](Wanted(loaded, world.stack.parent, "1", home=world.folder / "made"))
    variables = world.environment(more)
    variables["UV_DEFAULT_INDEX"] = world.index.url
    return subprocess.run(["/bin/sh", "-s"], input=text, env=variables, cwd=world.folder, text=True,
                          capture_output=True, check=False, timeout=300)  # fmt: skip


def shown(output: str, sign: str) -> list[str]:
    """The steps that a run marks with this sign."""
    start = f"paddock: {sign} "
    return [line.removeprefix(start) for line in output.splitlines() if line.startswith(start)]


@pytest.mark.slow
def test_it_makes_the_stack_and_then_has_nothing_to_do(world: World) -> None:
    first = run(world)
    assert first.returncode == 0, first.stdout + first.stderr
    assert shown(first.stdout, "+") == list(STEPS)
    python = world.folder / "made/data/envs/small/bin/python"
    code = "import alpha, gamma; print(alpha.VERSION)"
    assert subprocess.run([python, "-c", code], capture_output=True, text=True,
                          check=True).stdout == "1.0\n"  # fmt: skip
    again = run(world)
    assert again.returncode == 0
    assert shown(again.stdout, "=") == list(STEPS)
    assert not shown(again.stdout, "+")


@pytest.mark.slow
def test_a_changed_pin_redoes_what_depends_on_it(world: World) -> None:
    assert run(world).returncode == 0
    world.pin("framework", "alpha-2.0")
    second = run(world)
    assert second.returncode == 0, second.stdout + second.stderr
    assert shown(second.stdout, "+") == ["env/alpha", "lib/build", "lib/install"]
    assert shown(second.stdout, "=") == ["env/python", "env/beta"]


@pytest.mark.slow
def test_it_stops_where_a_hash_is_wrong_and_goes_on_from_there(world: World) -> None:
    world.pin("paddlenlp", "paddle-1.0", wrong=True)
    failed = run(world)
    assert failed.returncode != 0
    assert "lib/build" not in failed.stdout
    world.pin("paddlenlp", "paddle-1.0")
    second = run(world)
    assert second.returncode == 0, second.stdout + second.stderr
    assert shown(second.stdout, "=") == ["env/python", "env/alpha"]


@pytest.mark.slow
def test_a_device_that_paddle_does_not_know_is_no_success(world: World) -> None:
    world.edit('device = "small"', 'device = "other"')
    done = run(world)
    assert done.returncode != 0
    assert "device other" in done.stderr


def test_without_the_vendors_packages_it_names_all_of_them_and_where_they_are_from(
    tmp_path: Path,
) -> None:
    text = made("script", "ascend910b", home=tmp_path / "home")
    bare = {"PATH": "/usr/bin:/bin", "UV": "uv"}
    done = subprocess.run(["/bin/sh", "-s"], input=text, cwd=tmp_path, text=True, check=False,
                          capture_output=True, env=bare)  # fmt: skip
    assert done.returncode == 1
    missing = [line for line in done.stderr.splitlines() if "missing:" in line]
    assert len(missing) == 6
    assert all("https://" in line for line in missing)
    assert not (tmp_path / "home/state/ascend910b/done/env.python").exists()


def test_a_package_that_was_replaced_after_its_first_use_is_refused(tmp_path: Path) -> None:
    text = made("script", "ascend910b", home=tmp_path / "home")
    only = text.split("\n# ---- host/card")[0] + "\n}\nmain\n"  # ends before the machine is read
    names = [line.split()[1] for line in only.splitlines() if line.startswith("    given ")]
    (tmp_path / "deps").mkdir()
    for name in names:
        (tmp_path / "deps" / name).write_text("PK" if name.endswith(".whl") else "#!")
    variables = {"PATH": "/usr/bin:/bin", "UV": "uv", "DEPS": str(tmp_path / "deps")}

    def again() -> subprocess.CompletedProcess[str]:
        return subprocess.run(["/bin/sh", "-s"], input=only, text=True, check=False, env=variables,
                              capture_output=True, cwd=tmp_path)  # fmt: skip

    assert again().returncode == 0
    assert again().returncode == 0
    (tmp_path / "deps" / names[0]).write_text("#! another")
    refused = again()
    assert refused.returncode == 1
    assert "not the file that was used before" in refused.stderr
    for other in ("", "\n<!DOCTYPE html>", "\0#!"):
        (tmp_path / "deps" / names[0]).write_text(other)
        refused = again()
        assert refused.returncode == 1
        assert f"{names[0]} is not what its name promises" in refused.stderr
