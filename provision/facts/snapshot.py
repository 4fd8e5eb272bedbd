"""All facts of one machine, read side by side, each with a time limit of its own."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from provision.facts import (
    compilers,
    disk,
    installed,
    leftover,
    loading,
    machine,
    pci,
    plugin,
    pythons,
    settings,
)
from provision.network import hide_secrets
from provision.paths import IMAGES
from provision.site import Site
from provision.stack import Stack

T = TypeVar("T")


class Unread(msgspec.Struct, frozen=True):
    """What stands for a fact that could not be read, and why."""

    reason: str


class Python(msgspec.Struct, frozen=True):
    """The running interpreter, and one that fits the stack; None where none was found."""

    running: str
    version: str
    wanted: str
    fitting: str | None
    others: list[str]


class Facts(msgspec.Struct, frozen=True):
    """The machine at one moment. `environment` and what rests on it are None before `provision`."""

    target: str
    device: str
    stack: Stack
    machine: machine.Machine | Unread
    disk: list[disk.Room] | Unread
    python: Python | Unread
    compiler: compilers.Compiler | Unread | None
    settings: settings.Settings | Unread
    accelerators: list[pci.Device] | Unread
    environment: installed.Environment | Unread | None
    comparison: installed.Comparison | Unread | None
    plugin: plugin.Plugin | Unread | None
    leftover: leftover.Leftover | Unread


def collect(stack: Stack, fresh: bool = False, root: Path = Path("/")) -> Facts:
    """Read everything about this machine for one target.

    `fresh` repeats what an earlier run has proved; `root` is the prefix of /proc, /sys and /etc.
    """
    site = Site(stack.target)
    readings = {
        "machine": _begin(10, lambda: machine.collect(root)),
        "disk": _begin(10, disk.collect),
        "python": _begin(60, lambda: _python(stack.python)),
        "compiler": _begin(70, compilers.collect),
        "settings": _begin(10, settings.collect),
        "accelerators": _begin(10, lambda: pci.devices(root)),
        "environment": _begin(30, lambda: installed.environment(site)),
        "comparison": _begin(30, lambda: _comparison(site, stack)),
        "plugin": _begin(2 * loading.LIMIT + 30, lambda: plugin.collect(site, stack.device, fresh)),
        "leftover": _begin(10, lambda: leftover.collect(site)),
    }
    values = {name: reading() for name, reading in readings.items()}
    return Facts(stack.target, stack.device, stack, **values)  # type: ignore[arg-type]


def _begin(limit: float, read: Callable[[], T]) -> Callable[[], T | Unread]:
    """Start to read; the result waits for the value, at most `limit` seconds.

    The thread is a daemon: one that hangs (a dead network disk) does not keep the tool from ending.
    """
    outcome: list[T | Unread] = []

    def work() -> None:
        try:
            outcome.append(read())
        except Exception as error:  # whatever went wrong, it is a fact that could not be read
            outcome.append(Unread(hide_secrets(f"{type(error).__name__}: {error}")))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def finish() -> T | Unread:
        thread.join(limit)
        return outcome[0] if outcome else Unread(f"no answer within {limit:.0f} s")

    return finish


def _python(wanted: str) -> Python:
    """The running interpreter and, where it does not fit, what else there is."""
    fits = bounds(wanted)
    fitting = next(pythons.interpreters(fits), None)
    others = [] if fitting else [f"{path} ({a}.{b})" for path, (a, b) in pythons.interpreters()]
    version = ".".join(map(str, sys.version_info[:3]))
    return Python(sys.executable, version, wanted, fitting and str(fitting[0]), others)


def bounds(specifier: str) -> Callable[[pythons.Version], bool]:
    """Whether a Python version is within a specifier such as `>=3.10,<3.13`."""
    plain = [part for part in specifier.split(",") if part.startswith((">=3.", "<3."))]
    if plain == specifier.split(","):  # the usual form, without the cost of importing packaging
        least = [int(part[4:]) for part in plain if part.startswith(">=")]
        below = [int(part[3:]) for part in plain if part.startswith("<3")]
        return lambda version: max(least, default=0) <= version[1] < min(below, default=1000)
    from packaging.specifiers import SpecifierSet

    exact = SpecifierSet(specifier)
    return lambda version: "{}.{}".format(*version) in exact


def _comparison(site: Site, stack: Stack) -> installed.Comparison | None:
    """The environment against its lock; None without an environment or without a lock."""
    env = installed.environment(site)
    locks = IMAGES / stack.target / "locks"
    return installed.compare(env, locks, stack.default_release) if env else None
