"""Room on the disks, and the headers of the kernel: judged before anything is changed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from provision import room
from provision.errors import PaddockError
from provision.facts import disk, kernel, pci_text
from provision.plan import plan
from provision.steps import system
from tests.conftest import Cli
from tests.engine.test_failures import mounted, needs_root
from tests.vendor.conftest import Make
from tests.vendor.test_plan import CARD

MIB, GIB = 1 << 20, 1 << 30
DRIVER = "Ascend-hdk-910b-npu-driver_23.0.3_linux-x86-64.run"
TOOLKIT = "Ascend-cann-toolkit_8.0.0_linux-x86_64.run"
Disks = Callable[..., None]


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine with a 910B, whose user is root, on a system that the vendor lists."""
    monkeypatch.setattr(pci_text, "collect", lambda: [CARD])
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(system, "_told", lambda: {"ID": "ubuntu", "VERSION": "22.04 LTS"})
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.delenv("UV_LINK_MODE", raising=False)


@pytest.fixture
def disks(monkeypatch: pytest.MonkeyPatch) -> Disks:
    """Disks by the path at which they begin, each with its free bytes; the longest path counts."""

    def put(**free: int) -> None:
        places = {name.replace("_", "/") or "/": value for name, value in free.items()}

        def found(purpose: str, path: Path) -> disk.Room:
            at = max((one for one in places if str(path).startswith(one)), key=len)
            device = list(places).index(at)
            return disk.Room(purpose, str(path), places[at], None, False, True, device)

        monkeypatch.setattr(disk, "room", found)

    return put


def sparse(file: Path, size: int) -> None:
    """An installer of that size that takes no room."""
    with file.open("wb") as stream:
        stream.write(b"#!/bin/sh\n")
        stream.truncate(size)


@pytest.mark.slow
def test_what_lies_in_the_packages_decides(make: Make, disks: Disks, tmp_path: Path) -> None:
    """An installer is unpacked, then its content put in place: each takes more than the file."""
    disks(_=99 * GIB, _usr=99 * GIB)
    context = make()
    before = {one.path: one.bytes for one in room.places(context, plan(context))}
    for name, size in ((DRIVER, 300 * MIB), (TOOLKIT, 900 * MIB)):
        sparse(tmp_path / "deps" / name, size)
    steps = plan(context)
    (after,) = [one for one in room.places(context, steps) if str(one.path) == "/usr/local/Ascend"]
    assert after.bytes == 1200 * MIB
    root = room.places(context, steps)[0]
    assert root.bytes - sum(before.values()) == 900 * MIB
    assert str(root.path) == tempfile.gettempdir()


def test_a_disk_that_is_too_small_is_named_with_what_is_short(
    make: Make, disks: Disks, tmp_path: Path
) -> None:
    disks(_=99 * GIB, _usr=100 * MIB)
    sparse(tmp_path / "deps" / TOOLKIT, 300 * MIB)
    context = make()
    steps = plan(context)
    with pytest.raises(PaddockError) as raised:
        room.check(context, steps)
    assert (raised.value.code, raised.value.status) == ("no-room", 4)
    (line,) = raised.value.details
    told = "room /usr/local/Ascend: 300 MiB at the least, 100 MiB free: 200 MiB short"
    assert line.split() == told.split()
    disks(_=99 * GIB, _usr=300 * MIB)
    room.check(context, steps)
    disks(_=99 * GIB, _usr=99 * GIB, _usr_local_Ascend=100 * MIB)  # a disk of its own
    with pytest.raises(PaddockError):
        room.check(context, steps)


def test_the_cache_and_the_environment_share_files_on_one_disk(
    make: Make, disks: Disks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disks(_=99 * GIB)
    context = make()
    (linked,) = room.places(context, plan(context))
    monkeypatch.setenv("UV_LINK_MODE", "copy")
    (copied,) = room.places(context, plan(context))
    assert copied.bytes == 2 * linked.bytes
    cached = tmp_path / "uv" / "wheels-v9" / "pypi" / "paddlepaddle"
    cached.mkdir(parents=True)
    (cached / "3.0.0-cp310-cp310-manylinux1_x86_64").touch()
    (partly,) = room.places(context, plan(context))
    assert copied.bytes - partly.bytes == room.catalogue().distributions["paddlepaddle"]


@needs_root
def test_a_small_disk_is_told_before_anything_is_made(cli: Cli, tmp_path: Path) -> None:
    with mounted(tmp_path / "home", "size=60m"):
        shown = cli("provision", "--target", "loopback", "--dry-run")
        assert "60 MiB free" in shown.stdout
        done = cli("provision", "--target", "loopback", "--yes")
        assert done.returncode == 4, done.stdout + done.stderr
        assert "GiB short" in done.stderr
        assert "PADDOCK_HOME" in done.stderr
        assert not (tmp_path / "home" / "data").exists()


def test_without_the_headers_no_driver_is_installed(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it cannot be told, as in a container, and where the person insists, it goes on."""
    states: dict[bool | None, str | None] = {}
    for there in (True, None, False):
        monkeypatch.setattr(kernel, "headers", lambda root, release, it=there: it)
        (driver,) = [one for one in plan(make()) if one.name == "host/driver"]
        states[there] = driver.lack.code if driver.lack else None
    assert states == {True: "package-missing", None: "package-missing", False: "no-headers"}
    (insisted,) = [one for one in plan(make(any_system=True)) if one.name == "host/driver"]
    assert insisted.lack and insisted.lack.code == "package-missing"


def test_a_package_that_builds_nothing_needs_no_headers(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "headers", lambda root, release: False)
    context = make()
    packages = context.stack.packages
    packages = {name: replace(one, headers=False) for name, one in packages.items()}
    plain = make(stack=replace(context.stack, packages=packages))
    (driver,) = [one for one in plan(plain) if one.name == "host/driver"]
    assert driver.lack and driver.lack.code == "package-missing"
