"""Logs in every form are read, and what is in them is found where it stands."""

from __future__ import annotations

import gzip
import itertools
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.explain import search, status, to_json
from checks.logs import lines, pieces, window
from checks.logs import search as searching
from checks.logs.catalogue import failures
from checks.logs.scan import ordered
from provision.errors import PaddockError
from tests.conftest import ROOT
from tests.explain.conftest import Explain

ATB = "ImportError: libatb.so: cannot open shared object file: No such file or directory"
OPEN = "ValueError: (InvalidArgument) Fail to open library: x.so with error: libatb.so: no"
NAMES = {line: next(e.id for e in failures().values() if e.matches(line)) for line in (ATB, OPEN)}
RANDOM = random.Random(1).randbytes(1_500_000)  # noqa: S311
needs_zstd = pytest.mark.skipif(not shutil.which("zstd"), reason="the program zstd is not here")


def noise(count: int) -> str:
    return "".join(f"[2026-01-01] [ INFO] - step {n}, loss: 2.5\n" for n in range(count))


def test_count_line_and_context(explained: Explain) -> None:
    scan = explained(f"one\ntwo\n{ATB}\nfour\nfive\nsix\n{ATB}\n".encode())
    find = scan.finds[NAMES[ATB]]
    assert (find.count, scan.number(find.first)) == (2, 3)
    assert (find.before, find.after) == (["one", "two"], ["four", "five"])
    assert status(scan) == 0


def test_the_first_cause_stands_before_its_consequences_even_when_it_is_logged_later(
    explained: Explain,
) -> None:
    scan = explained(f"{OPEN}\n{ATB}\n".encode())
    [(cause, rest)] = ordered(scan.finds.values())
    assert cause.failure.id == NAMES[ATB]
    assert [find.failure.id for find in rest] == [NAMES[OPEN]]
    found = to_json(scan)["findings"]
    assert isinstance(found, list)
    assert [one["follows"] for one in found] == ["", NAMES[ATB]]


def test_two_causes_stand_in_the_order_of_the_log(explained: Explain) -> None:
    scan = explained(b"bash: npu-smi: command not found\nError: No space left on device\n")
    assert [cause.failure.group for cause, _ in ordered(scan.finds.values())] == [
        "driver",
        "machine",
    ]


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "gbk", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings(explained: Explain, codec: str) -> None:
    scan = explained(f"日志开始\n{noise(50)}{ATB}\n加载失败\n".encode(codec))
    find = scan.finds[NAMES[ATB]]
    assert scan.number(find.first) == 52
    assert find.first.text == ATB
    assert find.after == ["加载失败"]


def test_the_first_line_of_a_marked_file(explained: Explain) -> None:
    assert explained(ATB.encode("utf-8-sig")).finds[NAMES[ATB]].first.text == ATB


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(explained: Explain, end: str) -> None:
    scan = explained(end.join(["a", "b", ATB, "c"]).encode())
    find = scan.finds[NAMES[ATB]]
    assert find.first.text == ATB
    assert (find.before, find.after) == (["a", "b"], ["c"])
    assert scan.number(find.first) == (1 if end == "\r" else 3)


def test_a_progress_bar_that_returns_its_carriage(explained: Explain) -> None:
    bar = "\r".join(f"{n} of 100 MB" for n in range(5000))
    scan = explained(f"{bar}\r{ATB}\ndone\n".encode())
    assert scan.finds[NAMES[ATB]].first.text == ATB
    assert scan.number(scan.finds[NAMES[ATB]].first) == 1


def test_colours_may_stand_within_a_word(explained: Explain) -> None:
    painted = ATB.replace("cannot open", "can\033[01;31m\033[Knot\033[m\033[K open")
    scan = explained(f"\033[32mok\033[0m\n{painted}\n".encode())
    assert scan.finds[NAMES[ATB]].first.text == ATB
    assert scan.number(scan.finds[NAMES[ATB]].first) == 2


