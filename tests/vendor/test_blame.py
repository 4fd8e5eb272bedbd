"""A full or closed place is the one that is told, whoever's it is."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from provision.blame import placed, written
from provision.errors import PaddockError
from provision.facts import disk
from provision.process import Outcome
from provision.room import uv_cache
from provision.steps.base import Context
from tests.engine.test_failures import mounted, needs_root
from tests.vendor.conftest import Make

GIB = 1 << 30


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """uv's cache is where the tool puts it."""
    monkeypatch.delenv("UV_CACHE_DIR", raising=False)


def told(code: str, step: str, context: Context) -> PaddockError:
    """What becomes of a step's error, which names the environment at first."""
    values = {"step": step, "status": 1, "log": "-", "remedy": "-", "path": context.site.env}
    return placed(PaddockError(code, ("a line",), **values), context.step(step), context)


def into(place: Path, make: Make) -> Context:
    """A context whose driver is installed into this place."""
    context = make()
    packages = dict(context.stack.packages)
    packages["driver"] = replace(packages["driver"], writes=[str(place)])
    return make(stack=replace(context.stack, packages=packages))


@needs_root
def test_the_full_place_of_an_installer_is_told(make: Make, tmp_path: Path) -> None:
    """What is looked at is the place itself, which may be a disk of its own."""
    place = tmp_path / "Ascend"
    context = into(place, make)
    with mounted(place, "size=64k"):
        (place / "half").write_bytes(bytes(64 << 10))
        error = told("disk-full", "host/driver", context)
    assert (error.code, error.status) == ("system-full", 4)
    assert f"no space left: {place}." in error.part("what")
    assert error.details == ("a line", f"room {place}: 0 bytes free now")
    assert "envs/ascend910b" not in str(error) and tempfile.gettempdir() in error.part("do")


@needs_root
def test_a_place_that_cannot_be_written_is_told(make: Make, tmp_path: Path) -> None:
    context = into(tmp_path / "Ascend", make)
    assert told("read-only", "host/driver", context).code == "step-failed"  # refused by what?
    with mounted(tmp_path / "Ascend", "ro,size=64m"):
        error = told("read-only", "host/driver", context)
    assert (error.code, error.status) == ("system-closed", 4)
    assert f"cannot write to {tmp_path}/Ascend." in error.part("what")
    assert "PADDOCK_HOME" not in str(error)


@needs_root
def test_a_full_home_is_told_as_before(make: Make, tmp_path: Path) -> None:
    with mounted(tmp_path / "home", "size=64k"):
        (tmp_path / "home" / "half").write_bytes(bytes(64 << 10))
        context = make()
        error = told("disk-full", "framework/paddle", context)
        assert error.code == "disk-full" and f"{context.site.env} (" in error.part("what")
        assert "PADDOCK_HOME" in error.part("do")
        installer = told("disk-full", "host/driver", context)  # its log and its copies are there
        assert installer.code == "disk-full" and f"{tmp_path}/home/cache/" in installer.part("what")


def test_where_nothing_is_full_any_more_the_places_are_told(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = make()
    assert str(written(context.step("host/driver"), context)[0]) == "/usr/local/Ascend"
    rooms = {"/usr/local/Ascend": 1, "/lib/modules": 1, tempfile.gettempdir(): 2}

    def room(purpose: str, path: Path) -> disk.Room:
        device = rooms.get(str(path), 3)
        return disk.Room(purpose, str(path), device * GIB, None, False, True, device)

    monkeypatch.setattr(disk, "room", room)
    error = told("disk-full", "host/driver", context)
    assert error.code == "system-full"
    assert "one of /usr/local/Ascend, /var/log, /tmp, of which none" in error.part("what")
    assert "room /usr/local/Ascend: 1.0 GiB free now" in error.details
    assert told("disk-full", "framework/paddle", context).code == "disk-full"
    assert told("card-busy", "host/driver", context).code == "card-busy"


@pytest.mark.parametrize(
    ("step", "places"),
    [
        ("host/toolkit", ["/usr/local/Ascend", "/var/log"]),
        ("host/account", ["/usr", "/var"]),
        ("framework/paddle", ["{home}/data/envs/ascend910b"]),
        ("plugin/build", ["{home}/cache/build/ascend910b", "{home}/data/wheels/ascend910b"]),
    ],
)
def test_where_steps_write(make: Make, tmp_path: Path, step: str, places: list[str]) -> None:
    context = make()
    found = [str(path) for path in written(context.step(step), context)]
    assert found[: len(places)] == [one.format(home=tmp_path / "home") for one in places]
    assert {tempfile.gettempdir(), str(context.site.state)} < {*found}
    assert (str(uv_cache()) in found) == (not step.startswith("host/"))


def test_debs_write_into_the_systems_data_of_packages(make: Make) -> None:
    context = make("s60")
    found = [str(path) for path in written(context.step("host/tops"), context)]
    assert "/var/lib/dpkg" in found and "/usr" in found


def test_the_runner_asks_for_the_place(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of a script, whose last lines tell of a full disk."""
    from provision import blame, run
    from provision.network import Network
    from provision.plan import Planned
    from provision.progress import Plain

    context = make()
    runner = run.Runner(context, run.Settings(Network(), 1, "r"), {}, Plain(sys.stdout))
    seen: list[str] = []

    def noted(error: PaddockError, step: object, context: Context) -> PaddockError:
        seen.append(error.code)
        return error

    monkeypatch.setattr(blame, "placed", noted)
    one = Planned(context.step("host/driver"), "pending", "", "", "")
    outcome = Outcome(1, ("tar: ./a: Cannot write: No space left on device",))
    with pytest.raises(PaddockError):
        runner._verified(one, outcome)
    assert seen == ["disk-full"]
