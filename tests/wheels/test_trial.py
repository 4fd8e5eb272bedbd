"""A wheel is installed and imported beside the environment, which stays as it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from checks.wheels import trial
from checks.wheels.audit import Audit, audit
from checks.wheels.place import find
from provision import overlap
from provision.several import gather
from provision.site import Site
from provision.stack import load, stack_file
from provision.steps import KINDS
from provision.steps.base import Context
from tests.conftest import run_cli
from tests.lab.needs import needs
from tests.wheels import make
from tests.wheels.conftest import Auditor, cases

TOY = {"toy_ops/__init__.py": b"import paddle\n"}


def tried(wheel: Path, env: Path) -> Audit:
    return audit(wheel, find(wheel.name, "auto", str(env)), importing=True)


def files(env: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in env.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts}  # fmt: skip


def of(made: Audit, name: str) -> str:
    one = next(finding for finding in made.findings if finding.id == name)
    return " ".join(f"{evidence.line}" for evidence in one.evidence)


def test_what_can_be_imported(
    tmp_path: Path, paddle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_COMPILE_BYTECODE", "1")
    monkeypatch.setenv("UV_REQUIRE_HASHES", "1")
    before = files(paddle)
    made = tried(make.sound(tmp_path, TOY, "toy_ops"), paddle)
    assert cases(made) == {}
    assert of(made, "wheel-installs") == "import toy_ops"
    assert files(paddle) == before
    assert not list(paddle.glob("lib/python3.*/site-packages/**/__pycache__"))


def test_a_folder_of_temporary_files_from_which_nothing_can_be_loaded(
    tmp_path: Path, paddle: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs(os.geteuid() == 0 and shutil.which("mount") is not None, "root, for a disk of its own")
    library = make.compiled(tmp_path / "build", "int f;").read_bytes()
    code = b"import ctypes, paddle\nctypes.CDLL(__file__.replace('__init__.py', 'one.so'))\n"
    files = {"toy_ops/__init__.py": code, "toy_ops/one.so": library}
    wheel = make.sound(tmp_path, files, "toy_ops")
    place = tmp_path / "no programs"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "none", str(place)], check=True)
    try:
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        assert of(tried(wheel, paddle), "wheel-installs") == "import toy_ops"
    finally:
        subprocess.run(["umount", str(place)], check=True)
    assert not list((home / "cache").glob("paddock-wheel-*"))


def test_the_plugin_of_the_wheel_registers_and_no_other(tmp_path: Path, paddle: Path) -> None:
    content = make.compiled(tmp_path / "build", "int f;").read_bytes()
    wheel = make.sound(tmp_path, {make.INIT: b"", make.LIBRARY: content})
    there = next(paddle.glob("lib/python3.*/site-packages")) / "paddle_custom_device"
    for others in (False, True):
        if others:
            there.mkdir()
            (there / "libpaddle-custom-other.so").write_bytes(content)
        try:
            made = tried(wheel, paddle)
        finally:
            shutil.rmtree(there, ignore_errors=True)
        assert cases(made) == {}
        assert of(made, "plugin-loads") == "registered: tiny"


def test_what_cannot_be_imported_says_why(tmp_path: Path, paddle: Path) -> None:
    line = b"raise ImportError('libatb.so: cannot open shared object file: No such file')\n"
    made = tried(make.sound(tmp_path, {"toy_ops/__init__.py": line}, "toy_ops"), paddle)
    assert cases(made) == {"wheel-installs": "error raises"}
    assert "libatb.so" in of(made, "wheel-installs")
    assert " K0" in f" {of(made, 'wheel-installs')}"  # the catalogue of failures knows it


@pytest.mark.parametrize(
    ("code", "case"),
    [(b"import os; os.abort()\n", "crashes"), (b"raise SystemExit(3)\n", "raises")],
)
def test_an_import_that_ends_the_process(
    tmp_path: Path, paddle: Path, code: bytes, case: str
) -> None:
    made = tried(make.sound(tmp_path, {"toy_ops/__init__.py": code}, "toy_ops"), paddle)
    assert cases(made) == {"wheel-installs": f"error {case}"}


@pytest.mark.parametrize(
    ("script", "said"),
    [("exec sleep 60", "no end within 1 s"), ("echo no room >&2; exit 2", "no room")],
)
def test_what_could_not_be_tried_is_not_the_wheel_s_fault(
    tmp_path: Path, paddle: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    uv = tmp_path / "uv"
    uv.write_text(f"#!/bin/sh\n{script}\n")
    uv.chmod(0o755)
    monkeypatch.setattr(trial, "uv", lambda: str(uv))
    monkeypatch.setattr(trial, "_LIMIT", 1.0)
    made = tried(make.sound(tmp_path, TOY, "toy_ops"), paddle)
    assert cases(made) == {"wheel-installs": "unknown untried"}
    assert said in of(made, "wheel-installs")


def test_a_wheel_that_is_not_in_order_is_not_run(tmp_path: Path, paddle: Path) -> None:
    mark = tmp_path / "ran"

    def changed(held: dict[str, bytes]) -> None:
        held["toy_ops/__init__.py"] = f"open({str(mark)!r}, 'w')\n".encode()

    made = tried(make.sound(tmp_path, TOY, "toy_ops", change=changed), paddle)
    assert cases(made) == {"wheel-record": "error changed"}
    assert not mark.exists()


def test_no_scheme_of_a_wheel_reaches_the_environment(tmp_path: Path, paddle: Path) -> None:
    version = next(paddle.glob("lib/python3.*")).name
    before = files(paddle)
    held = {
        f"toy_ops-3.3.1.data/data/lib/{version}/site-packages/paddle/evil.py": b"",
        "toy_ops-3.3.1.data/platlib/paddlepaddle-3.3.1.dist-info/evil": b"",
    }  # fmt: skip
    tried(make.sound(tmp_path, {**TOY, **held}, "toy_ops"), paddle)
    assert files(paddle) == before


def with_plugin(env: Path, name: str, content: bytes) -> Path:
    """The metadata of another vendor's plugin in an environment."""
    info = next(env.glob("lib/python3.*/site-packages")) / f"{name}-3.3.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Name: {name}\nVersion: 3.3.0\n")
    (info / "RECORD").write_text(f"{make.INIT},{make.digest(content)},{len(content)}\n")
    return info


