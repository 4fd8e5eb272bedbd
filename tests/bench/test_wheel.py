"""The wheel that is measured is a sound one, of the size that the figure speaks of."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from bench import wheel
from checks.wheels.audit import audit
from checks.wheels.place import Place


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_measured_wheel_is_sound(tmp_path: Path, method: int) -> None:
    content = Path(sys.executable).resolve().read_bytes()
    path = wheel._wheel(tmp_path / "made", content, method)
    found = audit(path, Place("loopback", "tiny", None), importing=False).findings
    bad = [one.id for one in found if one.state in ("error", "unknown")]
    assert set(bad) <= {"wheel-runpath"}  # this Python may have been built anywhere


def test_the_library_has_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wheel._SIZE == 1 << 30
    monkeypatch.setattr(wheel, "_SIZE", 50_000_000)
    assert len(wheel._library()) == 50_000_000
