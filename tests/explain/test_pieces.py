"""A log is cut in the same places however it is read, and nothing of it is lost."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.explain import search
from checks.logs import lines, pieces
from checks.logs import search as searching
from checks.logs.window import AROUND, OVERLAP, Window
from tests.explain.conftest import Explain
from tests.explain.test_logs import ATB, NAMES, RANDOM, noise

SIZE = 2 * AROUND
RING = 3


def parts(row: list[Window]) -> list[bytes]:
    return [bytes(window.data[window.start : window.stop]) for window in row]


def read(path: Path, plain: bool) -> list[tuple[Window, bytes]]:
    """Each window with what it held when it was read, for its buffer is used again."""
    found = []
    with path.open("rb") as stream:
        for piece in pieces.pieces(stream, plain, RING, SIZE):
            window = piece()
            found.append((window, bytes(window.data[window.start : window.stop])))
    return found


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    widths=st.lists(st.integers(0, 2 * SIZE), max_size=12),
    end=st.sampled_from([b"\n", b"\r", b"\r\n"]),
)
def test_a_file_and_a_stream_are_cut_alike_and_whole(
    tmp_path: Path, widths: list[int], end: bytes
) -> None:
    data = b"".join(b"x" * width + end for width in widths)
    path = tmp_path / "log"
    path.write_bytes(data)
    found = read(path, plain=False)
    place = 0
    for window, held in found:
        assert place - OVERLAP <= window.offset <= place
        assert held == data[window.offset : window.until]
        place = window.until
    assert place == len(data)
    if data:
        alike = [(window.offset, window.until, held) for window, held in read(path, plain=True)]
        assert alike == [(window.offset, window.until, held) for window, held in found]


def test_lines_of_usual_length_are_never_cut(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(noise(2000))
    found = read(path, plain=True)
    assert len(found) > 5
    assert all(held.endswith(b"\n") for _, held in found)
    assert b"".join(held for _, held in found).decode() == noise(2000)


def test_a_file_that_shrinks_meanwhile_ends_where_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(noise(2000))
    with path.open("rb") as stream:
        row = list(pieces.pieces(stream, True, 9, SIZE))
        path.write_text(noise(300))
        held = b"".join(parts([piece() for piece in row]))
    assert held.decode() == noise(300)


def test_a_file_that_grows_meanwhile_is_read_on(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(noise(300))
    held: list[bytes] = []
    with path.open("rb") as stream:
        for piece in pieces.pieces(stream, True, RING, SIZE):
            if not held:
                path.write_text(noise(2000))
            held += parts([piece()])
    assert b"".join(held).decode() == noise(2000)


def test_what_a_damaged_stream_gave_comes_before_its_error() -> None:
    packed = gzip.compress(noise(4000).encode())
    stream = gzip.GzipFile(fileobj=io.BytesIO(packed[:-40]))
    held = b""
    with pytest.raises(EOFError):
        for piece in pieces.pieces(stream, False, RING, SIZE):  # type: ignore[arg-type]
            held += b"".join(parts([piece()]))
    assert noise(4000).encode().startswith(held)
    assert len(held) > len(noise(3000))


@pytest.mark.parametrize("small", [0, 1 << 30])
def test_a_cut_gzip_shows_the_failure_before_the_cut(
    explained: Explain, monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    monkeypatch.setattr(searching, "SMALL", small)
    packed = gzip.compress(f"{noise(9)}{ATB}\n".encode() + RANDOM[:99_000])
    scan = explained(packed[:-500])
    assert scan.read[0].problem
    assert scan.number(scan.finds[NAMES[ATB]].first) == 10


def test_many_windows_side_by_side_keep_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "SMALL", 0)
    monkeypatch.setattr(pieces.pieces, "__defaults__", (SIZE,))
    text = "".join(f"{noise(150)}{ATB} in round {n}\n" for n in range(60))
    path = tmp_path / "log"
    path.write_text(text)
    find = (scan := search([str(path)])).finds[NAMES[ATB]]
    assert (find.count, scan.number(find.first)) == (60, 151)
    assert find.first.text.endswith("round 0")
    assert scan.read[0].bytes == len(text)


@pytest.mark.parametrize("place", [0.1, 0.5, 0.99])
def test_both_ways_to_count_lines_agree(tmp_path: Path, place: float) -> None:
    path = tmp_path / "log"
    path.write_text(text := noise(3000))
    begin, end = 1000, int(len(text) * place)
    expected = text.count("\n", begin, end)
    assert lines._between(path, begin, end) == expected
    assert lines._Rest(path, begin).up_to(end) == expected


def test_a_log_that_grows_is_not_counted_from_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    path.write_text(noise(300))

    def grows(path: Path, begin: int) -> int:
        with path.open("a") as file:
            file.write("more\n")
        return 0

    monkeypatch.setattr(lines, "_behind", grows)
    assert lines._Rest(path, 0).up_to(1000) is None
