"""Whether the headers of an installed Paddle are its own, and what of them decides a wheel."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from provision.wheels import order, paddle, python, store, tools
from provision.wheels.order import Order
from provision.wheels.python import Facts, Python
from provision.wheels.recipe import load
from provision.wheels.source import Source
from provision.wheels.work import Work

NAMES = ("phi/backends/device_ext.h", "phi/core, old/ddim.h", "common/macros.h")


def _row(packages: Path, name: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256((packages / name).read_bytes()).digest())
    return f'"{name}",sha256={digest.rstrip(b"=").decode()},1\n'


@pytest.fixture
def installed(tmp_path: Path, home: Path) -> Path:
    """The folder of a Paddle 9.9.0b1 with three headers and its list of files."""
    names = [f"paddle/include/paddle/{name}" for name in NAMES] + ["paddle/base/libpaddle.so"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"of {name}, NSt7__cxx1112basic_string\n")
    info = tmp_path / "paddlepaddle-9.9.0b1.dist-info"
    info.mkdir()
    rows = [_row(tmp_path, name) for name in names]
    (info / "RECORD").write_text("".join(rows) + f"{info.name}/RECORD,,\n")
    return tmp_path / "paddle"


def _work(chosen: Python) -> Work:
    source = Source("/src", Path("/src"), "c" * 40, "c" * 40)
    return Work(load("custom_cpu"), source, chosen, os.uname().machine, Path("/src"))


def _facts(folder: Path, release: str = "9.9.0b1") -> Facts:
    return Facts("", "", "", "", str(folder), release, "1", "1")


def test_headers_of_another_version_are_told(installed: Path, tmp_path: Path) -> None:
    host = Python(Path("/python"), "3.11", "9.9.0b1", None)
    assert tools.of_paddle(_work(host), _facts(installed)) == []
    (installed / "include/paddle" / NAMES[0]).write_text("of an older release\n")
    (installed / "include/paddle" / NAMES[1]).unlink()
    (told,) = tools.of_paddle(_work(host), _facts(installed))
    assert told.startswith("2 headers") and NAMES[0] in told and "9.9.0b1" in told
    (told,) = tools.of_paddle(_work(msgspec.structs.replace(host, env=tmp_path)), _facts(installed))
    assert str(tmp_path) in told  # an environment of the tool's own


def test_headers_that_were_right_are_read_again_where_one_was_touched(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, header = installed.parent / "paddlepaddle-9.9.0b1.dist-info/RECORD", NAMES[2]
    assert paddle.strange_headers(installed, listed) == []
    with monkeypatch.context() as patched:
        patched.setattr(paddle, "_digest", lambda _: pytest.fail("a header was read again"))
        assert paddle.strange_headers(installed, listed) == []
    file = installed / "include/paddle" / header
    before = file.stat()
    file.write_text(file.read_text().upper())
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # of the same size and time
    assert paddle.strange_headers(installed, listed) == [f"paddle/include/paddle/{header}"]


def test_what_nothing_tells_is_said(installed: Path) -> None:
    assert list(tools.notes_of_paddle(_facts(installed))) == []
    assert paddle.record(installed, "9.9.0") is None
    (note,) = tools.notes_of_paddle(_facts(installed, "9.9.0"))
    assert "RECORD" in note


def test_other_files_of_the_same_release_make_another_wheel(
    installed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path
) -> None:
    monkeypatch.setattr(python, "facts", lambda _: _facts(installed))
    (tmp_path / "sources").mkdir()
    asked = Order("custom_cpu", str(tmp_path / "sources"), place="host")
    first = order.work(asked)
    with (tmp_path / "paddlepaddle-9.9.0b1.dist-info/RECORD").open("a") as record:
        record.write("paddle/more.py,,\n")
    other = order.work(asked)
    assert (first.python.paddle, first.label) == ("9.9.0b1", other.label)
    assert store.key(store.inputs(first)) != store.key(store.inputs(other))
    assert first.build != other.build


def test_a_python_that_is_odd_is_understood(tmp_path: Path) -> None:
    """One that greets whoever starts it, and has a file in place of Paddle."""
    env = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True)
    (packages,) = env.glob("lib/python*/site-packages")
    (packages / "paddle.py").touch()
    (packages / "hello.pth").write_text("import sys; print('hello')\n")
    found = python.facts(env / "bin/python")
    assert found.paddle == found.release == "" and found.include