@pytest.mark.parametrize(("content", "said"), [(b"x", "error differ"), (b"", "warning same")])
def test_another_plugin_in_the_environment(
    tmp_path: Path, paddle: Path, against: Auditor, content: bytes, said: str
) -> None:
    info = with_plugin(paddle, "paddle_custom_npu", content)
    try:
        library = make.compiled(tmp_path / "build", "int f;").read_bytes()
        plugin = {make.INIT: b"", make.LIBRARY: library}
        assert cases(against(make.sound(tmp_path, plugin))) == {"wheel-conflict": said}
        own = make.sound(tmp_path, plugin, "paddle_custom_npu")
        assert cases(against(own)) == {}  # it replaces itself
    finally:
        for path in info.iterdir():
            path.unlink()
        info.rmdir()


def test_two_plugins_that_are_examined_together(tmp_path: Path, alone: Auditor) -> None:
    library = make.compiled(tmp_path / "build", "int f;").read_bytes()
    one = make.sound(tmp_path, {make.INIT: b"1", make.LIBRARY: library})
    two = make.sound(tmp_path, {make.INIT: b"2", make.LIBRARY: library}, "paddle_custom_npu")
    assert cases(alone(one, two)) == cases(alone(two, one)) == {"wheel-conflict": "error differ"}
    two.write_bytes(b"no wheel")
    assert cases(alone(one, two)) == {}


@pytest.mark.parametrize(("target", "step"), [("loopback", "plugin/install")])
def test_provision_refuses_to_overwrite_another_plugin(home: Path, target: str, step: str) -> None:
    site = Site(target)
    (site.env / "lib/python3.11/site-packages").mkdir(parents=True)
    stack = load(stack_file(target))
    context = Context(stack, stack_file(target).parent, stack.default_release, site, None)
    kind = KINDS[context.step(step).kind]
    assert kind.blocked(context.step(step), context) is None
    with_plugin(site.env, f"paddle_custom_{stack.device}", b"own")
    assert kind.blocked(context.step(step), context) is None
    with_plugin(site.env, "paddle_custom_elsewhere", b"other")
    lack = kind.blocked(context.step(step), context)
    assert lack is not None and (lack.code, lack.later) == ("plugin-overlap", False)
    assert lack.remedy == "paddle-custom-elsewhere 3.3.0"
    assert overlap.plugin_in_the_way("x", None) is None


def test_the_command_on_the_plugin_of_the_stack(stack_home: Path, tmp_path: Path) -> None:
    wheel = next((stack_home / "data/wheels/loopback/plugin/build").glob("*.whl"))
    result = run_cli(stack_home, "verify-wheel", str(wheel), "--target", "loopback", "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    made = json.loads(result.stdout)["wheels"][0]
    found = {one["id"]: one for one in made["findings"]}
    assert found["plugin-loads"]["evidence"][0]["line"] == "registered: loopback"
    assert {one["state"] for one in made["findings"]} <= {"ok", "apart"}
    broken = tmp_path / wheel.name
    broken.write_bytes(wheel.read_bytes()[:-100])
    result = run_cli(stack_home, "verify-wheel", str(wheel), "--no-import", str(broken))
    assert result.returncode == 11
    assert "wheel-archive" in result.stdout


def test_an_unlinked_plugin_over_the_real_paddle(stack: Path, tmp_path: Path) -> None:
    code = "int PD_RegisterPhiKernel(void); int InitPlugin(void) { return PD_RegisterPhiKernel(); }"
    content = make.compiled(tmp_path / "b", code).read_bytes()
    made = tried(make.sound(tmp_path, {make.INIT: b"", make.LIBRARY: content}), stack)
    assert cases(made)["wheel-symbols"] == "error unlinked"
    loads = next(one for one in made.findings if one.id == "plugin-loads")
    assert (loads.state, loads.follows) == ("follows", "wheel-symbols")


def test_files_and_flags_in_any_order() -> None:
    words = ["paddock", "verify-wheel", "--target", "s60", "a.whl", "--no-import", "b.whl"]
    assert gather(words) == [
        "paddock", "verify-wheel", "a.whl\0b.whl", "--target", "s60", "--no-import",
    ]  # fmt: skip
    words = ["paddock", "verify-wheel", "a.whl", "--env", "a", "--", "--target"]
    assert gather(words) == ["paddock", "verify-wheel", "a.whl\0--target", "--env", "a"]
    assert gather(["paddock", "read", "--json", "a", "-"]) == ["paddock", "read", "a\0-", "--json"]


@pytest.mark.parametrize(
    ("words", "status"),
    [((), 2), (("absent.whl",), 2), (("--env", "/nowhere", "x.whl"), 2),
     (("--target", "mars", "x.whl"), 2), (("--target", "npu", "--env", "/usr", "x.whl"), 2)],
)  # fmt: skip
def test_mistakes_of_the_command(home: Path, words: tuple[str, ...], status: int) -> None:
    result = run_cli(home, "verify-wheel", *words)
    assert result.returncode == status, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
