"""Both READMEs show the same commands, and every command that they show works as shown."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT, variables
from tests.lab.machine import packed_clone

COMMAND = re.compile(r"^    (\./paddock .*?)(?: {3,}.*)?$", re.MULTILINE)
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


LOCK = "./paddock lock"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_command_of_the_readme_in_its_order(tmp_path: Path, spare_home: Path) -> None:
    text = tmp_path / "文 text.txt"
    text.write_text(TEXT, encoding="utf-8")
    own = tmp_path / "own"
    for line in commands("README.md"):
        words = [str(text) if word == "FILE" else word for word in shlex.split(line)]
        result = subprocess.run(
            [*words, *NARROWED.get(line, [])], cwd=_copied(own) if line == LOCK else ROOT,
            env=variables(spare_home), capture_output=True, text=True, check=False,
            timeout=900, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert result.returncode == 0, f"{line}\n{result.stdout}\n{result.stderr}"
        assert "Traceback" not in result.stderr, line


def _copied(folder: Path) -> Path:
    """The checkout as a copy: what resolves with the index of today writes into it, while other
    tests read the locks.
    """
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", folder], input=packed_clone(), check=True)
    return folder
