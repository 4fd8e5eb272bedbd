"""Lines of training data that cannot be used, each by its number and reason."""

from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from checks.training_data import file as data_file
from checks.training_data.command import data
from checks.training_data.file import LONGEST, examine
from checks.training_data.line import fault_of
from provision.errors import PaddockError
from tests.conftest import Cli

GOOD = json.dumps(
    {"src": "类型#裙*颜色#蓝", "tgt": "裙身点缀蝴蝶结。"}, ensure_ascii=False
).encode()


def found(folder: Path, content: bytes) -> list[tuple[int, str]]:
    path = folder / "train.json"
    path.write_bytes(content)
    return [(one.line, one.fault) for one in examine(path).faults]


@pytest.mark.parametrize("line", [
    GOOD, b'{"src": ["a", "b"], "tgt": ["c", "d"]}', b'{"src": "a", "tgt": ["b"]}',
    b'{"src": "", "tgt": "x", "context": {"src": "other", "tgt": 1}}',
    b'  {"tgt": "\\u4e2d\\ud83d\\ude00", "\\u0073rc": "x", "src2": 1}  ',
    b'{"src":"a","tgt":"\\u0000"}', b'\xc2\xa0{"src":"a","tgt":"b"}\xe3\x80\x80\x0b',
    b'{"src":"' + b"1" * 5000 + b'","tgt":"b","n":NaN}',
])  # fmt: skip
def test_what_can_be_used(line: bytes) -> None:
    assert fault_of(line) is None


@pytest.mark.parametrize(("line", "fault"), [
    (b"", "blank"), (b" \t", "blank"), (b"\xc2\xa0", "blank"),
    (b'{"src": "a", "tgt": "b", "n": ' + b"1" * 4301 + b"}", "json"),
    (b'{"src": "a", "tgt": "b", "n": "\xff"}', "not-utf8"),
    (b"{", "json"), (b'{"src": "a" "tgt": "b"}', "json"),
    (b'{"src": "a", "tgt": "b"} {}', "json"), (b'{"src": "a", "tgt": "b\t"}', "json"),
    (b'{"src": "a", "tgt": "b"', "json"), (b"\0\0", "json"), (b"[" * 100_000, "json"),
    (b"[1]", "array"), (b"1", "no-object"), (b'"src"', "no-object"), (b"{}", "missing"),
    (b'{"src": "a"}', "missing"), (b'{"instruction": "a", "output": "b"}', "missing"),
    (b'{"src": "a", "src": "b", "tgt": "c"}', "twice"),
    (b'{"src": "a", "s\\u0072c": "b", "tgt": "c"}', "twice"),
    (b'{"src": 1, "tgt": "b"}', "type"), (b'{"src": null, "tgt": "b"}', "type"),
    (b'{"src": ["a", 1], "tgt": ["b", "c"]}', "type"), (b'{"src": {"a": 1}, "tgt": "b"}', "type"),
    (b'{"src": {}, "tgt": "b"}', "type"),
    (b'{"src": ["a"], "tgt": ["b", "c"]}', "turns"), (b'{"src": ["a", "b"], "tgt": "c"}', "turns"),
    (b'{"src": [], "tgt": []}', "no-turns"), (b'{"src": "a", "tgt": ""}', "empty"),
    (b'{"src": "\\ud83d", "tgt": "a"}', "surrogate"),
    (GOOD.decode().encode("gbk"), "gbk"), (b'{"src": "\xff\xff", "tgt": "b"}', "not-utf8"),
    (GOOD[:-6] + b'"}', "not-utf8"), (b'{"src": "\xe4\xb8", "tgt": "\xe4\xb8"}', "gbk"),
])  # fmt: skip
def test_what_cannot(line: bytes, fault: str) -> None:
    seen = fault_of(line)
    assert seen is not None
    assert seen.name == fault
    assert seen.broken == (fault != "empty")


def test_lines_are_counted_from_one_and_a_last_line_end_is_no_line(tmp_path: Path) -> None:
    assert found(tmp_path, GOOD + b"\r\n" + GOOD + b"\n") == []
    broken = [GOOD, b"", GOOD, b"{", b'{"src": "a"}', GOOD]
    assert found(tmp_path, b"\n".join(broken)) == [(2, "blank"), (4, "json"), (5, "missing")]


