"""A vendor's scripts are sourced for the tests, and one that breaks off is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.smoke.sourced import sourced
from provision.errors import PaddockError


def script(folder: Path, text: str, name: str = "set env.sh") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_what_the_scripts_set_is_added(tmp_path: Path) -> None:
    first = script(tmp_path, "export A=1 PATH=/own:$PATH\necho noise\nfalse\n")
    second = script(tmp_path, 'export B="$A 2\nthree" D=值\n', "second.sh")
    found = sourced({"PATH": "/usr/bin:/bin", "C": "4"}, [first, second, str(tmp_path / "none")])
    assert found["PATH"] == "/own:/usr/bin:/bin"
    assert (found["A"], found["B"], found["C"], found["D"]) == ("1", "1 2\nthree", "4", "值")


def test_without_scripts_nothing_changes(tmp_path: Path) -> None:
    assert sourced({"A": "1"}, []) == {"A": "1"}
    assert sourced({"A": "1"}, [str(tmp_path / "none")]) == {"A": "1"}


@pytest.mark.parametrize("text", ["echo wrong >&2; exit 0\n", "echo wrong >&2; exit 3\n"])
def test_a_script_that_ends_the_shell_is_named(tmp_path: Path, text: str) -> None:
    file = script(tmp_path, text)
    with pytest.raises(PaddockError) as failure:
        sourced({"PATH": "/usr/bin:/bin"}, [file])
    assert failure.value.code == "settings-failed"
    assert file in str(failure.value)
    assert failure.value.details == ("wrong",)
