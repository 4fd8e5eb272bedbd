"""No room, or no folder, for temporary files is not the fault of the wheel."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from checks.wheels import trial
from checks.wheels.outline import Outline
from checks.wheels.place import find
from provision.errors import PaddockError
from provision.facts import command
from provision.facts.command import Answer
from tests.wheels import make
from tests.wheels.conftest import Auditor

PLUGIN = {make.INIT: b"", make.LIBRARY: b"\x7fELF" + bytes(100)}


class Usage(NamedTuple):
    free: int


def test_a_full_disk_is_told_before_a_library_is_laid_out(
    tmp_path: Path, alone: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(1 << 20))
    with pytest.raises(PaddockError) as error:
        alone(make.sound(tmp_path, PLUGIN))
    assert error.value.code == "temporary-full"
    assert "TMPDIR" in str(error.value)


def test_a_disk_that_is_full_meanwhile_is_told_too(
    tmp_path: Path, alone: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Outline, piece: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Outline, "take", full)
    with pytest.raises(PaddockError) as error:
        alone(make.sound(tmp_path, PLUGIN))
    assert error.value.code == "temporary-full"


def test_an_installer_that_lacks_room_has_not_refused_the_wheel(
    tmp_path: Path, paddle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel, said = make.sound(tmp_path, {"tiny/__init__.py": b""}), list[str]()

    def run(argv: list[str], limit: float, variables: dict[str, str], **_: object) -> Answer:
        said.append(variables["TMPDIR"])
        line = "error: No space left on device (os error 28)"
        return Answer(2, "", line) if "install" in argv else command.run(argv, limit, variables)

    monkeypatch.setattr(trial, "run", run)
    monkeypatch.setenv("TMPDIR", "/nowhere")
    made = trial.attempt(wheel, find(wheel.name, "auto", str(paddle)), [], "tiny")
    assert (made.refused, "os error 28" in made.untried) == ([], True)
    assert said == [tempfile.gettempdir()] * 2
