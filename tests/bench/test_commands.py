"""What the two sides of a measure are made to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import rebuild, rivals, typed
from bench.cost import Command
from provision.engine import Options, prepare


def test_pyinfra_has_one_operation_a_step_and_its_files_exist(tmp_path: Path) -> None:
    command = rivals.pyinfra(Path("/env"), tmp_path, 7)
    assert Path(command.argv[0]).parent == Path("/env/bin")
    assert len(asked(tmp_path, Path(command.argv[-1]))) == 7


def test_ansible_has_one_task_a_step_and_pip_for_each_lock(tmp_path: Path) -> None:
    locks = [Path("/a/framework.txt"), Path("/a/model.txt")]
    command = rivals.ansible(Path("/env"), tmp_path, 7, Path("/home/env"), locks)
    play = Path(command.argv[-1]).read_text(encoding="utf-8")
    assert Path(command.argv[0]).parent == Path("/env/bin")
    assert len(asked(tmp_path, Path(command.argv[-1]))) == 5
    assert play.count("ansible.builtin.pip") == 2
    assert all(str(lock) in play for lock in locks)


def asked(folder: Path, script: Path) -> list[Path]:
    """The files that exist and that the script asks for."""
    text = script.read_text(encoding="utf-8")
    return [path for path in folder.glob("file*") if str(path) in text]


def test_pip_does_every_step_of_the_stack_with_its_locks(tmp_path: Path) -> None:
    (tmp_path / "env" / "lib" / "python3.11" / "site-packages" / "paddle").mkdir(parents=True)
    (tmp_path / "wheels").mkdir()
    context = prepare(Options("loopback"))
    steps = [step for step in context.stack.steps if step.kind != "toolchain"]
    for step, command in zip(steps, typed.commands(context, tmp_path), strict=True):
        if step.lock:
            assert command.argv[-1] == context.lock(step.lock)
            assert "--require-hashes" in command.argv
        if step.kind == "wheel":
            source = Path(command.argv[-1])
            assert source.is_relative_to(tmp_path)
            assert (source / "pyproject.toml").is_file()
            assert command.variables["PADDLE_VERSION"] == "3.3.1"
            (tmp_path / "wheels" / f"{source.name}.whl").touch()
        if step.kind == "install":
            assert [Path(item).name for item in command.argv[-2:]] == ["ops.whl", "plugin.whl"]


def test_every_lock_is_downloaded_before_it_is_installed(tmp_path: Path) -> None:
    context = prepare(Options("loopback"))
    argvs = [command.argv for command in typed.filling(context, tmp_path)][1:]
    locks = [context.lock(step.lock) for step in context.stack.steps if step.lock]
    asked = [(word, argv[-1]) for argv in argvs for word in ("download", "install") if word in argv]
    assert asked == [(word, lock) for lock in locks for word in ("download", "install")]


def test_the_counting_compiler_counts_and_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "real compiler"
    real.write_text('#!/bin/sh\ntouch "$1"\n')
    real.chmod(0o755)
    monkeypatch.setattr(rebuild, "compiler", lambda: real)
    script, log = rebuild._counting(tmp_path)
    command = Command([script, "made here.o"], tmp_path)
    assert rebuild._started(command, log)[1] == 1
    assert rebuild._started(command, log)[1] == 1
    assert (tmp_path / "made here.o").is_file()
