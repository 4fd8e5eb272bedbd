"""A digest that takes its time says how far it is, on standard error alone."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from provision import digest


def test_a_long_reading_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "big.run"
    file.write_bytes(bytes(4 << 20))
    monkeypatch.setenv("PADDOCK_LANG", "en")
    monkeypatch.setattr(digest, "PACE", -1.0)
    assert digest.sha256(file) == hashlib.sha256(bytes(4 << 20)).hexdigest()
    said = capsys.readouterr()
    assert said.out == ""
    shares = [f"  ~ big.run: read for its digest, {share}% of 4 MiB" for share in (25, 50, 75, 100)]
    assert said.err.splitlines() == shares
    assert digest.sha256(file) and capsys.readouterr().err == ""  # it is known by now


def test_a_short_one_is_silent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").write_bytes(b"a")
    digest.sha256(tmp_path / "a")
    assert capsys.readouterr().err == ""
