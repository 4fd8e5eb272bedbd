"""The wheel that is measured is a sound one, of the size that the figure speaks of."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from bench import wheel
from checks.wheels.audit import audit
from checks.wheels.place import Place


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_measured_wheel_is_sound_and_packs_as_libraries_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: int
) -> None:
    assert wheel._SIZE == 1 << 30
    monkeypatch.setattr(wheel, "_SIZE", 20_000_000)
    content = wheel._library()
    assert len(content) == 20_000_000
    path = wheel._wheel(tmp_path / "made", content, method)
    found = audit(path, Place("loopback", "tiny", None), importing=False).findings
    assert {one.state for one in found} <= {"ok", "apart"}
    ratio = len(content) / path.stat().st_size
    assert ratio < (5 if method else 1.01)
