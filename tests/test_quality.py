"""The rules of the house that a tool can check."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from provision.paths import targets
from provision.stack import load, stack_file
from tests.conftest import ROOT

PYTHON = [p for top in ("provision", "checks") for p in sorted((ROOT / top).rglob("*.py"))]
LAB = [ROOT / "tests/lab" / f"{name}.py" for name in ("__main__", "kept", "ready", "rehearsal")]
CALLERS = [*PYTHON, ROOT / "tasks.py", *sorted((ROOT / "bench").rglob("*.py")), *LAB]


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        pytest.param(["mypy"], marks=pytest.mark.slow),
        ["lint-imports"],
    ],
    ids=" ".join,
)
def test_tool_is_clean(command: list[str]) -> None:
    program = Path(sys.executable).with_name(command[0])
    result = subprocess.run(
        [program, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("folder", ["checks/smoke/probes", "tests/loopback/probes"])
def test_probe_scripts_are_typed(folder: str) -> None:
    files = sorted(path.name for path in (ROOT / folder).glob("*.py"))
    program = Path(sys.executable).with_name("mypy")
    kept = ROOT / ".mypy_cache" / folder  # not among the sources, which other tests copy
    given = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(kept)]
    command = [str(program), *given, *files]
    result = subprocess.run(command, cwd=ROOT / folder, capture_output=True, text=True, check=False)
    assert files
    assert result.returncode == 0, result.stdout


def test_every_text_has_both_languages_and_the_same_placeholders() -> None:
    words = json.loads((ROOT / "templates" / "words.json").read_text(encoding="utf-8"))
    for key, texts in words.items():
        assert set(texts) == {"en", "zh"}, key
        fields = [set(re.findall(r"{(\w+)}", texts[language])) for language in ("en", "zh")]
        assert fields[0] == fields[1], key
        assert all(texts.values()), key


def _literal_keys(path: Path) -> set[str]:
    """The keys that a module looks up by a literal: `text("key")`, `PaddockError("code")`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            key = node.args[0].value
            if name == "text":
                found.add(str(key))
            if name in ("PaddockError", "unknown_name"):
                found |= {f"error.{key!s}.{part}" for part in ("what", "cause", "do")}
    return found


def test_every_text_that_the_code_asks_for_is_in_the_catalogue() -> None:
    words = json.loads((ROOT / "templates" / "words.json").read_text(encoding="utf-8"))
    wanted = set().union(*(_literal_keys(path) for path in PYTHON))
    assert wanted, "no text is looked up by a literal: this test reads the code wrongly"
    assert not sorted(wanted - set(words))


def test_every_error_has_a_status_and_three_sentences() -> None:
    from provision.errors import STATUS
    from provision.words import catalogue

    parts = {f"error.{code}.{part}" for code in STATUS for part in ("what", "cause", "do")}
    assert not sorted(parts - set(catalogue()))


def _nodes(paths: list[Path]) -> list[ast.AST]:
    return [n for path in paths for n in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def _stem(node: ast.JoinedStr) -> str:
    """What an f-string begins with, up to its last dot: `check.` of f"check.{id}.title"."""
    first = node.values[0] if node.values else None
    start = str(first.value) if isinstance(first, ast.Constant) else ""
    return "".join(re.findall(r"\A[a-z][a-z.-]*\.", start))


def _quoted() -> set[str]:
    """What the templates quote: the keys of texts, and what such keys begin with."""
    files = sorted((ROOT / "templates").rglob("*.j2"))
    texts = (path.read_text(encoding="utf-8") for path in files)
    return {word for text in texts for word in re.findall(r"'([a-z][a-z.-]*)'", text)}


def _told() -> set[str]:
    """What the stacks tell of their releases: defects, why one has no lock, why one is usual."""
    stacks = [load(stack_file(target)) for target in targets()]
    releases = [release for its in stacks for release in its.releases.values()]
    words = {one for release in releases for one in (*release.defects, release.unlocked)}
    return {one for one in (*words, *(its.default_because for its in stacks)) if one}


def test_every_text_is_asked_for() -> None:
    """By its literal key, or by a known stem and parts that are words of the code.

    Such a part is a string (a case, a code), the name of a task or of a flag, or one of the data.
    """
    nodes = _nodes(CALLERS)
    literal = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    tasks = {n.name.replace("_", "-") for n in nodes if isinstance(n, ast.FunctionDef)}
    parts = literal | tasks | {n.arg.strip("_") for n in nodes if isinstance(n, ast.arg)}
    parts |= _told() | _quoted()
    literal |= _quoted()
    stems = {stem for n in nodes if isinstance(n, ast.JoinedStr) and (stem := _stem(n))}
    stems |= {word for word in _quoted() if word.endswith(".")}
    assert {"check.", "error.", "flag.", "task."} <= stems
    words = json.loads((ROOT / "templates" / "words.json").read_text(encoding="utf-8"))
    unused = [
        key
        for key in words
        if key not in literal
        and not any(key.startswith(s) and set(key[len(s) :].split(".")) <= parts for s in stems)
    ]
    assert not unused


# By Invoke, by io.BufferedReader, and by html.parser.
CALLED_ELSEWHERE = {
    "print_help", "print_task_help", "display_with_columns", "binary_names",
    "readinto", "handle_starttag",
}  # fmt: skip


def test_everything_is_used() -> None:
    """By its bare name: a namesake that is used hides one that is not."""
    own = _nodes(PYTHON)
    nodes = [*own, *_nodes([path for path in CALLERS if path not in PYTHON])]
    used = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    used |= {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    made = {n.name for n in own if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    unused = made - used - CALLED_ELSEWHERE
    assert not sorted(name for name in unused if not name.startswith("__"))


def test_modules_are_short() -> None:
    lengths = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in PYTHON}
    assert not {str(path): count for path, count in lengths.items() if count > 250}
