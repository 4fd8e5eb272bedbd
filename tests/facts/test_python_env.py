"""Environments of every kind, real ones where they can be made here, and paths that are none."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from provision.errors import PaddockError
from provision.facts import oddities
from provision.facts.oddities import Oddity
from provision.facts.python_env import environment_at

VERSION = ".".join(map(str, sys.version_info[:3]))
LIB = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
TAGS = ["cp311-cp311-manylinux_2_17_x86_64", "cp311-cp311-manylinux2014_x86_64"]


@pytest.fixture
def no_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for the packages of the user alone, which is empty."""
    monkeypatch.delenv("PYTHONNOUSERSITE", raising=False)
    monkeypatch.setenv("PYTHONUSERBASE", str(tmp_path / "user"))
    return tmp_path / "user" / LIB


def venv(path: Path, *more: str) -> Path:
    command = [sys.executable, "-m", "venv", "--without-pip", *more, str(path)]
    subprocess.run(command, check=True, timeout=60)
    return path


def dist(
    folder: Path, name: str, tags: list[str] | None = None, files: dict[str, str] | None = None
) -> None:
    """Put a distribution into a folder: `name` is NAME-VERSION, files are path -> content."""
    place = folder / f"{name}.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Name: {}\nVersion: {}\n".format(*name.split("-")))
    if tags:
        lines = ["Wheel-Version: 1.0", *(f"Tag: {tag}" for tag in tags)]
        (place / "WHEEL").write_text("\n".join(lines))
    record = [f"{path},sha256={text},1" for path, text in (files or {}).items()]
    (place / "RECORD").write_text("\n".join([*record, f"{name}.dist-info/RECORD,,"]))


@pytest.mark.parametrize("way", ["", "bin/python", "bin/python3"])
def test_a_venv(tmp_path: Path, way: str) -> None:
    folder = venv(tmp_path / "env") / LIB
    dist(folder, "paddlepaddle-3.0.0", TAGS)
    dist(folder, "Some_Thing-1.0.post1")
    found = environment_at(tmp_path / "env" / way)
    assert (found.kind, found.version, found.problem) == ("venv", VERSION, "")
    assert found.python.startswith(f"{tmp_path}/env/bin/python")
    assert (found.prefix, found.folders) == (str(tmp_path / "env"), [str(folder)])
    assert found.packages == {"paddlepaddle": "3.0.0", "some-thing": "1.0.post1"}
    assert found.wheels == {"paddlepaddle": TAGS}
    assert Path(found.program).resolve() == Path(sys.executable).resolve()
    assert found.oddities == []


def test_packages_are_not_imported_and_cannot_spoil_the_answer(tmp_path: Path) -> None:
    folder = venv(tmp_path / "env") / LIB
    for name in ("json", "site", "sitecustomize", "usercustomize"):
        (folder / f"{name}.py").write_text("raise SystemExit(9)")
    (folder / "bad.pth").write_text("import sys; sys.exit(9)")
    assert environment_at(tmp_path / "env").version == VERSION


def test_a_venv_that_sees_what_its_base_has(tmp_path: Path, no_user: Path) -> None:
    folder = venv(tmp_path / "env", "--system-site-packages") / LIB
    dist(folder, "alpha-2.0")
    dist(no_user, "alpha-1.0")
    dist(no_user, "beta-1.0")
    found = environment_at(tmp_path / "env")
    assert found.folders[:2] == [str(folder), str(no_user)] and len(found.folders) > 2
    assert (found.packages["alpha"], found.packages["beta"]) == ("2.0", "1.0")
    places = [str(folder / "alpha-2.0.dist-info"), str(no_user / "alpha-1.0.dist-info")]
    assert Oddity("shadowed", ["alpha"], places) in found.oddities
    script = "import importlib.metadata as m; print(m.version('alpha'))"
    python = [found.python, "-c", script]
    assert subprocess.run(python, capture_output=True, text=True, check=True).stdout == "2.0\n"
    closed = environment_at(venv(tmp_path / "closed"))
    assert closed.folders == [str(tmp_path / "closed" / LIB)]


def test_the_folders_are_those_of_the_interpreter_itself(no_user: Path) -> None:
    no_user.mkdir(parents=True)
    found = environment_at(Path(sys.base_prefix))
    ask = "import json, sys; print(json.dumps(sys.path))"
    answer = subprocess.run([found.python, "-c", ask], capture_output=True, text=True, check=True)
    path = [place for place in json.loads(answer.stdout) if place.endswith("-packages")]
    assert found.kind == "system" and found.folders == path