def test_a_line_ends_where_python_ends_it(tmp_path: Path) -> None:
    """At a lone carriage return, too; inside of an object that tears it apart."""
    torn = b'{"src":"a",\r"tgt":"b"}\n'
    assert found(tmp_path, GOOD + b"\n" + torn) == [(2, "json"), (3, "json")]
    assert found(tmp_path, GOOD + b"\r" + GOOD + b"\r{\r") == [(3, "json")]
    seen = examine(tmp_path / "train.json")
    assert (seen.bytes, seen.lines, seen.longest) == (2 * len(GOOD) + 4, 3, len(GOOD))
    other = '{"src": "a\u2028b\x85", "tgt": "\x7f"}'.encode()
    assert found(tmp_path, other) == []


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from([
    b'{"src":"a",', b'"tgt":"b"}', b"\r", b"\n", b"\xc2\xa0", b" ", b"\x0b", b"\xff",
    b"\xe2\x80\xa8", b"{}", b'{"src":"a","tgt":"b"}', b'{"src":"a","tgt":"b","x":"\xff"}',
]), max_size=12))  # fmt: skip
def test_lines_are_those_of_the_loader(pieces: list[bytes]) -> None:
    """What is told of each line, against Python's own reading as the trainer does it."""
    content = b"".join(pieces)
    seen = data_file._examined(Path("x"), io.BytesIO(content))
    lines = list(io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", errors="surrogateescape"))
    assume(lines and seen.counts.keys().isdisjoint({"spread"}))
    assert (seen.lines, seen.usable) == (len(lines), sum(map(_loads, lines)))


def _loads(line: str) -> bool:
    try:
        line.encode()
        return {"src", "tgt"} <= set(json.loads(line.strip()))
    except ValueError:
        return False


@pytest.mark.parametrize(("content", "fault"), [
    (b"", "nothing"), (b"\xef\xbb\xbf" + GOOD, "utf-8-bom"),
    (GOOD.decode().encode("utf-16"), "utf-16"), (GOOD.decode().encode("utf-32"), "utf-32"),
    (b"[\n" + GOOD + b",\n" + GOOD + b"\n]\n", "spread"),
    (b'{\n  "src": "a",\n  "tgt": "b"\n}\n', "spread"),
])  # fmt: skip
def test_what_is_wrong_with_a_whole_file(tmp_path: Path, content: bytes, fault: str) -> None:
    assert found(tmp_path, content) == [(1, fault)]


def test_a_huge_line_is_told_and_the_next_one_read(tmp_path: Path) -> None:
    huge = b'{"src": "' + b"a" * (LONGEST + 5) + b'", "tgt": "b"}'
    assert found(tmp_path, huge + b"\n{\n" + huge) == [(1, "long"), (2, "json"), (3, "long")]


def test_memory_does_not_grow_with_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times as many lines, all of them broken, take no more."""
    monkeypatch.setattr(data_file, "KEPT", 50)

    def peak(lines: int) -> int:
        stream = io.BytesIO((GOOD[:-1] + b"\n") * lines)
        tracemalloc.start()
        seen = data_file._examined(Path("x"), stream)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (seen.lines, seen.broken, len(seen.faults)) == (lines, lines, 50)
        return used

    peak(100)
    assert peak(3000) < 1.5 * peak(300)


def test_a_folder_is_what_the_trainer_reads_of_it(tmp_path: Path) -> None:
    with pytest.raises(PaddockError, match=r"train\.json"):
        data([str(tmp_path)], json=False)
    (tmp_path / "train.json").write_bytes(GOOD)
    (tmp_path / "other.json").write_bytes(b"{")
    assert data([str(tmp_path)], json=False) == 0
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "a.json").write_bytes(GOOD + b'\n{"src": "a", "tgt": " "}')
    assert data([str(tmp_path)], json=False) == 10


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(GOOD + b"\n" + GOOD.replace(b"tgt", b"target") + b"\n")
    done = cli("data", str(path), PADDOCK_LANG="zh")
    assert (done.returncode, "第 2 行：缺少 `tgt`" in done.stdout) == (11, True)
    seen = json.loads(cli("data", str(path), str(path), "--json").stdout)
    assert seen["schema"] == "paddock/data/1"
    assert [one["faults"][0]["line"] for one in seen["files"]] == [2, 2]
    assert cli("data", str(tmp_path / "none")).returncode == 2
    done = cli("data", "-")
    assert (done.returncode, "standard input" in done.stderr) == (2, True)


def test_a_name_stays_on_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a\n\x1b[2Jb.json"
    path.write_bytes(GOOD)
    data([str(path)], json=False)
    assert len((out := capsys.readouterr().out).splitlines()) == 1
    assert "\x1b" not in out
