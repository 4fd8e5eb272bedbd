"""The variables that matter, and no secret among them."""

from __future__ import annotations

import json

import pytest

from provision.facts import variables


def test_what_matters_sorted_by_name() -> None:
    environ = {"XYZZY": "1", "PATH": "/bin", "HCCL_IF_IP": "10.0.0.1", "FLAGS_a": "", "PATHS": "2",
               "ASCEND_RT_VISIBLE_DEVICES": "0,1", "LD_LIBRARY_PATH": "/a:/b"}  # fmt: skip
    assert list(variables.collect(environ).items()) == [
        ("ASCEND_RT_VISIBLE_DEVICES", "0,1"),
        ("FLAGS_a", ""),
        ("HCCL_IF_IP", "10.0.0.1"),
        ("LD_LIBRARY_PATH", "/a:/b"),
        ("PATH", "/bin"),
    ]


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("PADDLE_MIRROR", "https://ann:pass@host/x", "https://***@host/x"),
        ("PADDLE_ACCESS_TOKEN", "abc", "***"),
        ("NPU_API_KEY", "abc", "***"),
        ("ascend_password", "abc", None),
        ("FLAGS_password", "abc", "***"),
        ("FLAGS_key_cache", "1", "1"),
        ("FLAGS_tokenizer_threads", "4", "4"),
        ("FLAGS_max_tokens", "4", "4"),
    ],
)
def test_secrets_are_hidden(name: str, value: str, shown: str | None) -> None:
    assert variables.collect({name: value}).get(name) == shown


def test_what_is_no_text_can_be_told() -> None:
    found = variables.collect({"PATH": "/b\udcff"})
    assert json.dumps(found, ensure_ascii=False).encode() == '{"PATH": "/b\ufffd"}'.encode()


def test_the_environment_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPS_VISIBLE_DEVICES", "3")
    assert variables.collect()["TOPS_VISIBLE_DEVICES"] == "3"
