"""What was proved holds as long as all that it rests on is unchanged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from provision.facts.loading import Loaded
from provision.facts.proof import Proof
from provision.journal import Witness


def proof(tmp_path: Path, **conditions: str) -> Proof:
    witness = tmp_path / "witness"
    if not witness.exists():
        witness.write_text("one")
    return Proof(tmp_path / "state/proof.json", conditions, [Witness.of(witness)])


def test_it_is_kept_and_recalled(tmp_path: Path) -> None:
    proof(tmp_path, a="1").keep(Loaded("loads", "line", "where", ["demo"]))
    known = proof(tmp_path, a="1").recall(Loaded)
    assert known and known.value == Loaded("loads", "line", "where", ["demo"])
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["proof.json"]


def test_a_change_of_a_file_or_a_condition_ends_it(tmp_path: Path) -> None:
    proof(tmp_path, a="1").keep(Loaded("loads", "", ""))
    assert proof(tmp_path, a="2").recall(Loaded) is None
    assert proof(tmp_path, a="1", b="").recall(Loaded) is None
    (tmp_path / "witness").write_text("two")
    os.utime(tmp_path / "witness", ns=(1, 1))
    assert proof(tmp_path, a="1").recall(Loaded) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"version": 2}', b"\xff\xfe"])
def test_a_damaged_file_proves_nothing(tmp_path: Path, content: bytes) -> None:
    one = proof(tmp_path)
    one.path.parent.mkdir()
    one.path.write_bytes(content)
    assert one.recall(Loaded) is None


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    proof(tmp_path).keep(Loaded("loads", "", ""))
    assert proof(tmp_path).recall(Loaded) is None
