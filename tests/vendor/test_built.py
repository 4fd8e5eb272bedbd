"""Steps that build from sources: when they are wanted, what they replace, what is said."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from provision.arguments import options
from provision.errors import PaddockError
from provision.forms.dockerfile import dockerfile
from provision.forms.script import script
from provision.forms.wanted import Wanted
from provision.paths import targets
from provision.plan import Planned, Wish, plan
from provision.stack import load, stack_file
from provision.steps import toolchain
from provision.steps.base import Context, NotSo, Sources
from provision.steps.built import Built
from provision.wheels import recipe, source
from tests.conftest import Cli
from tests.lab.vendor import wheels
from tests.recipes.upstream import commit, git
from tests.vendor.conftest import Make

ADDRESS = "https://example.org/PaddleCustomDevice.git"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder with something in it."""
    folder = tmp_path / "源 码"
    folder.mkdir()
    (folder / "file").write_text("1")
    return folder


def planned(context: Context) -> dict[str, Planned]:
    return {one.name: one for one in plan(context)}


def given(make: Make, sources: Path | str, **more: object) -> Context:
    return make(sources={"plugin-source": Sources(str(sources))}, **more)


def finish(context: Context) -> None:
    """Leave what a build that has ended leaves."""
    step = context.step("plugin/build")
    folder = context.site.wheels / step.name
    folder.mkdir(parents=True)
    values = Built().values(step, context)
    (folder / "order.json").write_text(str(values["order"]))


