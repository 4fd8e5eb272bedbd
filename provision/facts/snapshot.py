"""All facts of one machine, read side by side, each with a time limit of its own."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from provision.facts import (
    accounts,
    compilers,
    disk,
    folders,
    installed,
    kernel,
    leftover,
    limits,
    loading,
    machine,
    named_container,
    nodes,
    outputs,
    pci,
    pci_text,
    plugin,
    python_env,
    pythons,
    questions,
    settings,
    variables,
)
from provision.facts.linking import linkage, process_libraries
from provision.facts.nodes import Holders
from provision.network import hide_secrets
from provision.paths import IMAGES
from provision.site import Site
from provision.stack import Stack

T = TypeVar("T")


class Unread(msgspec.Struct, frozen=True):
    """What stands for a fact that could not be read, and why."""

    reason: str


UNASKED = Unread("not collected")
UNSENT = Unread("not sent")  # not among the outputs that somebody sent of a machine


class Python(msgspec.Struct, frozen=True):
    """The running interpreter, and one that fits the stack; None where none was found."""

    running: str
    version: str
    wanted: str
    fitting: str | None
    others: list[str]


class Facts(msgspec.Struct, frozen=True):
    """The machine at one moment. `environment` and what rests on it are None before `provision`.

    `sent`: only outputs that somebody sent tell of it; what none of them shows is not absent.
    """

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
    outputs: list[questions.Output] | Unread = UNASKED
    limits: limits.Limits | Unread = UNASKED
    kernel: kernel.Kernel | Unread = UNASKED
    accounts: accounts.Accounts | Unread = UNASKED
    variables: dict[str, str] | Unread = UNASKED
    folders: list[folders.Folder] | Unread = UNASKED
    nodes: list[nodes.Node] | Unread = UNASKED
    holders: Holders | Unread = UNASKED
    runtime: process_libraries.Runtime | Unread = UNASKED
    linkage: list[linkage.Linkage] | Unread | None = None
    sent: bool = False

    @property
    def foreign(self) -> bool:
        """Whether the environment is not Paddock's: its locks and runs do not apply to it."""
        return isinstance(self.environment, installed.Environment) and not self.environment.own


def cards(root: Path = Path("/")) -> Callable[[], list[pci.Device] | Unread]:
    """Start to read the bus; the result waits for the accelerators on it, as often as called."""
    return _begin(20, lambda: pci_text.collect(root))


def collect(  # noqa: PLR0913, PLR0917 - what there is to look at, each with a value for "as usual"
    stack: Stack, fresh: bool = False, root: Path = Path("/"), container: str = "", env: str = "",
    found: Callable[[], list[pci.Device] | Unread] | None = None,
) -> Facts:  # fmt: skip
    """Read everything about this machine for one target.

    `fresh` repeats what an earlier run has proved; `root` is the prefix of /proc, /sys and /etc.
    With a `container`, its engine is asked about it too; with an `env`, that Python environment is
    read in place of Paddock's own; `found` are the cards, where they are being read already.
    Raises PaddockError `engine-*`, and `bad-option` where there is no such
    container or environment.
    """
    given = _given(env) if env else None
    named = named_container.outputs(container) if container else []
    site = Site(stack.target)
    bus = found or cards(root)
    environment = _begin(30, lambda: given or installed.environment(site))
    readings = {  # the slowest first: the vendors' tools
        "outputs": _begin(120, lambda: outputs.collect(_devices(stack, bus()), root) + named),
        "machine": _begin(10, lambda: machine.collect(root)),
        "disk": _begin(10, disk.collect),
        "python": _begin(60, lambda: _python(stack.python)),
        "compiler": _begin(70, compilers.collect),
        "settings": _begin(10, settings.collect),
        "accelerators": bus,
        "environment": environment,
        "comparison": _begin(40, lambda: None if given else _comparison(environment(), stack)),
        "plugin": _begin(2 * loading.LIMIT + 30, lambda: _plugin(site, given, stack.device, fresh)),
        "leftover": _begin(10, lambda: leftover.collect(site)),
        "limits": _begin(10, lambda: limits.collect(root)),
        "kernel": _begin(20, lambda: kernel.collect(root)),
        "accounts": _begin(10, lambda: accounts.collect(root)),
        "variables": _begin(10, variables.collect),
        "folders": _begin(10, folders.collect),
        "nodes": _begin(10, lambda: nodes.collect(root)),
        "holders": _begin(10, lambda: nodes.holders(root)),
        "runtime": _begin(20, lambda: process_libraries.runtime(os.environ, root)),
        "linkage": _begin(60, lambda: _linkage(site, given)),
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


def _devices(stack: Stack, cards: list[pci.Device] | Unread) -> set[str]:
    """The device types to ask about: the target's, and those of the cards that are there."""
    vendors = set() if isinstance(cards, Unread) else {card.vendor for card in cards}
    return {stack.device} | {one.device for one in pci.catalogue().vendors if one.id in vendors}


def _given(env: str) -> installed.Environment:
    """An environment of the user's own. Raises PaddockError `bad-option`."""
    found = python_env.environment_at(Path(env))
    return msgspec.structs.replace(found, own=False)


def _plugin(
    site: Site, given: installed.Environment | None, device: str, fresh: bool
) -> plugin.Plugin | None:
    """The plugin of the environment; one that was given is asked anew each time."""
    if given is None:
        return plugin.collect(site, device, fresh)
    if given.version is None or not given.site_packages:
        return None
    return plugin.examine(plugin.Place(Path(given.python), Path(given.site_packages)), device)


def _linkage(site: Site, given: installed.Environment | None) -> list[linkage.Linkage] | None:
    """How the device plugins of the environment would link; None without an environment."""
    packages, python = site.site_packages, site.python
    if given:
        packages, python = Path(given.site_packages), Path(given.python)
    if packages is None or (given and not given.site_packages):
        return None
    folder = plugin.plugin_folder(packages)
    files = sorted(folder.glob("*.so")) if folder else []
    host = process_libraries.paddle_host(packages, python)
    return linkage.collect(files, os.environ, host=host)


def _python(wanted: str) -> Python:
    """The running interpreter and, where it does not fit, what else there is."""
    fits = pythons.bounds(wanted)
    fitting = next(pythons.interpreters(fits), None)
    rest = () if fitting else pythons.interpreters(lambda version: not fits(version))
    others = [f"{path} ({a}.{b})" for path, (a, b) in rest]
    version = ".".join(map(str, sys.version_info[:3]))
    return Python(sys.executable, version, wanted, fitting and str(fitting[0]), others)


def _comparison(
    env: installed.Environment | Unread | None, stack: Stack
) -> installed.Comparison | Unread | None:
    """The environment against its lock; None without an environment or without a lock."""
    if isinstance(env, Unread):
        return env
    locks = IMAGES / stack.target / "locks"
    return installed.compare(env, locks, stack.default_release) if env else None
