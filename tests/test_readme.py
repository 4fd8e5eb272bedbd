"""Both READMEs show the same commands, and every command that they show works as shown."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, package_cache, variables
from tests.judge import logs
from tests.lab.machine import packed_clone
from tests.lab.needs import needs, succeeds
from tests.recipes.upstream import upstream

ELSEWHERE = "PADDOCK_HOME=/media/usb "
COMMAND = re.compile(rf"^    ((?:{ELSEWHERE})?\./paddock .*?)(?: {{3,}}.*)?$", re.MULTILINE)
TEXT = "The quick brown fox jumps over the lazy dog, and the dog sleeps on.\n" * 3


def commands(readme: str) -> list[str]:
    """The commands that a README shows, in its order."""
    return COMMAND.findall((ROOT / readme).read_text(encoding="utf-8"))


def test_both_languages_show_the_same_commands() -> None:
    shown = commands("README.md")
    assert len(shown) > 10
    assert commands("README.zh.md") == shown


def test_both_languages_have_the_same_parts() -> None:
    parts = [
        [len(line.split(" ")[0]) for line in (ROOT / name).read_text("utf-8").splitlines()
         if line.startswith("#")]
        for name in ("README.md", "README.zh.md")
    ]  # fmt: skip
    assert parts[0] == parts[1]


# What the suite cannot run inside itself in full is narrowed; the command stays the same.
NARROWED = {
    "./paddock test": ["--select", "both_languages_have"],
    "./paddock test --fast": ["--select", "both_languages_have"],
    "./paddock bench": ["--select", "list"],
    "./paddock provision --from plugin/build": ["--only", "plugin/build"],
}
# What ends otherwise than with 0: a run that failed is judged, and an empty folder holds no output.
ENDS = {"./paddock smoke --diagnose LOG": 8, "./paddock doctor --from EMPTY": 2}
LOCK = "./paddock lock"


@pytest.fixture
def own(tmp_path: Path) -> dict[str, str]:
    """What stands in the commands for something of the reader's own."""
    dead = [*logs.training(end=False), "Out of memory error on NPU 3. Cannot allocate 2.0GB memory"]
    pips = "Package Version\n------- -------\nnumpy   1.26.4\n"
    given = {"TEXT": TEXT.encode(), "LOG": logs.text(dead), "OUTPUT": pips.encode()}
    found = {name: tmp_path / f"文 {name}" for name in (*given, "FILE", "EMPTY")}
    for name, content in given.items():
        found[name].write_bytes(content)
    found["EMPTY"].mkdir()
    found["CLONE"] = upstream(tmp_path / "源 码")
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {name: str(path) for name, path in found.items()} | {"3.10": python}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_command_of_the_readme_in_its_order(
    tmp_path: Path, spare_home: Path, own: dict[str, str]
) -> None:
    for line in commands("README.md"):
        wheels = spare_home.glob("data/wheels/loopback/plugin/build/*.whl")
        filled = own | {"WHEEL": str(next(wheels, ""))}
        words = [filled.get(word, word) for word in shlex.split(line.removeprefix(ELSEWHERE))]
        more = ["--dry-run"] if line.startswith(ELSEWHERE) else NARROWED.get(line, [])
        result = subprocess.run(
            [*words, *more], cwd=_copied(tmp_path / "own") if line == LOCK else ROOT,
            env=variables(spare_home), capture_output=True, text=True, check=False,
            timeout=900, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        said = f"{line}\n{result.stdout}\n{result.stderr}"
        assert result.returncode == ENDS.get(line, 0), said
        assert "Traceback" not in result.stderr, line


@pytest.mark.slow
@pytest.mark.usefixtures("stack")  # its packages are in the cache
def test_a_folder_that_was_brought_along_needs_no_network(tmp_path: Path, spare_home: Path) -> None:
    needs(succeeds("unshare", "-n", "true"), "the right to leave the network")
    start = ["./paddock", "--version"]
    subprocess.run(start, cwd=ROOT, env=variables(spare_home), check=True, capture_output=True)
    box = tmp_path / "盒 box"
    shutil.copytree(spare_home / "cache" / "tool", box / "cache" / "tool", symlinks=True)
    (box / "cache" / "uv").symlink_to(package_cache())  # gigabytes
    result = subprocess.run(
        ["unshare", "-n", "./paddock", "provision", "--target", "loopback", "--offline",
         "--only", "env/python,framework/paddle"], cwd=ROOT, capture_output=True, text=True,
        env={k: v for k, v in variables(box).items() if k != "UV_CACHE_DIR"}, check=False,
        timeout=600, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    assert (box / "data/envs/loopback/bin/python").exists()


def _copied(folder: Path) -> Path:
    """The checkout as a copy: what resolves with the index of today writes into it, while other
    tests read the locks.
    """
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", folder], input=packed_clone(), check=True)
    return folder
