"""Rendering: a value is one word of a real shell, whatever is in it, and the same bytes always."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import jinja2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from provision.paths import TEMPLATES
from provision.render import Safe, environment, quote, render
from provision.steps import KINDS
from tests.conftest import ROOT
from tests.engine.templates import HOSTILE, STEPS, values

WORDS = st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))


def shell(script: str) -> bytes:
    """What /bin/sh prints for a script."""
    return subprocess.run(["/bin/sh", "-euc", script], capture_output=True, check=True).stdout


@settings(max_examples=60, deadline=None)
@given(WORDS)
@example(["", "'", '"', "\n", "$(touch x)", "`touch x`", "; rm -rf /", "家", "-n", "--", "\\", "*"])
def test_a_shell_reads_back_exactly_the_values(words: list[str]) -> None:
    template = environment().from_string('set -- {{ words }}\nprintf \'%s\\0\' "$#" "$@"')
    read = shell(template.render(words=words)).split(b"\0")[:-1]
    assert [part.decode() for part in read[1:]] == words
    assert int(read[0]) == len(words)


@pytest.mark.parametrize(
    "value", [None, True, False, {"a": 1}, b"x", object(), [None], ["a", True]]
)
def test_a_value_without_an_obvious_spelling_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        environment().from_string("{{ value }}").render(value=value)


@pytest.mark.parametrize("value", ["\0", "a\0b", ["a", "\0"], Path("a\0b")])
def test_nul_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="NUL"):
        environment().from_string("{{ value }}").render(value=value)


@pytest.mark.parametrize("name", [name for name in STEPS if name != "nothing.sh.j2"])
def test_an_undefined_name_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(jinja2.UndefinedError, match="is undefined"):
        render(f"steps/{name}", {})


def test_numbers_and_paths_have_a_spelling() -> None:
    assert quote([1, 2.5, Path("/a b"), "c"]) == "1 2.5 '/a b' c"
    assert quote(Safe("$HOME")) == "$HOME"


def checked(script: str, *command: str | Path) -> None:
    """This program finds nothing wrong with the script."""
    done = subprocess.run(
        command, input=script, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("manager", ["apt-get", "dnf"])
@pytest.mark.parametrize("name", STEPS)
def test_a_script_is_sound_shell_whatever_the_paths(name: str, manager: str) -> None:
    shellcheck = Path(sys.executable).with_name("shellcheck")
    about_literals = "--exclude=SC2016,SC2089,SC2090"  # "is `$(` in single quotes meant so?"
    one_line = Path(str(HOSTILE).replace("\n", ""))
    checked(render(f"steps/{name}", values(HOSTILE, manager)), "/bin/sh", "-n", "-")
    checked(render(f"steps/{name}", values(Path("/opt"), manager)), shellcheck, "--shell=sh", "-")
    script = render(f"steps/{name}", values(one_line, manager))
    checked(script, shellcheck, "--shell=sh", about_literals, "-")


@pytest.mark.parametrize("name", STEPS)
def test_no_template_prints_a_value_past_the_quoting(name: str) -> None:
    """No filter marks text as safe, no macro or other file hides one, no value is in quotes.

    A quoted value inside quotes of the template would end them.
    """
    source = (TEMPLATES / "steps" / name).read_text(encoding="utf-8")
    assert not re.search(
        r"\|\s*(safe|raw|string|join)|autoescape|{%-?\s*(raw|import|include(?! \"steps/))", source
    )
    assert "Safe" not in source
    for line in source.splitlines():
        for match in re.finditer(r"{{", line):
            before = line[: match.start()]
            assert before.count('"') % 2 == 0, line
            assert before.count("'") % 2 == 0, line


def test_only_rendering_itself_knows_how_to_mark_text_as_safe() -> None:
    users = [
        path
        for top in ("provision", "checks")
        for path in (ROOT / top).rglob("*.py")
        if re.search(r"\bSafe\(", path.read_text(encoding="utf-8"))
    ]
    assert users == [ROOT / "provision" / "render.py"]


def test_every_kind_of_step_has_its_template() -> None:
    assert {kind.template for kind in KINDS.values()} <= {f"steps/{name}" for name in STEPS}


def test_the_same_values_give_the_same_bytes_anywhere() -> None:
    code = (
        "from provision.render import render\n"
        "from tests.engine.templates import STEPS, values\n"
        "import sys\n"
        "for name in STEPS:\n"
        "    sys.stdout.buffer.write(render(f'steps/{name}', values()).encode())\n"
    )
    seen = set()
    for zone, locale, seed in (("UTC", "C", "0"), ("Asia/Shanghai", "zh_CN.UTF-8", "7")):
        more = {"TZ": zone, "LC_ALL": locale, "PYTHONHASHSEED": seed, "PADDOCK_LANG": locale[:2]}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=os.environ | more, check=True,
            capture_output=True,
        )  # fmt: skip
        seen.add(done.stdout)
    assert len(seen) == 1
    assert b"touch" in seen.pop()
