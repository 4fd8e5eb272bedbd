"""Names, versions, metadata, RECORD and tags of wheels that are not what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.wheels.subject import parsed
from tests.wheels import make
from tests.wheels.conftest import Auditor, cases

SOUND = {make.INIT: b"x = 1\n", "paddle_custom_device/more.py": b""}
INFO = "tiny-3.3.1.dist-info"


def test_a_sound_one_has_no_findings(tmp_path: Path, against: Auditor, alone: Auditor) -> None:
    path = make.sound(tmp_path, SOUND)
    assert cases(against(path)) == cases(alone(path)) == {}


def test_a_version_that_is_none_says_which_installers_take_it(
    tmp_path: Path, alone: Auditor
) -> None:
    path = make.sound(tmp_path, SOUND, "paddlenlp_ops", "0.0.0.c8ed610_3.1.0")
    made = alone(path)
    assert cases(made) == {"wheel-name": "error version"}
    told = {one.line.partition(":")[0]: one.line for one in made.findings[1].evidence}
    assert (
        " x " in told["uv"] and " x " in told["pip >= 24.1"] and " x " in told["setuptools >= 66"]
    )
    assert " + " in told["pip < 24.1"] and " + " in told["setuptools < 66"]


def test_names_that_are_not_of_one_wheel(tmp_path: Path, alone: Auditor) -> None:
    path = make.sound(tmp_path, SOUND)
    renamed = path.rename(tmp_path / f"tiny-3.3.0-{make.HERE}.whl")
    assert cases(alone(renamed)) == {
        "wheel-name": "error differ", "wheel-metadata": "error folder",
    }  # fmt: skip
    odd = renamed.rename(tmp_path / "plugin.whl")
    assert cases(alone(odd))["wheel-name"] == "error form"


def test_the_parts_of_a_name() -> None:
    name = parsed("paddlenlp_ops-0.0.0-1-py2.py3-none-manylinux1_x86_64.manylinux2014_x86_64.whl")
    assert name is not None
    assert (name.name, name.version) == ("paddlenlp_ops", "0.0.0")
    assert len(name.tags) == 4 and "py3-none-manylinux1_x86_64" in name.tags
    assert parsed("paddle-1.whl") is None
    assert parsed("tiny-1-py3-none-any (1).whl") is None  # as browsers call the second one
    upper = parsed("Tiny-1-Py3-None-Any.whl")
    assert upper is not None and upper.tags == ["py3-none-any"]


def test_the_tags_of_a_wheel_in_one_line(tmp_path: Path, alone: Auditor) -> None:
    tag = "py2.py3-none-any"
    assert cases(alone(make.sound(tmp_path, SOUND, tag=tag))) == {}
    other = {f"{INFO}/WHEEL": f"Wheel-Version: 1.0\nTag: {'a.' * 9999}a-{'b.' * 9999}b-any\n"}

    def lie(files: dict[str, bytes]) -> None:
        files |= {name: text.encode() for name, text in other.items()}

    found = cases(alone(make.sound(tmp_path, SOUND, tag=tag, change=lie)))
    assert found["wheel-metadata"] == "warning tags"


@pytest.mark.parametrize("lost", ["METADATA", "WHEEL", "RECORD"])
def test_metadata_that_is_missing(tmp_path: Path, alone: Auditor, lost: str) -> None:
    path = make.sound(tmp_path, SOUND, change=lambda files: files.__delitem__(f"{INFO}/{lost}"))
    assert cases(alone(path))["wheel-metadata"] == "error missing"


def _other_tag(files: dict[str, bytes]) -> None:
    files[f"{INFO}/WHEEL"] = files[f"{INFO}/WHEEL"].replace(b"linux_x86_64", b"linux_aarch64")


def _later(files: dict[str, bytes]) -> None:
    files[f"{INFO}/WHEEL"] = b"Wheel-Version: 2.0\n"


def _second(files: dict[str, bytes]) -> None:
    files["tiny-3.3.0.dist-info/METADATA"] = b""


@pytest.mark.parametrize(
    ("change", "said"),
    [(_other_tag, "warning tags"), (_later, "error format"), (_second, "error several")],
)
def test_metadata_that_contradicts(
    tmp_path: Path, alone: Auditor, change: make.Change, said: str
) -> None:
    assert cases(alone(make.sound(tmp_path, SOUND, change=change)))["wheel-metadata"] == said


def _changed(files: dict[str, bytes]) -> None:
    files[make.INIT] = b"x = 2\n"


def _more(files: dict[str, bytes]) -> None:
    files["paddle_custom_device/backdoor.py"] = b""


def _fewer(files: dict[str, bytes]) -> None:
    del files["paddle_custom_device/more.py"]


def _weaker(files: dict[str, bytes]) -> None:
    rows = files[f"{INFO}/RECORD"].decode().splitlines()
    rows[0] = f"{make.INIT},md5=abc,6"
    files[f"{INFO}/RECORD"] = "\n".join(rows).encode()


def _twice(row: str) -> make.Change:
    def change(files: dict[str, bytes]) -> None:
        files[f"{INFO}/RECORD"] = f"{row}\n".encode() + files[f"{INFO}/RECORD"]

    return change


def test_a_file_that_is_listed_more_than_once(tmp_path: Path, alone: Auditor) -> None:
    other = f"{make.INIT},{make.digest(b'x = 2')},5"
    path = make.sound(tmp_path, SOUND, change=_twice(other))
    assert cases(alone(path)) == {"wheel-record": "error twice"}
    own = f"{make.INIT},{make.digest(SOUND[make.INIT])},{len(SOUND[make.INIT])}"
    path = make.sound(tmp_path, SOUND, change=_twice(own))
    assert cases(alone(path)) == {"wheel-record": "warning again"}


@pytest.mark.parametrize("more", [{}, {"paddle_custom_device/npu/libhelper.so": b"no library"}])
def test_a_plugin_that_brings_no_library(
    tmp_path: Path, alone: Auditor, more: dict[str, bytes]
) -> None:
    path = make.sound(tmp_path, {**SOUND, **more}, "paddle_custom_npu")
    made = alone(path)
    assert cases(made) == {"wheel-libraries": "error none"}
    assert "paddle_custom_npu" in next(f for f in made.findings if f.case == "none").part("what")


@pytest.mark.parametrize(
    ("change", "case"),
    [(_changed, "changed"), (_more, "unlisted"), (_fewer, "gone"), (_weaker, "weak")],
)
def test_files_that_are_not_as_listed(
    tmp_path: Path, alone: Auditor, change: make.Change, case: str
) -> None:
    path = make.sound(tmp_path, SOUND, change=change)
    assert cases(alone(path)) == {"wheel-record": f"error {case}"}


@pytest.mark.parametrize(
    ("tag", "case"),
    [
        ("cp27-cp27mu-linux_x86_64", "python"),
        ("cp39-cp39-linux_x86_64", "python"),
        (f"{make.TAG}-{make.TAG}-linux_aarch64", "arch"),
        (f"{make.TAG}-{make.TAG}-win_amd64", "system"),
        (f"{make.TAG}-{make.TAG}-macosx_11_0_arm64", "system"),
        (f"{make.TAG}-{make.TAG}-manylinux_2_99_x86_64", "libc"),
        (f"{make.TAG}-{make.TAG}-musllinux_1_2_x86_64", "musl"),
    ],
)
def test_tags_of_another_place(
    tmp_path: Path, against: Auditor, alone: Auditor, tag: str, case: str
) -> None:
    path = make.sound(tmp_path, SOUND, tag=tag)
    assert cases(against(path)) == {"wheel-tag": f"error {case}"}
    # The Python that runs the tool need not be the one of the stack.
    state = "unknown" if case == "python" else "error"
    assert cases(alone(path)) == {"wheel-tag": f"{state} {case}"}


@pytest.mark.parametrize(
    "tag", ["py3-none-any", "cp37-abi3-manylinux2014_x86_64", "py2.py3-none-any"]
)
def test_tags_that_fit(tmp_path: Path, alone: Auditor, tag: str) -> None:
    found = cases(alone(make.sound(tmp_path, SOUND, tag=tag)))
    assert found == {}


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ("Requires-Python: <3.8\n", "error python"),
        ("Requires-Dist: paddlepaddle==2.6.2\n", "warning packages"),
        ("Requires-Dist: numpy>=1\n", "warning packages"),
        ("Requires-Dist: numpy\n", "warning packages"),
        ("Requires-Dist: paddlepaddle (>=3\n", "error form"),
        ('Requires-Dist: numpy; python_version ~= "abc"\n', "error form"),
        ("Requires-Python: >=3.8\nRequires-Dist: paddlepaddle>=3\n", None),
        ('Requires-Dist: numpy; extra == "more"\n', None),
    ],
)
def test_what_it_requires(
    tmp_path: Path, against: Auditor, metadata: str, said: str | None
) -> None:
    found = cases(against(make.sound(tmp_path, SOUND, metadata=metadata)))
    assert found.get("wheel-requires") == said


def test_a_plugin_without_a_version(tmp_path: Path, alone: Auditor) -> None:
    held = {**SOUND, make.LIBRARY: b"no library"}
    found = cases(alone(make.sound(tmp_path, held, version="0.0.0")))
    assert found["wheel-name"] == "warning unset"
    assert "wheel-name" not in cases(alone(make.sound(tmp_path, SOUND, version="0.0.0")))