def test_sources_are_looked_at_once_a_plan(
    make: Make, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    find = source.find

    def counted(one: recipe.Recipe, origin: str, *rest: Any) -> source.Source:
        looked.append(origin)
        return find(one, origin, *rest)

    monkeypatch.setattr(source, "find", counted)
    for _ in range(2):
        planned(given(make, sources))
    assert looked == [str(sources)] * 2


def test_without_sources_they_are_skipped_and_the_error_tells_of_them(make: Make) -> None:
    steps = planned(make())
    assert [name for name, one in steps.items() if one.state == "skipped"] == [
        "plugin/build",
        "model/ops",
    ]
    assert "--ops-source" in steps["model/ops"].reason
    lack = steps["plugin/install"].lack
    assert lack and "--plugin-source" in lack.details[-1]
    assert "PaddleCustomDevice.git" in lack.details[-1]


def test_a_step_that_is_skipped_needs_nothing(
    make: Make, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container without a compiler in which nothing is built."""
    monkeypatch.setattr(toolchain, "compiler", lambda: None)
    asked = Wish(only=("env/python", "framework/paddle", "plugin/build"))
    assert plan(make(), asked)[-1].state == "skipped"
    with pytest.raises(PaddockError) as caught:
        plan(given(make, sources), asked)
    assert caught.value.code == "needs-step" and "host/toolchain" in str(caught.value)


def test_sources_take_the_place_of_the_wheel(make: Make, sources: Path) -> None:
    context = given(make, sources)
    wheels.plugin(context.deps or Path(), "npu")
    steps = planned(context)
    assert steps["plugin/install"].state == "skipped"
    assert "plugin/build" in steps["plugin/install"].reason
    build = steps["plugin/build"]
    assert build.state == "pending" and str(sources) in build.reason
    assert "--backend npu --source" in build.script and "--paddle 3.0.0" in build.script
    assert "bash 2 /usr/local/Ascend" in build.script  # with the vendor's variables
    done = subprocess.run(["sh", "-n"], input=build.script, text=True, check=False)
    assert done.returncode == 0


def test_a_wheel_that_was_built_stays_wanted_until_one_is_handed_out(
    make: Make, sources: Path
) -> None:
    finish(given(make, sources))
    asked, later = planned(given(make, sources)), planned(make())
    assert later["plugin/install"].state == "skipped"
    assert later["plugin/build"].key == asked["plugin/build"].key
    wheels.plugin(make().deps or Path(), "npu")
    handed = planned(make())
    assert (handed["plugin/build"].state, handed["plugin/install"].state) == ("skipped", "pending")


def test_one_that_was_built_elsewhere_is_taken_where_the_vendors_is_not_there(make: Make) -> None:
    context = make("s60")
    folder = context.deps or Path()
    built = wheels.plugin(folder, "gcu", "3.0.0+gc8ed610.3.1.0")
    wheels.plugin(folder, "gcu", "3.0.1+gc8ed610.3.1.0")
    step = planned(context)["plugin/install"]
    assert step.state == "pending" and built.name in step.script
    site = context.site.env / "lib/python3.10/site-packages"
    site.mkdir(parents=True)
    with pytest.raises(NotSo):
        step.kind.verify(step.step, context)
    with zipfile.ZipFile(built) as archive:
        archive.extractall(site)
    record = step.kind.verify(step.step, context)[0]
    assert record.parent.name == "paddle_custom_gcu-3.0.0+gc8ed610.3.1.0.dist-info"
    assert planned(make("s60", deps=None))["plugin/install"].key == step.key
    vendors = wheels.plugin(folder, "gcu")
    other = planned(context)["plugin/install"]
    assert vendors.name in other.script and other.key != step.key


def test_other_sources_are_built_anew(make: Make, sources: Path) -> None:
    before = planned(given(make, sources))["plugin/build"].key
    (sources / "file").write_text("22")
    assert planned(given(make, sources))["plugin/build"].key != before


def test_what_was_seen_of_a_clone_is_built_whatever_is_checked_out_by_then(
    make: Make, sources: Path
) -> None:
    git(sources, "init", "--quiet")
    seen = commit(sources, "One", "v1")
    finish(given(make, sources))
    (sources / "file").write_text("22")
    commit(sources, "Two")
    context = make()
    values = Built().values(context.step("plugin/build"), context)
    assert ["--ref", seen] == [*values["arguments"]][4:6]  # type: ignore[misc]
    tagged = make(sources={"plugin-source": Sources(str(sources), "v1")})
    assert f"--ref {seen}" in planned(tagged)["plugin/build"].script


def test_an_address_is_taken_at_the_commit_that_the_release_names(make: Make) -> None:
    context = given(make, ADDRESS, target="s60")
    named = context.stack.releases["3.0.0"].plugin_ref
    assert f"--ref {named}" in planned(context)["plugin/build"].script
    other = make("s60", sources={"plugin-source": Sources(ADDRESS, "v9")})
    assert "--ref v9" in planned(other)["plugin/build"].script
    with pytest.raises(PaddockError) as caught:
        plan(given(make, ADDRESS))  # for the 910B nobody has told it
    assert caught.value.code == "flag-needs" and "--plugin-ref" in str(caught.value)


def test_what_the_build_has_told_is_the_error(make: Make) -> None:
    context = make()
    step = context.step("plugin/build")
    assert Built().failure(step, context) is None
    folder = context.site.wheels / "plugin/build.new"
    folder.mkdir(parents=True)
    told = PaddockError("build-unready", ("no topscc",), backend="npu", count=1).to_json()
    (folder / "answer.json").write_text(json.dumps(told))
    error = Built().failure(step, context)
    assert error and (error.code, error.status) == ("build-unready", 4)
    assert error.details == ("no topscc",) and error.part("what") == told["what"]


@pytest.mark.parametrize("target", targets())
def test_every_recipe_is_there_and_no_form_has_these_steps(target: str) -> None:
    stack = load(stack_file(target))
    built = [step for step in stack.steps if step.kind == "built"]
    for step in built:
        one = recipe.load(step.recipe or "")
        assert one.device == stack.device
        assert bool(one.library) is bool(step.package)
    wanted = Wanted(stack, stack_file(target).parent, stack.default_release)
    for text in (script(wanted), dockerfile(wanted)):
        assert not [step.name for step in built if step.name in text]


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ({"plugin_ref": "v1"}, "flag-needs"),
        ({"plugin_source": "https://me:secret@example.org/x.git"}, "bad-option"),
        ({"ops_source": "https://me:secret@example.org/x.git"}, "bad-option"),
    ],
)
def test_bad_flags(home: Path, flags: dict[str, str], code: str) -> None:
    with pytest.raises(PaddockError) as caught:
        options("ascend910b", **flags)  # type: ignore[arg-type]
    assert caught.value.code == code
    assert "secret" not in str(caught.value)


def test_a_target_without_such_a_step_refuses_its_flag(cli: Cli) -> None:
    done = cli("provision", "--target", "s60", "--ops-source", ".", "--dry-run")
    assert done.returncode == 2
    assert "--ops-source" in done.stderr and "s60" in done.stderr
