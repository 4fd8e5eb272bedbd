"""`targets`: each release with where it is known from, and no more than that is claimed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as with_fields

from provision import pairs, releases
from provision.errors import PaddockError
from provision.forms.commands import complete
from provision.forms.wanted import Wanted
from provision.lock import lock_file
from provision.paths import IMAGES, targets
from provision.plan import Planned
from provision.release_pairs import known_pairs
from provision.show import commands, table
from provision.stack import Stack, Step, load
from provision.steps.base import Lack
from provision.words import catalogue, text

STACKS = [load(IMAGES / name / "stack.toml") for name in targets()]
EVERY = [(stack, name) for stack in STACKS for name in stack.releases]


def name_of(value: object) -> str:
    return value.target if isinstance(value, Stack) else str(value)


@pytest.mark.parametrize(("stack", "name"), EVERY, ids=name_of)
def test_a_release_has_a_lock_or_says_why_not(stack: Stack, name: str) -> None:
    release, folder = stack.releases[name], IMAGES / stack.target
    lock = lock_file(folder, name, "framework")
    assert lock.is_file() != bool(release.unlocked)
    if lock.is_file():
        pinned = set(re.findall(r"^([\w.-]+==[\w.]+)", lock.read_text(), re.MULTILINE))
        assert {one for one in release.framework if "==" in one} <= pinned
    for one in (*release.defects, *([release.unlocked] if release.unlocked else [])):
        assert f"defect.{one}" in catalogue()


@pytest.mark.parametrize("stack", STACKS, ids=name_of)
def test_every_release_of_a_vendor_pins_its_driver_and_has_an_image(stack: Stack) -> None:
    for name, release in stack.releases.items() if stack.packages else ():
        assert {"driver", "plugin"} <= release.pins.keys()
        assert stack.image
        for machine in stack.machines:
            assert machine in stack.image.base(name, machine) or name in stack.image.bare


@pytest.mark.parametrize(("stack", "name"), EVERY, ids=name_of)
def test_every_release_is_a_set_that_sources_pair(stack: Stack, name: str) -> None:
    found = known_pairs(stack, stack.releases[name])
    assert {one.verdict.state for one in found} <= {"documented", "observed"}
    named = {key for one in found for key in one.versions if key not in one.verdict.silent}
    wanted = {"driver", "tops" if stack.device == "gcu" else "cann", "paddle", "plugin"}
    assert not stack.packages or wanted <= named


def test_the_plugin_has_the_number_of_its_paddle() -> None:
    """Where a document names a set, it is that; the plugin was built for that Paddle."""
    for stack, name in EVERY:
        if plugin := stack.releases[name].pins.get("plugin"):
            assert f"paddlepaddle=={plugin}" in stack.releases[name].framework


@pytest.mark.parametrize("stack", STACKS, ids=name_of)
def test_the_default_says_why(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert releases.tell(json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index(next(one for one in lines if one.startswith(f"{stack.target}:")))
    reason = text(f"default.{stack.default_because}")
    assert f"  {stack.default_release} (default: {reason})" in lines[start:]


def test_the_image_and_the_sources_of_the_plugin_are_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    releases.tell(json=False)
    shown = capsys.readouterr().out
    assert "cann80RC1-ubuntu20-x86_64-gcc84-py39\n" in shown
    assert "cann80RC1-ubuntu20-aarch64-gcc84-py310\n" in shown
    assert "paddle:latest-dev, without the vendor's stack" in shown
    releases.tell(json=True)
    document = json.loads(capsys.readouterr().out)
    of = {(one["target"], two["release"]): two for one in document["targets"]
          for two in one["releases"]}  # fmt: skip
    article = of["s60", "3.0.0b0"]
    assert article["images"] == {"x86_64": "registry.baidubce.com/paddlepaddle/paddle:latest-dev"}
    assert (article["image_has_stack"], article["locked"]) == (False, False)
    assert article["plugin_ref"] == "v3.0.0-beta1"
    assert of["ascend910b", "3.0.0"]["images"].keys() == {"x86_64", "aarch64"}


def test_what_no_list_has_together_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = [row for row in pairs.rows() if "driver" not in row.versions]
    monkeypatch.setattr(pairs, "rows", lambda: kept)
    releases.tell(json=False)
    assert "in no list together: driver 23.0.3, cann 8.0.0\n" in capsys.readouterr().out


def test_a_document_is_not_made_to_say_more_than_it_does() -> None:
    """PaddlePaddle's own page does not name the driver of 3.3.0; another page does."""
    stack = next(one for one in STACKS if one.target == "s60")
    whole, below = known_pairs(stack, stack.releases["3.3.0"])
    assert (whole.verdict.state, whole.verdict.silent) == ("documented", ("driver",))
    assert (below.kind, below.verdict.state) == ("tops+driver", "documented")
    other = with_fields(stack.releases["3.3.0"], framework=["paddlepaddle==3.3.1"])
    assert known_pairs(stack, other)[0].verdict.state == "unlisted"


def test_without_a_lock_rendering_says_why() -> None:
    stack = next(one for one in STACKS if one.target == "s60")
    wanted = Wanted(stack, IMAGES / "s60", "3.0.0b0")
    with pytest.raises(PaddockError) as caught:
        complete(next(one for one in stack.steps if one.lock), wanted)
    assert caught.value.code == "no-lock"
    assert "not on PyPI" in caught.value.part("cause")
    assert "Put the file" not in caught.value.part("do")


@pytest.mark.parametrize("unlocked", ["not-on-pypi", None])
def test_a_stack_of_a_persons_own_misses_the_file(tmp_path: Path, unlocked: str | None) -> None:
    stack = next(one for one in STACKS if one.target == "s60")
    release = with_fields(stack.releases["3.0.0b0"], unlocked=unlocked)
    own = with_fields(stack, releases={"3.0.0b0": release})
    with pytest.raises(PaddockError) as caught:
        complete(next(one for one in own.steps if one.lock), Wanted(own, tmp_path, "3.0.0b0"))
    assert caught.value.code == ("no-lock" if unlocked else "stack-part")


def test_a_step_that_lacks_something_shows_no_half_commands() -> None:
    def one(name: str, **more: object) -> Planned:
        step = Step(name=name, kind="vendor")
        made = Planned(step, "pending", "why", f"run {name} = ''\n", "key")
        return replace(made, **more)  # type: ignore[arg-type]

    missing = Lack("package-missing", "a.run", later=True)
    planned = [
        one("host/driver", state="blocked", lack=missing, reason="missing: a.run"),
        one("host/loaded", state="blocked", lack=missing._replace(remedy="host/driver")),
        one("host/tops", late=True),
        one("host/kernels"),
        one("env/python", state="satisfied"),
    ]
    _, *lines = commands(planned)
    assert lines == [
        "# --- host/driver", "# no commands yet: missing: a.run",
        "# --- host/loaded", "run host/loaded = ''",
        "# --- host/tops", "# no commands yet: they are made when its files are here",
        "# --- host/kernels", "run host/kernels = ''",
    ]  # fmt: skip
    assert len(list(table(planned))) == len(planned)
