"""How texts are filled."""

from __future__ import annotations

import string

import pytest

from provision.words import LANGUAGES, catalogue, text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("nothing", ["", None])
def test_what_is_missing_is_never_shown_as_nothing_in_quotes(
    monkeypatch: pytest.MonkeyPatch, language: str, nothing: str | None
) -> None:
    monkeypatch.setenv("PADDOCK_LANG", language)
    quoting = {
        key: texts[language] for key, texts in catalogue().items() if "`{" in texts[language]
    }
    assert len(quoting) > 10
    for key, said in quoting.items():
        names = [name for _, name, _, _ in string.Formatter().parse(said) if name]
        filled = text(key, **dict.fromkeys(names, nothing))
        assert "``" not in filled and "`None`" not in filled, key
        assert text("empty") in filled, key


def test_what_is_there_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_LANG", "en")
    for value in ("``", "{word}", "None", " ", 0):
        assert f"`{value}`" in text("command.unknown", word=value)
