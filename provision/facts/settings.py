"""Settings in the user's variables and pip's files; looked at, never tried out.

Nothing here connects anywhere, and no password gets into a value that is kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from provision.network import CERTIFICATES, INDEXES, hidden, hide_secrets, pip_index
from provision.stream import printable

_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_PROXY_SCHEMES = {"http", "https", "socks4", "socks4a", "socks5", "socks5h"}
_INDEX_SCHEMES = {"http", "https", "file"}


class Setting(msgspec.Struct, frozen=True):
    """One setting: where it stands, its value without secrets, and what is wrong with it.

    `problem` is "" or one word for the case, such as "missing".
    """

    name: str
    shown: str
    problem: str


class Settings(msgspec.Struct, frozen=True):
    """What the environment says about the network and about Paddle's plugins."""

    certificates: list[Setting]
    proxies: list[Setting]
    indexes: list[Setting]
    device_root: Setting | None
    black_list: Setting | None


def collect(variables: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings. An empty variable counts as unset, except CUSTOM_DEVICE_ROOT."""
    both = [spelling for name in _PROXIES for spelling in (name, name.upper())]
    return Settings(
        certificates=[
            Setting(name, printable(hide_secrets(value)), certificate_problem(Path(value)))
            for name, value in _set(variables, CERTIFICATES)
        ],
        proxies=[
            Setting(name, printable(hidden(value)), url_problem(value, _PROXY_SCHEMES))
            for name, value in _set(variables, both)
        ],
        indexes=[
            Setting(name, printable(hidden(value)), url_problem(value, _INDEX_SCHEMES))
            for name, value in _indexes(variables)
        ],
        device_root=_device_root(variables.get("CUSTOM_DEVICE_ROOT")),
        black_list=_black_list(variables.get("CUSTOM_DEVICE_BLACK_LIST")),
    )


def _set(variables: Mapping[str, str], names: list[str] | tuple[str, ...]) -> list[tuple[str, str]]:
    """Those of these variables that are set."""
    return [(name, variables[name]) for name in names if variables.get(name)]


def _indexes(variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The package indexes that are configured, with where."""
    yield from _set(variables, INDEXES)
    if value := pip_index():
        yield "pip.conf", value


def url_problem(value: str, schemes: set[str]) -> str:
    """Why a URL cannot be right, as a word; "" when it looks right."""
    if "://" not in value:
        return "no-scheme"
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError:  # a port that is no number, a bracket that is not closed
        return "malformed"
    if re.search(r"[\s\x00-\x1f]", value):
        return "malformed"
    if parts.scheme not in schemes:
        return "scheme"
    return "" if host or parts.scheme == "file" else "no-host"


def certificate_problem(path: Path) -> str:
    """Why a CA bundle (a file, or a folder of files) cannot work, as a word; "" when it can."""
    try:
        if path.is_dir():
            return "" if any(path.iterdir()) else "no-certificate"
        return "" if b"-----BEGIN CERTIFICATE-----" in path.read_bytes() else "no-certificate"
    except FileNotFoundError:
        return "missing"
    except (OSError, ValueError):
        return "unreadable"


def _device_root(value: str | None) -> Setting | None:
    """CUSTOM_DEVICE_ROOT: Paddle takes it as one folder, and it replaces the installed plugins.

    Set to the empty string it still counts as set (paddle/base/core.py asks for `is not None`).
    """
    if value is None:
        return None
    folder = Path(value)
    if value == "":
        problem = "empty"
    elif not folder.is_dir():
        problem = "list" if re.search(r"[:,;]", value) else "missing"
    else:
        problem = "" if any(folder.glob("*.so")) else "no-plugin"
    return Setting("CUSTOM_DEVICE_ROOT", printable(hide_secrets(value)), problem)


def _black_list(value: str | None) -> Setting | None:
    """CUSTOM_DEVICE_BLACK_LIST: operator names, separated by commas and nothing else."""
    if not value:
        return None
    right = re.fullmatch(r"\w+(,\w+)*", value)
    return Setting(
        "CUSTOM_DEVICE_BLACK_LIST", printable(hide_secrets(value)), "" if right else "separator"
    )
