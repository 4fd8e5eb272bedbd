"""The journal: what was written whole is read whole, whatever happened to the rest."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from provision.journal import Entry, Journal, Witness

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
WITNESSES = st.lists(
    st.builds(Witness, TEXT, st.integers(0, 2**60), st.integers(0, 2**60)), max_size=3
)
ENTRIES = st.lists(
    st.builds(
        Entry, step=TEXT, event=st.sampled_from(["start", "done", "failed", "undone"]), key=TEXT,
        time=st.floats(0, 2e9), run=TEXT, witnesses=WITNESSES, log=TEXT,
    ),
    min_size=1, max_size=5,
)  # fmt: skip
# Where fsync costs nothing: these tests are about content.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
NEW = Entry(step="new/step", event="done", key="key", time=1.0)


@contextmanager
def journal_of(entries: list[Entry]) -> Iterator[Journal]:
    """A journal with these entries in a folder of its own."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        journal = Journal(Path(folder) / "a" / "journal.jsonl")
        for entry in entries:
            journal.append(entry)
        yield journal


@settings(max_examples=60, deadline=None)
@given(ENTRIES, st.floats(0, 1))
def test_cut_at_any_byte_it_reads_the_earlier_entries_and_takes_new_ones(
    entries: list[Entry], where: float
) -> None:
    with journal_of(entries) as journal:
        content = journal.path.read_bytes()
        cut = content[: int(where * len(content))]
        journal.path.write_bytes(cut)
        whole = [*cut.split(b"\n")]
        kept = entries[: cut.count(b"\n")]
        if whole[-1] and whole[-1] == msgspec.json.encode(entries[len(kept)]):
            kept = entries[: len(kept) + 1]  # only its line end was cut off
        assert list(journal.entries()) == kept
        journal.append(NEW)
        assert list(journal.entries()) == [*kept, NEW]


@settings(max_examples=60, deadline=None)
@given(ENTRIES, st.binary(max_size=60))
@example([NEW], b'\xff\xfe\n{}\nnull\n[1]\n{"step": 1}\n')
@example([NEW], b'{"step":"x","event":"dreamt","key":"","time":1}')
def test_garbage_lines_hide_nothing(entries: list[Entry], garbage: bytes) -> None:
    with journal_of(entries) as journal:
        with journal.path.open("ab") as file:
            file.write(garbage)
        journal.append(NEW)
        assert list(journal.entries()) == [*entries, NEW]


def test_an_entry_of_a_later_version_is_not_believed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append(NEW)
    later = {**json.loads(journal.path.read_bytes()), "step": "later/step", "version": 2}
    with journal.path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(later) + "\n")
    assert list(journal.last()) == ["new/step"]


def test_each_entry_is_on_the_disk_before_the_next_action(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    sizes: list[int] = []
    flush = os.fsync

    def watched(descriptor: int) -> None:
        assert Path(f"/proc/self/fd/{descriptor}").readlink() == journal.path
        sizes.append(os.fstat(descriptor).st_size)
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    for _ in range(3):
        journal.record("a/b", "start", "key")
        assert sizes[-1] == journal.path.stat().st_size
    assert len(sizes) == 3


def test_a_short_write_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:5]))
    with pytest.raises(OSError, match="No space left"):
        journal.append(NEW)
    monkeypatch.undo()
    journal.append(NEW)
    assert list(journal.entries()) == [NEW]


def test_readers_meanwhile_see_only_whole_entries(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    seen: list[int] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.append(
                sum(entry.witnesses == [Witness("x" * 5000, 1, 2)] for entry in journal.entries())
            )

    def write(name: str) -> None:
        for _ in range(50):
            journal.record(name, "done", "key", witnesses=[Witness("x" * 5000, 1, 2)])

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(f"a/{n}",)) for n in range(2)]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    reader.join()
    assert seen == sorted(seen)
    assert len(list(journal.entries())) == 100


def test_a_witness_holds_until_the_file_changes(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("one")
    witness = Witness.of(file)
    assert witness.holds()
    os.utime(file, ns=(1, 1))
    assert not witness.holds()
    file.unlink()
    assert not witness.holds()


def test_a_witness_holds_in_a_layer_of_an_image(tmp_path: Path) -> None:
    """A layer is a tar archive, which keeps whole seconds."""
    file = tmp_path / "file"
    file.write_text("x")
    os.utime(file, ns=(1, 1_700_000_000_123_456_789))
    witness = Witness.of(file)
    for nanoseconds, holds in ((0, True), (1, False), (123_456_789, True), (10**9, False)):
        os.utime(file, ns=(1, 1_700_000_000_000_000_000 + nanoseconds))
        assert witness.holds() is holds


def test_a_journal_that_is_not_there_is_empty(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not list(Journal(tmp_path / "none").entries())
    assert not list(Journal(tmp_path / "file" / "journal.jsonl").entries())