def test_packed_logs(explained: Explain) -> None:
    data = f"{noise(9000)}{ATB}\n".encode()
    scan = explained(gzip.compress(data[:5000]) + gzip.compress(data[5000:]), "old.gz")
    assert scan.number(scan.finds[NAMES[ATB]].first) == 9001
    assert explained(gzip.compress(ATB.encode("utf-16")), "windows").finds


@needs_zstd
def test_zst(explained: Explain) -> None:
    data = subprocess.run(
        ["zstd", "-q"], input=f"{noise(90000)}{ATB}\n".encode(), stdout=-1, check=True
    ).stdout
    scan = explained(data, "log.zst")
    assert scan.number(scan.finds[NAMES[ATB]].first) == 90001
    assert not scan.read[0].problem


@needs_zstd
def test_a_cut_zst_shows_what_could_be_read(explained: Explain) -> None:
    data = f"{ATB}\n{RANDOM.hex()}".encode()
    packed = subprocess.run(["zstd", "-q"], input=data, stdout=-1, check=True).stdout
    scan = explained(packed[: len(packed) // 2])
    assert scan.read[0].problem
    assert NAMES[ATB] in scan.finds
    assert status(scan) == 2


def test_zst_without_the_program(explained: Explain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(PaddockError) as error:
        explained(b"\x28\xb5\x2f\xfd rest")
    assert error.value.code == "no-zstd"


def test_a_cut_gzip_shows_what_could_be_read(explained: Explain) -> None:
    data = f"{ATB}\n{RANDOM.hex()}".encode()
    packed = gzip.compress(data, 1)
    scan = explained(packed[: len(packed) // 2])
    assert scan.read[0].problem
    assert status(scan) == 2
    scan = explained(b"\x1f\x8b garbage that no gzip wrote")
    assert scan.read[0].problem


@pytest.mark.parametrize("size", [3 * window.AROUND, 5 * window.AROUND + 13, pieces.SIZE])
def test_a_find_on_any_border_of_a_window_is_found_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(searching, "SMALL", 0)
    monkeypatch.setattr(pieces.pieces, "__defaults__", (size,))
    path = tmp_path / "log"
    for shift in range(0, 9000, 499):
        path.write_bytes(b"x" * shift + b"\n" + noise(300).encode() + f"{ATB}\n".encode())
        scan = search([str(path)])
        find = scan.finds[NAMES[ATB]]
        assert (find.count, scan.number(find.first)) == (1, 302)


@pytest.mark.parametrize("plain", [True, False])
def test_the_line_number_in_a_big_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain: bool
) -> None:
    monkeypatch.setattr(lines, "BIG", 1 << 12)
    monkeypatch.setattr(searching, "SMALL", 0)
    monkeypatch.setattr(pieces.pieces, "__defaults__", (1 << 14,))
    data = f"{noise(20000)}{ATB}\n{noise(20000)}Error: No space left on device\n".encode()
    path = tmp_path / "log"
    path.write_bytes(data if plain else gzip.compress(data))
    scan = search([str(path)])
    numbers = sorted(scan.number(find.first) for find in scan.finds.values())
    assert numbers == [20001, 40002]


def test_a_short_line_before_a_very_long_one(explained: Explain) -> None:
    scan = explained(f"short\n{'x' * 5_000_000} {ATB}\n".encode())
    find = scan.finds[NAMES[ATB]]
    assert (find.count, scan.number(find.first)) == (1, 2)


def test_several_logs(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("a", "b")]
    Path(names[0]).write_text(f"{OPEN}\n")
    Path(names[1]).write_text(f"fine\n{ATB}\n{OPEN}\n")
    scan = search(names)
    [(cause, [rest])] = ordered(scan.finds.values())
    assert (cause.first.log, scan.number(cause.first)) == (1, 2)
    assert (rest.count, rest.first.log) == (2, 0)


def test_an_unknown_log_gives_its_most_telling_lines(explained: Explain) -> None:
    text = f"{noise(100)}warning: 0 errors\nTraceback (most recent call last):\nOddError: strange\n"
    scan = explained(text.encode())
    assert not scan.finds
    assert "OddError: strange" in [spot.text for spot in scan.telling.best()]
    assert [scan.number(spot) for spot in scan.telling.best() if "Odd" in spot.text] == [103]
    assert status(scan) == 12


@pytest.mark.parametrize("data", [b"", b"\n", b"\0" * 10_000, RANDOM])
def test_nothing_known(explained: Explain, data: bytes) -> None:
    scan = explained(data)
    assert not scan.finds
    assert status(scan) == 12


def test_every_word_is_found_by_both_ways_of_searching() -> None:
    pytest.importorskip("hyperscan")
    known = [example.encode() for entry in failures().values() for example in entry.examples]
    sought = sorted({line[i : i + 9] for line in known for i in range(0, len(line) - 9, 7)})
    plain, fast = searching.plain(sought), searching.fast(sought)
    for line in known:
        piece = window.Window(line, 0, len(line), len(line), 0, len(line), exact=False)
        assert plain(piece) == fast(piece)


def test_without_hyperscan_a_big_log_is_searched_slowly_and_that_is_told(
    explained: Explain, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(words: object) -> None:
        raise ImportError

    monkeypatch.setattr(searching, "fast", missing)
    scan = explained(f"{noise(5000)}{ATB}\n".encode())
    assert scan.slow
    assert NAMES[ATB] in scan.finds


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.binary(max_size=3000), pieces=st.lists(st.sampled_from([
    b"\x1f\x8b\x08\0", b"\xff\xfe", b"\x1b[31m", b"\r", b"\n", ATB.encode(), b"fatal: ",
    OPEN.encode("utf-16"), b"\xef\xbb\xbf", b"\x28\xb5\x2f", b"\0",
]), max_size=6), order=st.randoms(use_true_random=False))  # fmt: skip
def test_no_bytes_are_too_strange(
    explained: Explain, data: bytes, pieces: list[bytes], order: random.Random
) -> None:
    parts = [*pieces, data]
    order.shuffle(parts)
    scan = explained(b"".join(parts))
    to_json(scan)
    assert status(scan) in (0, 2, 12)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    entries=st.lists(st.sampled_from(list(failures().values())), max_size=8),
    before=st.integers(0, 900),
)
def test_what_is_put_into_a_log_is_found_in_it(
    explained: Explain, entries: list[object], before: int
) -> None:
    planted = [entry.examples[0] for entry in entries]  # type: ignore[attr-defined]
    scan = explained((noise(before) + "\n".join(planted)).encode())
    assert {entry.id for entry in entries} <= set(scan.finds)  # type: ignore[attr-defined]
    first = itertools.chain(*((cause, *rest) for cause, rest in ordered(scan.finds.values())))
    assert len(list(first)) == len(scan.finds)


@pytest.mark.skipif("PADDOCK_TEST_RECORDINGS" not in os.environ, reason="no recordings are given")
def test_recorded_errors_are_known() -> None:
    folder = Path(os.environ["PADDOCK_TEST_RECORDINGS"]) / "errors"
    files = sorted(path for path in folder.iterdir() if "_ok" not in path.name)
    assert files
    unknown = [path.name for path in files if not search([str(path)]).finds]
    assert not unknown


# Not getrusage: its peak counts what the starting process had.
_MEASURE = """
import re, sys
sys.path.insert(0, sys.argv[1])
from checks.explain import search, to_json
scan = search(sys.argv[2:])
to_json(scan)
print(len(scan.finds), re.search("VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


@pytest.mark.slow
@pytest.mark.parametrize("piece", [b"x" * 1_000_000, b"a line of noise\n" * 62_500])
def test_memory_is_flat(tmp_path: Path, piece: bytes) -> None:
    """100 MB, as one line and as many: below 100 MB of memory, the find at its end."""
    path = tmp_path / "log"
    with path.open("wb") as file:
        file.writelines(itertools.repeat(piece, 100))
        file.write(f" {ATB}\n".encode())
    command = [sys.executable, "-c", _MEASURE, str(ROOT), str(path)]
    found, kilobytes = subprocess.check_output(command).split()
    assert int(found) >= 1
    assert int(kilobytes) < 100_000
