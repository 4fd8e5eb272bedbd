"""What lies in the folder of packages is looked at before anything of it is run."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from provision.errors import PaddockError
from provision.steps import KINDS
from provision.steps.vendor import missing, told
from provision.vendor import deps, look
from provision.vendor.deps import Found
from tests.engine.test_failures import needs_root
from tests.vendor.conftest import Make

DRIVER = "Ascend-hdk-910b-npu-driver_23.0.3_linux-x86-64.run"
INSTALLER = b"#!/bin/sh\nexit 0\n"
PAGE = b"\n<!DOCTYPE html>\n<html><head><title>Login</title></head></html>\n"


_PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes, "gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress,
}  # fmt: skip


def refused(file: Path) -> PaddockError:
    """The error for a file that was found."""
    with pytest.raises(PaddockError) as caught:
        look.checked(Found(file))
    return caught.value


def packed(kind: str) -> bytes:
    """A real archive of that kind."""
    plain = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(plain, "w") as whole:
            whole.writestr("a", "a")
        return plain.getvalue()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("a"))
    return _PACK[kind](plain.getvalue())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.run", INSTALLER), ("a_1_amd64.deb", b"!<arch>\ndebian-binary"),
        ("a.whl", packed("zip")), ("a.zip", packed("zip")), ("a.tar", packed("")),
        ("a.tar.gz", packed("gz")), ("a.tgz", packed("gz")), ("a.tar.xz", packed("xz")),
        ("a.tar.bz2", packed("bz2")), ("a.tar.gz", packed("")), ("a.bin", PAGE),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # what is packed has its time in it
)  # fmt: skip
def test_what_is_of_its_kind_is_taken(tmp_path: Path, name: str, content: bytes) -> None:
    """Some servers unpack a .gz on the way; what a name without a known end promises is unknown."""
    (tmp_path / name).write_bytes(content)
    look.checked(Found(tmp_path / name))
    assert look.is_readable(tmp_path / name)


@pytest.mark.parametrize("name", ["a.run", "a_1_amd64.deb", "a.whl", "a.zip", "a.tar.gz", "A.RUN"])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "it is empty (0 bytes)"),
        (PAGE, "a login or error page was saved in place of the file"),
        (b"\xef\xbb\xbf<?xml version='1.0'?><Error><Code>AccessDenied", "login or error page"),
        (b'{"error": "no"}', """it begins with '{"error"'"""),
        (b"\0" * 9999, r"it begins with '\x00\x00"),
        (b"root:$6$secret:19000:0:99999:7:::\n", "it begins with 'root:$6$'."),
    ],
)
def test_what_is_not_is_refused_and_named(
    tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(content)
    error = refused(tmp_path / name)
    assert (error.code, error.status) == ("package-other", 6)
    assert told in error.part("what") and str(tmp_path / name) in error.part("what")


def test_a_link_is_looked_at_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(INSTALLER)
    (tmp_path / "shadow").write_bytes(b"root:*:1\n")
    for name in ("good", "shadow"):
        (tmp_path / f"{name}.run").symlink_to(name)
    look.checked(Found(tmp_path / "good.run"))
    assert f"shadow.run -> {tmp_path}/shadow is not" in refused(tmp_path / "shadow.run").part(
        "what"
    )


def test_nothing_of_it_is_planned(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step itself refuses it: for the driver, and an archive before it is unpacked."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for target, release, step, name in (
        ("ascend910b", "3.0.0", "host/driver", DRIVER),
        ("s60", "3.0.0b0", "host/tops", "TopsPlatform.tar.gz"),
        ("ascend910b", "3.0.0", "plugin/install",
         "paddle_custom_npu-3.0.0-cp310-cp310-linux_x86_64.whl"),
    ):  # fmt: skip
        context = make(target, release)
        assert context.deps
        (context.deps / name).write_bytes(PAGE)
        with pytest.raises(PaddockError) as caught:
            KINDS[context.step(step).kind].blocked(context.step(step), context)
        assert (caught.value.code, step) == ("package-other", step)
        (context.deps / name).unlink()


def test_the_same_name_twice_is_refused_where_the_bytes_differ(make: Make) -> None:
    context = make()
    assert context.deps
    rows = [context.stack.packages["driver"]]
    for folder in ("", "one", "two"):
        (context.deps / folder).mkdir(exist_ok=True)
        (context.deps / folder / DRIVER).write_bytes(INSTALLER)
    (context.deps / "three").mkdir()
    (context.deps / "three" / DRIVER).symlink_to(f"../{DRIVER}")
    assert missing(rows, context) is None
    for other in (INSTALLER.replace(b"0", b"1"), INSTALLER * 2):  # of the same size, and longer
        (context.deps / "two" / DRIVER).write_bytes(other)
        with pytest.raises(PaddockError) as caught:
            missing(rows, context)
        assert (caught.value.code, caught.value.status) == ("package-twins", 2)
        assert str(context.deps / "two" / DRIVER) in caught.value.part("what")


def test_what_has_the_name_and_is_no_file_is_named(make: Make) -> None:
    context = make()
    assert context.deps
    file = context.deps / DRIVER

    def lines() -> str:
        lack = missing([context.stack.packages["driver"]], context)
        assert lack and lack.code == "package-missing"
        return "\n".join(lack.details)

    assert str(file) not in lines()
    file.mkdir()
    assert f"{file}: has the name, but is a folder" in lines()
    file.rmdir()
    os.mkfifo(file)
    assert f"{file}: has the name, but is a pipe" in lines()
    file.unlink()
    file.symlink_to("gone.run")
    assert f"{file}: has the name, but is a link to gone.run" in lines()
    file.unlink()
    file.symlink_to(DRIVER)
    assert f"{file} cannot be read" in lines()
    file.unlink()
    (context.deps / DRIVER.lower()).write_bytes(INSTALLER)
    assert f"{context.deps / DRIVER.lower()}: has the name but for capital letters" in lines()


@pytest.fixture
def foreign() -> Iterator[Path]:
    """A folder that everybody may read, and a user who is not root."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        os.setresuid(65534, 65534, 0)
        try:
            yield Path(name)
        finally:
            os.setresuid(0, 0, 0)


