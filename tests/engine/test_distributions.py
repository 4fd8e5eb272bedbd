"""Which lines of a lock count for a Python, and what counts as installed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker
from packaging.requirements import Requirement

from provision.distributions import installed, normal, pins, wheel_name
from provision.errors import PaddockError
from provision.paths import IMAGES

NAMES = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,8}[A-Za-z0-9])?", fullmatch=True)
VERSIONS = st.from_regex(r"[0-9]{1,2}(\.[0-9]{1,2}){0,2}(a1|rc2|\.post1|\+cpu)?", fullmatch=True)
MARKERS = st.sampled_from(
    [
        "", "sys_platform == 'linux'", "sys_platform == 'win32'",
        "python_full_version < '3.12' and sys_platform == 'linux'",
        "python_full_version >= '3.12'", "python_version == '3.11'",
        "(python_full_version < '3.11' and sys_platform == 'linux') or python_version > '3.12'",
    ]
)  # fmt: skip
LINES = st.lists(st.tuples(NAMES, VERSIONS, MARKERS), max_size=6)
PYTHONS = st.sampled_from(["3.10", "3.11", "3.12", "3.13"])


def environment(python: str) -> dict[str, str]:
    return {"python_version": python, "python_full_version": f"{python}.0"}


@given(LINES, PYTHONS)
def test_pins_are_the_lines_whose_marker_holds(
    lines: list[tuple[str, str, str]], python: str
) -> None:
    text = "# a comment\n--index-url https://index.test/simple\n"
    for name, version, marker in lines:
        text += f"{name}=={version}" + (f" ; {marker}" if marker else "")
        text += " \\\n    --hash=sha256:00 \\\n    --hash=sha256:11  # why\n"
    assert pins(text, f"{python}.0") == {
        normal(name): version
        for name, version, marker in lines
        if not marker or Marker(marker).evaluate(environment(python))
    }


@pytest.mark.parametrize(
    "lock", sorted(IMAGES.glob("*/locks/*/*.txt")), ids=lambda p: "-".join(p.parts[-3:])
)
def test_our_locks_are_read_as_packaging_reads_them(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    wanted = []
    for line in text.replace("\\\n", " ").splitlines():
        requirement = Requirement(line.partition(" --hash")[0])
        assert "--hash=sha256:" in line
        if requirement.marker is None or requirement.marker.evaluate(environment("3.10")):
            wanted.append((requirement.name, str(requirement.specifier).removeprefix("==")))
    assert list(pins(text, "3.10.0").items()) == wanted
    assert wanted


@given(NAMES, VERSIONS)
def test_an_installed_distribution_is_found_whatever_its_spelling(name: str, version: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        written = normal(name).replace("-", "_")
        info = Path(folder) / f"{written}-{version}.dist-info"
        info.mkdir()
        assert installed(Path(folder)) == {}
        (info / "METADATA").touch()
        assert installed(Path(folder)) == {(normal(name), version): info}


def test_a_wheels_name_is_taken_apart_by_the_grammar_of_such_names() -> None:
    file = "Paddle_Custom.NPU-3.0.0_b2+g1_2-1-py2.py3-none-any.whl"
    tags = "py2-none-any.py3-none-any"
    assert wheel_name(file) == ("paddle-custom-npu", "3.0.0_b2+g1_2", tags)
    for odd in ("paddle-3.0.whl", "paddle-x-py3-none-any.whl", "paddle-3.0-py3-none-any.zip"):
        with pytest.raises(PaddockError) as error:
            wheel_name(odd)
        assert error.value.code == "bad-wheel" and odd.partition(".")[0] in str(error.value)
