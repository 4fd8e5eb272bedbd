"""Rendering looks at nothing but the stack: the same bytes anywhere, and at once."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from provision.forms.registry import FORMS
from tests.conftest import ROOT, Cli
from tests.render.values import BASE, RELEASES, TARGETS, made

ALL = """
import sys
sys.path.insert(0, sys.argv[1])
from provision.forms.registry import FORMS
from tests.render.values import RELEASES, wanted
for target, release in RELEASES:
    for form, render in FORMS.items():
        sys.stdout.buffer.write(render(wanted(target, release)).encode())
"""
PLACES = (
    {"TZ": "UTC", "LC_ALL": "C", "PYTHONHASHSEED": "0", "PADDOCK_LANG": "en"},
    {"TZ": "Asia/Shanghai", "LC_ALL": "zh_CN.UTF-8", "PYTHONHASHSEED": "7", "PADDOCK_LANG": "zh",
     "PADDOCK_HOME": "/elsewhere", "CXX": "clang++", "PIP_INDEX_URL": "https://mirror.example/x",
     "HTTPS_PROXY": "http://proxy.example", "SSL_CERT_FILE": "/a.pem", "PATH": "/nowhere"},
)  # fmt: skip


def everything(folder: Path, more: dict[str, str], checkout: Path = ROOT) -> bytes:
    """All forms of all releases, rendered by a process of its own."""
    done = subprocess.run([sys.executable, "-c", ALL, checkout], cwd=folder, env=os.environ | more,
                          capture_output=True, check=True)  # fmt: skip
    return done.stdout


@pytest.mark.slow
def test_the_same_bytes_in_any_surroundings(tmp_path: Path) -> None:
    """Time zone, locale, hash seed, folder, home, compilers, network and place of the checkout."""
    moved = tmp_path / "a b 家"
    for name in ("provision", "images", "templates", "tests/render"):
        (moved / name).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-r", ROOT / name, moved / name], check=True)
    subprocess.run(["cp", ROOT / "requirements.lock", moved], check=True)
    first = everything(ROOT, PLACES[0])
    assert first == everything(tmp_path, PLACES[1])
    assert first == everything(tmp_path, PLACES[1], moved)
    assert len(first) > 100_000


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("target", "release"), RELEASES)
def test_no_text_names_this_machine(form: str, target: str, release: str) -> None:
    text = made(form, target, release)
    assert str(ROOT) not in text
    assert str(Path.home()) + "/" not in text or str(Path.home()) == "/"
    assert sys.executable not in text


def again(cli: Cli, text: str) -> str:
    """What the command that a text names as its own prints."""
    (command,) = [line.split("Written by: ")[1] for line in text.splitlines()
                  if line.startswith("#") and "Written by: " in line]  # fmt: skip
    done = cli(*shlex.split(command)[1:])
    assert done.returncode == 0, done.stderr
    return done.stdout


CHOSEN = ["--base", BASE, "--image", "registry.example/a:1", "--builder", "classic", "--syntax",
          "docker/dockerfile:1", "--cards", "1,3-4", "--machine", "aarch64", "--home", "/a b/$家",
          "--secrets", "ca,index", "--privileged"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("target", TARGETS)
def test_the_command_in_a_text_writes_it_again(cli: Cli, here: Cli, target: str, form: str) -> None:
    chosen = list(CHOSEN)
    if target == "s60":
        chosen[chosen.index("aarch64")] = "x86_64"  # its vendor has nothing for another
    first = here("render", "--target", target, "--as", form, *chosen)
    assert first.returncode == 0, first.stderr
    assert again(cli, first.stdout) == first.stdout


def test_an_own_stack_is_named_without_its_folder(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that its text is the same wherever it lies; in its folder the command writes it again."""
    made = []
    for name in ("one", "a b 家"):
        subprocess.run(["cp", "-r", ROOT / "images/loopback", tmp_path / name], check=True)
        own = (tmp_path / name / "stack.toml").rename(tmp_path / name / "my own.toml")
        made.append(cli("render", "--stack", str(own), "--as", "script").stdout)
    monkeypatch.chdir(tmp_path / "a b 家")
    assert made[0] == made[1] == again(cli, made[1])
    broken = Path("my own.toml").rename("my\nown.toml")
    assert cli("render", "--stack", str(broken), "--as", "script").returncode == 2


def test_everything_is_rendered_at_once() -> None:
    """Beyond Invoke's start, which `--version` measures: imports and all forms of all targets.

    In seconds of the processor, as others may use it meanwhile.
    """
    loop = "; ".join(["import sys", "sys.path.insert(0, sys.argv[1])", "import invoke.program",
                      "import time", "began = time.process_time()",
                      "from provision.forms.registry import FORMS",
                      "from tests.render.values import wanted, TARGETS",
                      "[f(wanted(t)) for t in TARGETS for f in FORMS.values()]",
                      "print(time.process_time() - began)"])  # fmt: skip
    taken = [float(subprocess.run([sys.executable, "-c", loop, ROOT], capture_output=True,
                                  check=True, cwd=ROOT).stdout) for _ in range(5)]  # fmt: skip
    assert min(taken) <= 0.3, taken