@contextlib.contextmanager
def as_root() -> Iterator[None]:
    """As root in here."""
    os.setresuid(0, 0, 0)
    yield
    os.setresuid(65534, 65534, 0)


@needs_root
def test_what_this_user_may_not_read_is_told(
    make: Make, foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = make(deps=foreign)
    monkeypatch.setenv("PADDOCK_HOME", str(foreign / "home"))
    driver, step = context.stack.packages["driver"], context.step("host/driver")
    file, inner = foreign / DRIVER, foreign / "inner"
    with as_root():
        file.write_bytes(INSTALLER)
        file.chmod(0)
    assert told([driver], context, step) == []  # the plan itself goes on as far as here
    with pytest.raises(PaddockError) as caught:
        missing([driver], context)
    assert (caught.value.code, caught.value.status) == ("package-unreadable", 4)
    assert f"{file} cannot be read: Permission denied" in caught.value.part("what")
    assert "PADDOCK_HOME" not in str(caught.value)
    with as_root():
        file.unlink()
        inner.mkdir(mode=0)
    lack = missing([driver], context)
    assert lack and f"{inner}: this folder cannot be read by this user" in lack.details[0]
    with as_root():
        foreign.chmod(0o711)
    with pytest.raises(PaddockError) as caught:
        deps.find(driver, context)
    assert f"{foreign} cannot be read: Permission denied" in caught.value.part("what")


def test_a_folder_that_is_gone_has_nothing(make: Make) -> None:
    context = make()
    assert context.deps
    shutil.rmtree(context.deps)
    assert deps.find(context.stack.packages["driver"], context) is None
