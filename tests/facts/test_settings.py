"""Settings: what is wrong is named, and no password is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provision.facts import settings

WEB = {"http", "https"}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("http://proxy.test:3128", ""),
        ("https://me:secret@proxy.test", ""),
        ("http://[::1]:3128", ""),
        ("proxy.test:3128", "no-scheme"),
        ("htp://proxy.test", "scheme"),
        ("http://", "no-host"),
        ("http:///simple", "no-host"),
        ("http://proxy.test:port", "malformed"),
        ("http://proxy.test:99999", "malformed"),
        ("http://[::1", "malformed"),
        ("http://proxy test", "malformed"),
        ("http://proxy.test\n", "malformed"),
    ],
)
def test_addresses(value: str, problem: str) -> None:
    assert settings.url_problem(value, WEB) == problem


@given(st.text())
def test_any_address_is_judged(value: str) -> None:
    assert settings.url_problem(value, WEB) in {"", "no-scheme", "scheme", "no-host", "malformed"}


def test_what_would_move_the_cursor_is_replaced() -> None:
    value = "/a\x1b[2J\nb\udcff"
    root = settings.collect({"CUSTOM_DEVICE_ROOT": value}).device_root
    assert (
        root
        and root.shown
        == "/a\N{REPLACEMENT CHARACTER}[2J" + "\N{REPLACEMENT CHARACTER}".join(["", "b", ""])
    )


def test_ca_bundles(tmp_path: Path) -> None:
    good, empty = tmp_path / "good.pem", tmp_path / "empty.pem"
    good.write_text("text\n-----BEGIN CERTIFICATE-----\nAAAA\n")
    empty.touch()
    assert settings.certificate_problem(good) == ""
    assert settings.certificate_problem(empty) == "no-certificate"
    assert settings.certificate_problem(tmp_path / "none.pem") == "missing"
    assert settings.certificate_problem(Path("a\0b")) == "unreadable"
    assert settings.certificate_problem(tmp_path) == ""


def test_proxies_in_both_spellings_without_their_secrets() -> None:
    found = settings.collect(
        {"HTTPS_PROXY": "http://u:p/w@p.test:1", "no_proxy": "x", "http_proxy": "",
         "PIP_INDEX_URL": "u:p w@i.test\n"}
    )  # fmt: skip
    assert [(one.name, one.shown) for one in found.proxies] == [
        ("HTTPS_PROXY", "http://***@p.test:1")
    ]
    assert ("PIP_INDEX_URL", "***@i.test\N{REPLACEMENT CHARACTER}") in [
        (one.name, one.shown) for one in found.indexes
    ]


@pytest.mark.parametrize(
    ("value", "problem"),
    [("", "empty"), ("/a:/b", "list"), ("/a,/b", "list"), ("/nowhere", "missing")],
)
def test_device_roots_that_lead_nowhere(value: str, problem: str) -> None:
    root = settings.collect({"CUSTOM_DEVICE_ROOT": value}).device_root
    assert root and root.problem == problem


def test_device_roots_that_exist(tmp_path: Path) -> None:
    folder = tmp_path / "with:colon"
    (folder / "below").mkdir(parents=True)
    (folder / "below/libx.so").touch()
    root = settings.collect({"CUSTOM_DEVICE_ROOT": str(folder)}).device_root
    assert root and root.problem == "no-plugin"  # Paddle does not look below
    (folder / "liby.so").touch()
    root = settings.collect({"CUSTOM_DEVICE_ROOT": str(folder)}).device_root
    assert root and root.problem == ""
    assert settings.collect({}).device_root is None


@pytest.mark.parametrize(
    ("value", "problem"),
    [("matmul_v2", ""), ("a,b_c,d1", ""), ("a;b", "separator"), ("a b", "separator"),
     ("a, b", "separator"), ("a:b", "separator"), ("a,", "separator")],
)  # fmt: skip
def test_black_lists(value: str, problem: str) -> None:
    found = settings.collect({"CUSTOM_DEVICE_BLACK_LIST": value}).black_list
    assert found and found.problem == problem
