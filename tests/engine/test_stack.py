"""Stack files that are wrong: each is refused by field, class and three sentences."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker

from provision.errors import STACK, PaddockError
from provision.lock import _blocks, _marker
from provision.paths import targets
from provision.stack import load
from provision.stack import stack_file as file_of
from tests.engine.world import SMALL, World

GOOD = (SMALL / "stack.toml").read_text(encoding="utf-8")


def refusal(path: Path) -> PaddockError:
    """The error of reading this file; checked to have all its sentences."""
    with pytest.raises(PaddockError) as caught:
        load(path)
    parts = [caught.value.part(name) for name in ("what", "cause", "do")]
    assert all(parts)
    assert not any(re.search(r"{\w+}", part) for part in parts)
    assert caught.value.status == STACK
    return caught.value


@pytest.fixture
def refused(tmp_path: Path) -> Callable[[str, str], PaddockError]:
    """The error of the small stack with one text replaced by another."""

    def read(old: str, new: str) -> PaddockError:
        assert old in GOOD
        (tmp_path / "stack.toml").write_text(GOOD.replace(old, new, 1), encoding="utf-8")
        return refusal(tmp_path / "stack.toml")

    return read


def test_the_stacks_that_we_ship_and_the_one_of_the_tests_are_good() -> None:
    assert load(SMALL / "stack.toml").release(None) == "1"
    assert targets()
    for target in targets():
        assert load(file_of(target)).target == target


@pytest.mark.parametrize(
    ("old", "new", "field", "nearest"),
    [
        ("default_release", "defalut_release", "$.defalut_release", "default_release"),
        ('needs = ["env/alpha"]', 'need = ["env/alpha"]', "$.steps[3].need", "needs"),
        ("paddlenlp = [", "paddelnlp = [", "$.releases.1.paddelnlp", "paddlenlp"),
        ("device =", "zzz =", "$.zzz", ""),
    ],
)
def test_a_typing_error_is_named_by_its_path_and_the_nearest_name(
    refused: Callable[[str, str], PaddockError], old: str, new: str, field: str, nearest: str
) -> None:
    error = refused(old, new)
    assert (error.code, error.values["field"]) == ("stack-field", field)
    assert nearest in error.part("cause")


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("schema = 1", "schema = 2", "$.schema"),
        ("schema = 1", 'schema = "1"', "$.schema"),
        ("data = []", "data = 1", "$.data"),
        ('needs = ["env/python"]', 'needs = "env/python"', "$.steps[1].needs"),
        ('kind = "venv"', 'kind = "vent"', "$.steps[0].kind"),
        ('lock = "framework"', 'lock = "freamwork"', "$.steps[1].lock"),
        ('target = "small"\n', "", "$"),
        ('">=3.10"', '""', "$.python"),
        ('">=3.10"', '"3..10"', "$.python"),
        ('">=3.10"', '">=3.*"', "$.python"),
        ('default_release = "1"', 'default_release = "2"', "$.default_release"),
        ('"paddlepaddle==1.0"', '"paddlepaddle>=1.0"', "$.releases.1.framework"),
        ('needs = ["env/alpha"]', 'needs = ["env/alpho"]', "$.steps.lib/build"),
        ('needs = ["env/alpha"]', 'needs = ["lib/install"]', "$.steps.lib/build"),
        ('needs = ["env/alpha"]', 'needs = ["lib/build"]', "$.steps.lib/build"),
        ('name = "env/beta"', 'name = "env/alpha"', "$.steps.env/alpha"),
        ('lock = "framework"\n', "", "$.steps.env/alpha"),
        ('source = "source"\n', "", "$.steps.lib/build"),
        ('wheels = ["lib/build"]\n', "", "$.steps.lib/install"),
        ('wheels = ["lib/build"]', 'wheels = ["env/beta"]', "$.steps.lib/install"),
        ('needs = ["lib/build"]', 'needs = ["env/beta"]', "$.steps.lib/install"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_by_its_path(
    refused: Callable[[str, str], PaddockError], old: str, new: str, field: str
) -> None:
    error = refused(old, new)
    assert (error.code, error.values["field"]) == ("stack-type", field)


HOSTILE = ["; rm -rf /", "a\\nb", "a\\n", "$(touch x)", "`touch x`", "家", "-rf", "--yes", "../x",
           "a b", "'", '\\"', "&&", "a|b", "", "\\u0000"]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize(
    "place",
    ['target = "small"', 'device = "small"', 'name = "env/beta"', 'source = "source"',
     '"alpha==1.0"', 'python = ">=3.10"'],
)  # fmt: skip
def test_a_hostile_value_is_refused_when_the_file_is_read(
    refused: Callable[[str, str], PaddockError], place: str, value: str
) -> None:
    start, _, _ = place.rpartition('"')[0].rpartition('"')
    assert refused(place, f'{start}"{value}"').code == "stack-type"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_whatever_passes_as_a_name_is_a_plain_word(value: str) -> None:
    from provision.stack import Name, Requirement, Specifier, StepName

    for kind, plain in (
        (Name, r"[a-z0-9_-]+"), (StepName, r"[a-z0-9/_-]+"), (Specifier, r"[0-9.,<>=!~*]+"),
        (Requirement, r"[A-Za-z0-9._,<>=!~*+\[\]-]+"),
    ):  # fmt: skip
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            continue
        assert re.fullmatch(plain, value)
        assert not value.startswith("-")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes("schema = 1 # é\n".encode("latin-1"))
    (tmp_path / "broken").write_text("schema = [")
    (tmp_path / "empty").write_text("")
    assert refusal(tmp_path / "none.toml").code == "stack-missing"
    assert refusal(tmp_path).code == "stack-missing"
    assert refusal(tmp_path / "latin").code == "stack-syntax"
    assert refusal(tmp_path / "broken").code == "stack-syntax"
    assert refusal(tmp_path / "empty").code == "stack-type"


def test_a_refusal_on_the_command_line_has_three_lines_and_status_3(world: World) -> None:
    world.edit('needs = ["env/alpha"]', 'neds = ["env/alpha"]')
    done = world.run("--dry-run")
    assert done.returncode == STACK
    assert len(done.stderr.splitlines()) == 3
    assert "$.steps[3].neds" in done.stderr
    assert not world.home.exists()


def test_a_lock_or_a_source_that_is_not_there(world: World) -> None:
    (world.stack.parent / "source" / "pyproject.toml").unlink()
    done = world.run()
    assert (done.returncode, "lib/build" in done.stderr) == (STACK, True)
    (world.stack.parent / "locks" / "1" / "framework.txt").unlink()
    done = world.run()
    assert (done.returncode, "framework.txt" in done.stderr) == (STACK, True)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("python", "inside", "outside"),
    [(">=3.10,<3.13", ["3.10", "3.12"], ["3.9", "3.13"]), ("==3.11", ["3.11"], ["3.10", "3.12"])],
)
def test_a_lock_is_for_the_pythons_of_its_release(
    python: str, inside: list[str], outside: list[str]
) -> None:
    marker = Marker(_marker(python))
    here = {"sys_platform": "linux"}
    assert all(marker.evaluate({**here, "python_version": version}) for version in inside)
    assert not any(marker.evaluate({**here, "python_version": version}) for version in outside)
    assert not marker.evaluate({"sys_platform": "win32", "python_version": inside[0]})


LINE = st.from_regex(
    r"[a-z][a-z0-9-]{0,8}==[0-9]\.[0-9]( ; python_full_version < '3\.1[0-9]')?", fullmatch=True
)
HASHES = st.lists(st.from_regex(r"[0-9a-f]{4}", fullmatch=True), min_size=1, max_size=3)


@given(st.lists(st.tuples(LINE, HASHES), max_size=5, unique_by=lambda item: item[0]))
def test_a_lock_splits_into_its_requirements_and_back(items: list[tuple[str, list[str]]]) -> None:
    blocks = [
        " \\\n".join([line, *(f"    --hash=sha256:{digest}" for digest in hashes)]) + "\n"
        for line, hashes in items
    ]
    found = list(_blocks("".join(blocks)))
    assert [name for name, _ in found] == [line for line, _ in items]
    assert [block for _, block in found] == blocks


@pytest.mark.parametrize(
    ("target", "old", "new", "reason"),
    [
        ("s60", 'kind = "debs"\npackage = "tops"\n', 'kind = "debs"\n', "needs `package`"),
        ("s60", 'kind = "debs"\npackage = "tops"\n', 'kind = "debs"\npackage = "x"\n', "`x`"),
        ("s60", 'remove = ["--driver", "--uninstall", "-y"]\n', "", "`driver` has no `remove`"),
        ("s60", 'pin = "plugin"\n', 'pin = "plugins"\n', "does not pin `plugins`"),
    ],
)
def test_a_step_of_a_vendor_has_all_that_it_needs(
    tmp_path: Path, target: str, old: str, new: str, reason: str
) -> None:
    text = file_of(target).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "stack.toml").write_text(text.replace(old, new), encoding="utf-8")
    assert reason in str(refusal(tmp_path / "stack.toml"))
