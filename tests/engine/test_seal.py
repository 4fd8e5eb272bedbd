"""The short cut for a run that has nothing to do: it never claims more than a plan would find."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from provision import seal
from provision.engine import Options, holding
from provision.site import Site


@pytest.fixture
def sealed(home: Path, tmp_path: Path) -> tuple[Options, Path]:
    """A sealed target, and the one file that shows it holds."""
    stack = tmp_path / "stack" / "stack.toml"
    stack.parent.mkdir()
    stack.write_text("one")
    shown = tmp_path / "shown"
    shown.write_text("content")
    options = Options("small", stack=stack)
    options.site.state.mkdir(parents=True)
    status = shown.stat()
    seal.put(
        options.site, options.fingerprint, 7, [(str(shown), status.st_size, status.st_mtime_ns)]
    )
    return options, shown


def other_stack(options: Options, shown: Path) -> Options:
    assert options.stack
    (options.stack.parent / "other.toml").write_text("two")
    return Options("small", stack=options.stack.parent / "other.toml")


def other_release(options: Options, shown: Path) -> Options:
    return Options("small", stack=options.stack, release="2")


def changed_stack(options: Options, shown: Path) -> Options:
    assert options.stack
    options.stack.write_text("three")
    return options


def new_lock(options: Options, shown: Path) -> Options:
    (options.folder / "locks").mkdir()
    (options.folder / "locks" / "new.txt").write_text("")
    return options


def witness_gone(options: Options, shown: Path) -> Options:
    shown.unlink()
    return options


def witness_touched(options: Options, shown: Path) -> Options:
    os.utime(shown, ns=(1, 1))
    return options


def only(options: Options, shown: Path) -> Options:
    return Options("small", stack=options.stack, only=("a/b",))


def lifted(options: Options, shown: Path) -> Options:
    seal.lift(options.site)
    return options


def test_a_seal_holds_as_long_as_nothing_changes(sealed: tuple[Options, Path]) -> None:
    options, _ = sealed
    assert holding(options) == holding(Options("small", stack=options.stack)) == 7


@pytest.mark.parametrize(
    "change",
    [
        other_stack,
        other_release,
        changed_stack,
        new_lock,
        witness_gone,
        witness_touched,
        only,
        lifted,
    ],
    ids=lambda change: change.__name__,
)
def test_any_change_breaks_it(
    sealed: tuple[Options, Path], change: Callable[[Options, Path], Options]
) -> None:
    assert holding(change(*sealed)) is None


def test_two_stacks_of_one_folder_have_different_seals(sealed: tuple[Options, Path]) -> None:
    options, _ = sealed
    other = other_stack(*sealed)
    assert options.fingerprint != other.fingerprint


def test_a_link_that_leads_nowhere_counts_by_its_name(sealed: tuple[Options, Path]) -> None:
    options, _ = sealed
    before, link = options.fingerprint, options.folder / "gone"
    link.symlink_to("nowhere")
    assert options.fingerprint == options.fingerprint != before


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"7", b"null", b'{"fingerprint": 1}', b"\xff", b'{"steps": "x"}']
)
def test_a_damaged_seal_is_none(home: Path, content: bytes) -> None:
    site = Site("small")
    site.state.mkdir(parents=True)
    (site.state / "seal.json").write_bytes(content)
    assert seal.holds(site, "x") is None


@pytest.mark.parametrize("witnesses", ["7", "[7]", '[["/", 1]]', '[["/nowhere", 1, 1]]'])
def test_damaged_witnesses_do_not_hold(home: Path, witnesses: str) -> None:
    site = Site("small")
    site.state.mkdir(parents=True)
    text = f'{{"fingerprint": "x", "steps": 1, "witnesses": {witnesses}}}'
    (site.state / "seal.json").write_text(text)
    assert seal.holds(site, "x") is None
