"""No user and no password of an address is shown, in a line or alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provision.network import hidden, hide_secrets, hide_values, is_secret

SECRET = st.text("abc123:/@%!?#[]", max_size=20)
HOST = st.text("xyz.:/", min_size=1, max_size=20)


@given(SECRET, HOST, st.sampled_from(["http://", "git+https://", ""]))
def test_no_password_of_an_address_is_shown(secret: str, host: str, scheme: str) -> None:
    assert hidden(f"{scheme}user:PASSWORD{secret}@{host}") == f"{scheme}***@{host}"


@given(SECRET, HOST, st.sampled_from(["", "--index-url=", "url=", "(", "at:", "'"]), st.text())
def test_no_password_in_a_line_is_shown(secret: str, host: str, before: str, around: str) -> None:
    around = around.replace("user", "").replace("PASSWORD", "")
    for word in ("user", "PASSWORD"):
        line = f"{around} {before}https://user:PASSWORD{secret}@{host} {around}"
        assert word not in hide_secrets(line)


@given(st.text().filter(lambda text: "@" not in text))
def test_what_has_no_login_stays_as_it_is(line: str) -> None:
    assert hidden(line) == hide_secrets(line) == line


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("me:secret@proxy.test:3128", "***@proxy.test:3128"),
        ("http://me:sec ret@proxy.test", "http://***@proxy.test"),
        ("me:se://cret@proxy.test", "***@proxy.test"),
        ("http://proxy.test", "http://proxy.test"),
    ],
)
def test_an_address_alone(address: str, shown: str) -> None:
    assert hidden(address) == shown


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("DB_PASSWORD=two words\nPATH=/bin", "DB_PASSWORD=***\nPATH=/bin"),
        ("export ASCEND_SK='x'", "export ASCEND_SK=***"),
        ("run -e API_KEY=abc -v /a", "run -e API_KEY=*** -v /a"),
        ('["A_TOKEN=a\\"b","PATH=/bin"]', '["A_TOKEN=***","PATH=/bin"]'),
        ('{"password": "a b", "x": 1}', '{"password": "***", "x": 1}'),
        ("max_tokens=12 TOKENIZERS_PARALLELISM=false", None),
        ("FLAGS_apply_pass_to_program=1 PWD=/root OLDPWD=/", None),
    ],
)
def test_values_of_what_is_secret_by_its_name(said: str, shown: str | None) -> None:
    assert hide_values(said) == (said if shown is None else shown)


def test_json_without_blanks_loses_only_the_login() -> None:
    said = '{"a":"x","HttpProxy":"http://me:secret@proxy:1","b":{"c":["http://me:secret@d"]}}'
    hidden_too = '{"a":"x","HttpProxy":"http://***@proxy:1","b":{"c":["http://***@d"]}}'
    assert hide_values(said) == hidden_too


@pytest.mark.parametrize("name", ["ASCEND_DB_PWD", "HCCL_AK", "NPU_PASS", "X_REGISTRY_AUTH"])
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)
