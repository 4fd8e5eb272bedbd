"""Texts that cannot be evaluated, and the report of one that was."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.smoke.process import Event
from checks.smoke.run import settings_of
from checks.smoke.text import evaluate, read, read_text
from provision.errors import PaddockError
from provision.paths import IMAGES
from tests.smoke.values import begin, check, ended, proof

SETTINGS = settings_of(IMAGES / "loopback")
NO_PYTHON = Path("/nowhere/python")  # a bad text is found before anything is started


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "empty"), (b"abc\xff\xfe", "byte 3"), ("é".encode("latin-1"), "byte 0")],
)
def test_a_file_that_is_no_text(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "text.txt"
    file.write_bytes(content)
    with pytest.raises(PaddockError) as failure:
        evaluate(NO_PYTHON, "loopback", file, 512, SETTINGS)
    assert failure.value.code == "bad-text"
    assert said in str(failure.value)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for file, said in ((tmp_path / "none", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(PaddockError, match=said) as failure:
            evaluate(NO_PYTHON, "loopback", file, 512, SETTINGS)
        assert failure.value.status == 2


@pytest.mark.parametrize("window", [1, 0, -5])
def test_a_window_that_predicts_nothing(tmp_path: Path, window: int) -> None:
    file = tmp_path / "text.txt"
    file.write_text("enough text", encoding="utf-8")
    with pytest.raises(PaddockError, match=f"{window} tokens") as failure:
        evaluate(NO_PYTHON, "loopback", file, window, SETTINGS)
    assert failure.value.code == "bad-text"


def test_line_ends_and_scripts_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "文 本.txt"
    file.write_bytes("a\r\n你好\n".encode())
    assert read_text(file, 512) == "a\r\n你好\n"


def figures(**values: float) -> list[Event]:
    return [{"event": "figure", "name": name, "value": value} for name, value in values.items()]


def test_a_text_that_was_evaluated() -> None:
    found = figures(tokens=9, loss=2.0, perplexity=7.389)
    events = [begin(), *check("perplexity"), *found, proof(), {"event": "end"}]
    report = read(ended(events), "loopback", Path("a.txt"), 4, SETTINGS)
    assert (report.tokens, report.loss, report.perplexity) == (9, 2.0, 7.389)
    assert (report.window, report.device, report.schema) == (4, "loopback:0", "paddock/text/1")


def test_one_token_is_a_bad_text_not_a_bad_device() -> None:
    events = [begin(), *figures(tokens=1), *check("perplexity", passed=False), {"event": "end"}]
    with pytest.raises(PaddockError) as failure:
        read(ended(events), "loopback", Path("a.txt"), 512, SETTINGS)
    assert failure.value.code == "bad-text"


def test_a_text_evaluated_elsewhere_is_a_failure() -> None:
    found = figures(tokens=9, loss=2.0, perplexity=7.389)
    events = [begin(), *check("perplexity"), *found, proof("cpu"), {"event": "end"}]
    with pytest.raises(PaddockError) as failure:
        read(ended(events), "loopback", Path("a.txt"), 512, SETTINGS)
    assert failure.value.code == "smoke-failed"
    assert "place: results on cpu, not on loopback" in failure.value.details
    assert failure.value.details[-1] == "the last line"
