"""The task `read`: encodings, several files, tables and JSON, exit statuses, both languages."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest

from provision.facts.texts.section import decode
from provision.several import gather, split
from tests.conftest import Cli
from tests.read import samples
from tests.read.samples import EXPECTED, SAMPLES


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode(),
        lambda text: codecs.BOM_UTF8 + text.encode(),
        lambda text: text.encode("gb18030"),
        lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
        lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
        lambda text: text.encode("utf-16-le"),
        lambda text: text.encode("utf-16-be"),
    ],
    ids=[
        "utf-8",
        "utf-8 mark",
        "gbk",
        "utf-16-le mark",
        "utf-16-be mark",
        "utf-16-le",
        "utf-16-be",
    ],
)
@pytest.mark.parametrize("name", ["efsmi", "dpkg"])
def test_encodings(name: str, encode: object) -> None:
    assert callable(encode)
    assert decode(encode(SAMPLES[name][1])) == SAMPLES[name][1]


@pytest.mark.parametrize(
    "data", [b"\x7fELF\x02\x01\0\0\0\0\0\0", b"\0" * 100, bytes(range(256)) * 4]
)
def test_binary_is_no_text(data: bytes) -> None:
    assert decode(data) is None


def test_a_last_character_that_was_cut_changes_nothing_before_it() -> None:
    assert decode("温度 45℃".encode()[:-1]) == "温度 45"


def test_colours_line_ends_and_overwritten_lines() -> None:
    from provision.facts.texts.reading import read

    plain = SAMPLES["910B3"][1]
    coloured = plain.replace("OK", "\x1b[1;32mOK\x1b[0m").replace("\n", "\r\n")
    assert read(coloured) == read(plain)
    assert read(plain.replace("\n", "\r")) == read(plain)
    recorded = decode(b"\0Script started\n" + coloured.encode())
    assert recorded is not None
    assert read(recorded) == read(plain)
    assert read("downloading 10%\rdownloading 90%\r" + plain) == read(plain)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["read", "a", "--json", "b"], ["read", "a\0b", "--json"]),
        (["read", "-"], ["read", "-"]),
        (["read", "a", "-h", "b"], ["--help", "read"]),
        (["read", "--", "-h"], ["read", "\0-h"]),
        (["read", "--", "-x", "--json"], ["read", "\0-x\0--json"]),
        (["read"], ["read", ""]),
        (["--help", "read"], ["--help", "read"]),
        (["smoke", "--level", "ops"], ["smoke", "--level", "ops"]),
        ([], []),
    ],
)
def test_many_files_become_one_argument(words: list[str], expected: list[str]) -> None:
    assert gather(["paddock", *words]) == ["paddock", *expected]
    assert split("a\0b") == ["a", "b"]
    assert split("") == []


def test_one_file_as_a_table_and_as_json(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "文 npu.txt"
    file.write_text(SAMPLES["first 910B"][1], encoding="utf-8")
    table = cli("read", str(file))
    assert table.returncode == 0, table.stderr
    assert "driver_version  25.3.0" in table.stdout
    row = next(line for line in table.stdout.splitlines() if "0000:3A:00.0" in line)
    assert row.split()[:7] == ["2", "910B", "OK", "68.1", "35", "Ascend", "910"]
    value = json.loads(cli("read", str(file), "--json").stdout)
    assert (value["schema"], value["file"], value["kind"]) == (
        "paddock/read/1",
        str(file),
        "npu-smi info",
    )


def test_several_files_of_which_one_is_bad_and_one_unknown(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(samples.LSPCI_N)
    (tmp_path / "b").write_text("nothing known\n")
    names = [str(tmp_path / name) for name in ("a", "b", "missing")]
    result = cli("read", "--json", *names)
    values = json.loads(result.stdout)
    assert [value.get("kind") for value in values] == ["lspci", None, None]
    assert (values[2]["schema"], values[2]["code"], result.returncode) == (
        "paddock/error/1",
        "bad-file",
        2,
    )
    assert "missing" in result.stderr
    assert cli("read", *names[:2]).returncode == 12


@pytest.mark.slow
@pytest.mark.parametrize("content", [None, b"\x7fELF\0\0\0\1", b"x" * (8 * 1024 * 1024 + 1)])
def test_bad_files(cli: Cli, tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "file"
    file.mkdir() if content is None else file.write_bytes(content)
    result = cli("read", str(file))
    assert result.returncode == 2
    assert str(file) in result.stderr
    assert "Traceback" not in result.stderr


def test_an_empty_file_is_unknown(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    result = cli("read", str(tmp_path / "empty"))
    assert (result.returncode, "empty" in result.stdout) == (12, True)


def test_no_file_and_standard_input(cli: Cli) -> None:
    assert cli("read").returncode == 2
    assert cli("read", "-").returncode == 12  # the tests give no input


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", SAMPLES)
def test_every_kind_has_a_table(
    name: str, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    from checks.saved import show_files

    monkeypatch.setenv("PADDOCK_LANG", language)
    (tmp_path / "file").write_text(SAMPLES[name][1], encoding="utf-8")
    assert show_files(str(tmp_path / "file"), json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert SAMPLES[name][0] in lines[0]
    says_more = set(EXPECTED.get(name, {"kind", "values"})) - {"kind", "nodes", "details"}
    assert len(lines) > 1 or not says_more
    assert not any("None" in line or "{" in line for line in lines)
