"""`provision --rehearse`: a whole run on a simulated machine, over its reboot."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from provision.errors import MACHINE
from provision.stack import load, stack_file
from provision.stream import say
from provision.words import language, text
from tests.lab import kept
from tests.lab.machine import running
from tests.lab.vendor import deps
from tests.lab.vendor.bare import DEPS, Bare
from tests.lab.vendor.engined import BASE

_PID = "/run/rehearsal.pid"
# An interrupt of the client would leave what runs in the container at work.
_STOP = f"kill -INT $(cat {_PID}) && timeout 20 tail --pid=$(cat {_PID}) -f /dev/null"


def rehearse(target: str, flags: Sequence[str]) -> int:
    """Run `provision` with these flags there. Returns its exit status.

    A machine that `lab up` has started is used and stays; else one is made, and removed after.
    Raises PaddockError `unknown-release`, before anything is made.
    """
    json = "--json" in flags
    given = dict(itertools.pairwise(flags))  # a flag, and what follows it
    command = ["./paddock", "provision", "--target", target, "--deps", DEPS, *flags]
    variant = kept.BARE
    if given.get("--in") == "container":
        variant = kept.ENGINE
        command += ["--image", BASE]
    with _machine(kept.checked(target, variant), given.get("--release", ""), json=json) as machine:
        said, status = _run(machine, command, json=json)
        if status == MACHINE and machine.awaits_reboot():
            _tell(text("rehearsal.reboot"), json=json)
            machine.reboot()
            said, status = _run(machine, command, json=json)
    for line in said.splitlines():
        say(sys.stdout, line)
    return status


@contextlib.contextmanager
def _machine(one: kept.Kept, release: str, *, json: bool) -> Iterator[Bare]:
    """The machine to rehearse on; what it is stands in the first lines."""
    target, there = one.target, kept.machines()
    load(stack_file(target)).release(release or None)
    if one in there:
        _tell(text("rehearsal.kept", target=target, name=one.name), json=json)
        _tell_more(one, json=json)
        kept.wake(one)
        deps.fill(target, one.bare.deps, release)
        yield one.bare
        return
    _tell(text("rehearsal.fresh", target=target), json=json)
    _tell_more(one, json=json)
    if one.variant == kept.ENGINE and (other := kept.checked(target, kept.BARE)) in there:
        _tell(text("rehearsal.no-engine", name=other.name), json=json)
    with _fresh(one, release) as machine:
        yield machine
    _tell(text("rehearsal.removed", target=target, variant=one.variant), json=json)


def _tell_more(one: kept.Kept, *, json: bool) -> None:
    """What else is simulated where a container is rehearsed."""
    if one.variant == kept.ENGINE:
        _tell(text("rehearsal.image", image=BASE), json=json)


@contextlib.contextmanager
def _fresh(one: kept.Kept, release: str) -> Iterator[Bare]:
    """A machine of this run alone. Nothing interrupts its removal."""
    with tempfile.TemporaryDirectory(prefix="paddock-lab-") as scratch:
        folder = Path(scratch)
        made = kept.recipe(one, folder)
        mark = kept.label(one.target, kept.REHEARSAL)
        with running(made.image, mark, *made.options) as machine:
            try:
                kept.prepare(machine, made, one, folder, release)
                yield one.running(machine.name, folder)
            finally:
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, signal.SIG_IGN)


def _run(machine: Bare, command: Sequence[str], *, json: bool) -> tuple[str, int]:
    """Run it with its output passed on; with `json` the output is returned instead."""
    terminal = ["-it"] if sys.stdin.isatty() and sys.stdout.isatty() and not json else []
    variables = {"PADDOCK_LANG": language(), "TERM": os.environ.get("TERM", "dumb")}
    given = [f"--env={name}={value}" for name, value in variables.items()]
    script = f'echo $$ >{_PID}; exec "$@"'
    argv = ["docker", "exec", *terminal, *given, "-w", machine.checkout, machine.name,
            "sh", "-c", script, "sh", *command]  # fmt: skip
    try:
        done = subprocess.run(
            argv, stdout=subprocess.PIPE if json else None, text=True, check=False
        )
    except KeyboardInterrupt:
        machine.run(_STOP)
        raise
    return done.stdout or "", done.returncode


def _tell(line: str, *, json: bool) -> None:
    """One line about the rehearsal, apart from a JSON document."""
    say(sys.stderr if json else sys.stdout, line)
