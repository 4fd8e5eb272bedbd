"""What measures of a vendor's plan stand on: the rows of a lock for one Python, the limit."""

from __future__ import annotations

import time
import urllib.request
from pathlib import Path

import pytest

from bench import limited

LOCK = """\
anyio==1 ; python_full_version < '3.10' and sys_platform == 'linux' \\
    --hash=sha256:aa \\
    --hash=sha256:bb
anyio==2 ; python_full_version == '3.10.*' and sys_platform == 'linux' \\
    --hash=sha256:cc
b==1 ; sys_platform == 'linux' \\
    --hash=sha256:dd
c==1 ; platform_machine == 'aarch64' \\
    --hash=sha256:ee
"""


def test_only_the_rows_for_this_python_are_downloaded() -> None:
    rows = limited.for_this_python(LOCK).splitlines()
    assert rows == ["anyio==2 \\", "    --hash=sha256:cc", "b==1 \\", "    --hash=sha256:dd"]


def test_the_server_keeps_to_its_limit_and_lists_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limited, "HOST", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    (tmp_path / "a.run").write_bytes(bytes(500_000))
    (tmp_path / "Some_Thing-1-py3-none-any.whl").write_text("wheel")
    with limited.serving(tmp_path, tmp_path, 1_000_000) as address:

        def read(path: str) -> bytes:
            with urllib.request.urlopen(f"{address}/{path}", timeout=10) as answer:  # noqa: S310
                return bytes(answer.read())

        assert b"/wheels/Some_Thing-1-py3-none-any.whl" in read("simple/some-thing/")
        assert read("wheels/Some_Thing-1-py3-none-any.whl") == b"wheel"
        began = time.monotonic()
        assert len(read("packages/a.run")) == 500_000
        assert 0.4 < time.monotonic() - began < 5
