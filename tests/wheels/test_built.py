"""What a build says of its wheel is what `verify-wheel` says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.build_recipe import Built
from checks.wheels.audit import audit
from checks.wheels.built import Papers, papers_of_recipe
from checks.wheels.place import find
from provision.journal import Witness
from provision.papers import making
from provision.papers.statement import Making
from provision.wheels import recipe, store
from provision.wheels.python import Python
from provision.wheels.source import Source
from provision.wheels.trial import Trial
from provision.wheels.work import Work
from tests.wheels import make
from tests.wheels.conftest import cases

USES = "int PD_RegisterPhiKernel(void); int f(void) { return PD_RegisterPhiKernel(); }"
LAZY = "int PD_OfTomorrow(void); int f(void) { return PD_OfTomorrow(); }"
GCU = "paddle_custom_device/libpaddle-custom-gcu.so"


@pytest.fixture
def core(paddle: Path) -> str:
    return str(next(paddle.glob("lib/python3.*/site-packages/paddle/libs/libphi_core.so")))


def built(wheel: Path, env: Path, backend: str, trial: Trial | None) -> Built:
    """A wheel of a recipe with papers beside it, built for that environment."""
    python = Python(env / "bin/python", "3.11", "3.3.1", env)
    source = Source(str(wheel.parent), wheel.parent, "c" * 40, "c" * 40)
    work = Work(recipe.load(backend), source, python, "x86_64", wheel.parent)
    record = store.Record("", "", "", "", {}, Witness.of(wheel), 0, 0.0, "")
    making.put(wheel, lambda: Making({"paddle": "3.3.1"}, [], {}, []))
    return Built(work, record, False, trial)


@pytest.mark.parametrize(
    ("trial", "status"),
    [
        (Trial("loads", ""), 10),
        (Trial("symbol", "undefined symbol: PD_OfTomorrow"), 11),
    ],
)
def test_the_audit_knows_how_the_wheel_loaded(
    home: Path, paddle: Path, core: str, trial: Trial, status: int
) -> None:
    flags = (core, "-Wl,-rpath,$ORIGIN/../paddle/libs", "-Wl,--no-as-needed", core)
    library = make.compiled(home / "b", LAZY, *flags).read_bytes()
    wheel = make.sound(home, {make.INIT: b"", make.LIBRARY: library}, "paddle_custom_cpu")
    papers = papers_of_recipe(built(wheel, paddle, "custom_cpu", trial))
    assert (papers.verdict.status, papers.verdict.bad) == (status, ["wheel-symbols"])
    assert Papers.told(papers.to_json()) == papers
    assert papers.verdict.registered == ("registered: custom_cpu" if status == 10 else "")


def test_the_vendor_s_libraries_are_found_where_the_recipe_says(
    home: Path, paddle: Path, core: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "tops" / "lib"
    other = make.compiled(folder, "int g(void) { return 1; }", name="libtopsrt.so")
    code = f"{USES} int g(void); int h(void) {{ return g(); }}"
    flags = (core, "-Wl,-rpath,$ORIGIN/../paddle/libs", f"-L{folder}", "-l:libtopsrt.so")
    library = make.compiled(home / "b", code, *flags).read_bytes()
    wheel = make.sound(home, {make.INIT: b"", GCU: library}, "paddle_custom_gcu")
    monkeypatch.setenv("TOPS_CUSTOM_PATH", str(other.parent.parent))
    where = find(wheel.name, "auto", str(paddle))
    assert where.libraries == str(folder)
    made = audit(wheel, where, importing=True)
    assert cases(made) == {} and made.libraries == str(folder)
    papers = papers_of_recipe(built(wheel, paddle, "gcu", Trial("registers", "")))
    assert papers.verdict.bad == []
    monkeypatch.setenv("TOPS_CUSTOM_PATH", str(home / "elsewhere"))
    where = find(wheel.name, "auto", str(paddle))
    assert where.libraries == "" and cases(audit(wheel, where, importing=False))