@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="no Python of the system")
def test_the_python_of_the_system() -> None:
    found = environment_at(Path("/usr"))
    answer = subprocess.run(
        ["/usr/bin/python3", "-c", "import importlib.metadata as m, json; print(json.dumps("
         "[[d.metadata['Name'], d.version] for d in m.distributions()]))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    theirs = {
        name.lower().replace("_", "-").replace(".", "-") for name, _ in json.loads(answer.stdout)
    }
    assert found.prefix == "/usr" and set(found.packages) == theirs


def test_a_conda_prefix(tmp_path: Path, no_user: Path) -> None:
    """Its interpreter is a script that answers as one of conda does."""
    folder = tmp_path / "conda/lib/python3.10/site-packages"
    for name in ("conda-meta", "bin"):
        (tmp_path / "conda" / name).mkdir(parents=True)
    dist(folder, "torch-2.1.0")
    (folder / "old-1.egg-info").mkdir()
    (folder / "old-1.egg-info/PKG-INFO").write_text(
        "Metadata-Version: 1.0\nName: Old\nVersion: 1\n"
    )
    (folder / "flat.egg-info").write_text("Name: flat.one\nVersion: 2\n\nName: no\n")
    (folder / "torn.egg-info").write_text("Name: torn\n")
    answer = {
        "version": "3.10.4", "base": str(tmp_path / "conda"), "program": "/p", "cxx": "c++",
        "system": [str(folder)], "user": str(no_user),
    }  # fmt: skip
    python = tmp_path / "conda/bin/python"
    python.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(answer)}\nEND\n")
    python.chmod(0o755)
    found = environment_at(tmp_path / "conda")
    assert (found.kind, found.version, found.cxx) == ("conda", "3.10.4", "c++")
    assert found.packages == {"flat-one": "2", "old": "1", "torch": "2.1.0"}
    python.write_text("#!/bin/sh\necho 'no such luck' >&2; exit 3\n")
    found = environment_at(tmp_path / "conda")
    assert (found.version, found.problem, found.kind) == (None, "no such luck", "conda")
    assert found.packages["torch"] == "2.1.0"


def test_a_venv_whose_base_was_removed(tmp_path: Path) -> None:
    folder = venv(tmp_path / "env") / LIB
    dist(folder, "alpha-1.0")
    for path in (tmp_path / "env/bin").glob("python*"):
        path.unlink()
    (tmp_path / "env/bin/python").symlink_to("/nowhere/python3")
    found = environment_at(tmp_path / "env")
    assert found.version is None and "No such file" in found.problem
    assert found.packages == {"alpha": "1.0"} and found.folders == [str(folder)]


def test_the_folder_with_paddle_is_the_main_one(tmp_path: Path, no_user: Path) -> None:
    folder = venv(tmp_path / "env", "--system-site-packages") / LIB
    no_user.mkdir(parents=True)
    assert environment_at(tmp_path / "env").site_packages == str(folder)
    (no_user / "paddle").mkdir()
    assert environment_at(tmp_path / "env").site_packages == str(no_user)


def test_paths_that_are_no_environment(tmp_path: Path) -> None:
    program = tmp_path / "reboot"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    (tmp_path / "python3-config").symlink_to(program)
    (tmp_path / "python").write_text("not executable")
    (tmp_path / "bin").mkdir()
    for name in ("reboot", "python3-config", "python", "none", ".", "bin"):
        with pytest.raises(PaddockError) as caught:
            environment_at(tmp_path / name)
        assert (caught.value.code, caught.value.values["option"]) == ("bad-option", "--env")
    assert not (tmp_path / "ran").exists()


def test_what_is_odd_in_one_folder(tmp_path: Path) -> None:
    dist(tmp_path, "paddlepaddle-3.0.0")
    dist(tmp_path, "paddlepaddle-3.1.0")
    (tmp_path / "~addle").mkdir()
    (tmp_path / "~addlepaddle-2.0.dist-info").mkdir()
    (tmp_path / "torn-1.0.dist-info").mkdir()
    found = [(odd.kind, odd.names) for odd in oddities.find([tmp_path])]
    assert found == [
        ("twice", ["paddlepaddle"]), ("leftover", ["~addle"]),
        ("leftover", ["~addlepaddle-2.0.dist-info"]), ("torn", ["torn"]),
    ]  # fmt: skip


def test_distributions_that_overwrite_each_other(tmp_path: Path) -> None:
    dist(tmp_path, "triton-3.0", files={"triton/runtime.py": "a", "triton/same.py": "s"})
    dist(tmp_path, "triton_ascend-3.0", files={"triton/runtime.py": "b", "triton/same.py": "s"})
    dist(tmp_path, "nvidia_one-1", files={"nvidia/__init__.py": "e", "tests/__init__.py": "x"})
    dist(tmp_path, "nvidia_two-1", files={"nvidia/__init__.py": "e", "tests/__init__.py": "y"})
    found = oddities.find([tmp_path])
    assert found == [
        Oddity("overwritten", ["triton", "triton-ascend"], [str(tmp_path / "triton/runtime.py")])
    ]


def test_a_large_environment_is_read_quickly(tmp_path: Path) -> None:
    folder = venv(tmp_path / "env") / LIB
    for number in range(200):
        files = {f"p{number}/f{item}.py": "a" for item in range(500)}
        dist(folder, f"p{number}-1", TAGS, files)
    begin = time.process_time()
    assert len(environment_at(tmp_path / "env").packages) == 200
    assert time.process_time() - begin < 2
