"""No user and no password of an address is shown, in a line or alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provision.network import hidden, hide_secrets

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
