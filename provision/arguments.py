"""The flags of the tasks as checked values."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from provision.engine import Options
from provision.errors import PaddockError, unknown_name
from provision.network import asked, hidden
from provision.paths import cache_dir, data_dir, state_dir, targets
from provision.words import text

if TYPE_CHECKING:
    from provision.steps.base import Sources

_CARDS = re.compile(r"(\d{1,3})(?:-(\d{1,3}))?", re.ASCII)


def options(
    target: str, release: str = "", stack: str = "", begin: str = "", only: str = "",
    offline: bool = False, ca_bundle: str = "", index_url: str = "", jobs: str = "",
    flag: str = "target", deps: str = "", unsupported_os: bool = False, accept_eula: str = "",
    plugin_source: str = "", plugin_ref: str = "", ops_source: str = "",
) -> Options:  # fmt: skip
    """The flags as options; `auto` is resolved to the machine's accelerator, else loopback.

    The target exists: a name becomes part of paths, so none goes on unchecked. Raises PaddockError
    `bad-option`, `unknown-target`, `no-target-for-card`, `stack-*`.
    """
    network = asked(offline, ca_bundle, index_url)
    _check_home()
    own = Path(stack).absolute() if stack else None
    return Options(
        target=_of_stack(own, target, flag) if own else named(target, flag),
        release=release or None,
        stack=own,
        begin=begin or None,
        only=tuple(name.strip() for name in only.split(",") if name.strip()),
        network=network,
        jobs=count("--jobs", jobs) if jobs else os.cpu_count() or 1,
        deps=_folder("--deps", deps) if deps and not is_server(deps) else None,
        server=_server(deps) if is_server(deps) else "",
        licences=frozenset(name.strip() for name in accept_eula.split(",") if name.strip()),
        any_system=unsupported_os,
        sources=tuple(_sources(plugin_source, plugin_ref, ops_source)),
    )


def _sources(plugin: str, ref: str, ops: str) -> Iterator[tuple[str, Sources]]:
    """What is to be built from, each with its flag. Raises PaddockError `flag-needs`, `bad-option`.

    A password would stand in the scripts of the steps: git has its own place for it.
    """
    if ref and not plugin:
        raise PaddockError("flag-needs", one="--plugin-ref", other="--plugin-source")
    for flag, origin, its_ref in (("plugin-source", plugin, ref), ("ops-source", ops, "")):
        if hidden(origin) != origin:
            raise PaddockError("bad-option", option=f"--{flag}", value=hidden(origin),
                               wanted=text("wanted.no-password"))  # fmt: skip
        if origin:
            from provision.steps.base import Sources

            is_path = "://" not in origin and Path(origin).exists()
            yield flag, Sources(str(Path(origin).absolute()) if is_path else origin, its_ref)


def is_server(deps: str) -> bool:
    """Whether `--deps` names a server, not a folder."""
    return "://" in deps


def _server(url: str) -> str:
    """An address of a server. Raises PaddockError `bad-option`."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        is_fit = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_fit = False
    if not is_fit or re.search(r"[\s\x00-\x1f\\]", url):
        wanted = text("wanted.server")
        raise PaddockError("bad-option", option="--deps", value=hidden(url), wanted=wanted)
    return url


def _folder(option: str, value: str) -> Path:
    """A flag's value as an existing folder. Raises PaddockError `bad-option`."""
    folder = Path(value).absolute()
    if not folder.is_dir():
        raise PaddockError("bad-option", option=option, value=value, wanted=text("wanted.folder"))
    return folder


def count(option: str, value: str, lowest: int = 1) -> int:
    """A flag's value as a whole number. Raises PaddockError `bad-option`.

    Invoke's own conversion would answer a wrong one with a traceback.
    """
    if not value.isascii() or not value.isdigit() or int(value) < lowest:
        wanted = text("wanted.count", lowest=lowest)
        raise PaddockError("bad-option", option=option, value=value, wanted=wanted)
    return int(value)


def one_of(option: str, value: str, known: Sequence[str]) -> str:
    """The value itself; "" among the known ones stands for no flag. Raises PaddockError
    `bad-option` where it is none of them.
    """
    if value not in known:
        wanted = text("wanted.one-of", names=", ".join(filter(None, known)))
        raise PaddockError("bad-option", option=option, value=value, wanted=wanted)
    return value


def cards(value: str) -> tuple[int, ...]:
    """The numbers in `0,2` or `0-7`; none for "". Raises PaddockError `bad-option`."""
    found: list[int] = []
    for part in value.split(",") if value else ():
        match = _CARDS.fullmatch(part.strip())
        some = range(int(match[1]), int(match[2] or match[1]) + 1) if match else ()
        if not some or set(some) & set(found):
            wanted = text("wanted.cards")
            raise PaddockError("bad-option", option="--cards", value=value, wanted=wanted)
        found += some
    return tuple(found)


def without_server(options: Options) -> None:
    """Raises PaddockError `bad-option` where `--deps` is a server and a folder is needed."""
    if options.server:
        wanted = text("wanted.folder")
        value = hidden(options.server)
        raise PaddockError("bad-option", option="--deps", value=value, wanted=wanted)


def _check_home() -> None:
    """What PATH and uv cannot take as a folder is refused before anything is written there."""
    for folder in (cache_dir(), state_dir(), data_dir()):
        name = str(folder)
        if ":" in name or name.encode("utf-8", "replace").decode() != name:
            wanted = text("wanted.home")
            raise PaddockError("bad-option", option="PADDOCK_HOME", value=name, wanted=wanted)


def _of_stack(stack: Path, target: str, flag: str) -> str:
    """The target of a stack file of the user's own; one asked for by name must be the same.

    Raises PaddockError `bad-option`, `stack-*`.
    """
    from provision.stack import load

    own = load(stack).target
    if target not in ("auto", own):
        wanted = text("wanted.stack-target", name=own)
        raise PaddockError("bad-option", option=f"--{flag}", value=target, wanted=wanted)
    return own


ALIASES = {"npu": "ascend910b", "gcu": "s60"}


def named(target: str, flag: str = "target") -> str:
    """The target's own name: aliases resolved, and `auto` by the machine.

    Raises PaddockError `unknown-target` (of a flag `backend`: `unknown-backend`),
    `no-target-for-card`.
    """
    if target == "auto":
        return found_target()
    if (name := ALIASES.get(target, target)) not in targets():
        raise unknown_name(f"unknown-{flag}", target, ["auto", *targets()])
    return name


def found_target() -> str:
    """The target of the accelerator in this machine; loopback where there is none.

    Raises PaddockError `no-target-for-card` when the cards found belong to no one target of this
    version.
    """
    from provision.facts.pci import target_for
    from provision.facts.pci_text import collect

    try:
        cards = collect()
    except OSError:  # neither sysfs nor lspci; `doctor` says so
        return "loopback"
    if (name := target_for(cards)) not in targets():
        found = sorted({card.name or f"{card.vendor_name} {card.ids}" for card in cards})
        raise PaddockError("no-target-for-card", card=", ".join(found))
    return name
