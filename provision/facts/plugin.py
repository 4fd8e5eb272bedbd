"""The state of Paddle's device plugin: a look at its files, then a real load under a time limit."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from provision.facts.linking import elf
from provision.facts.loading import Loaded, Verdict, load
from provision.facts.proof import Proof
from provision.journal import Witness
from provision.site import Site

# What can change how the plugin loads without any file changing.
_VARIABLES = ("CUSTOM_DEVICE_", "LOOPBACK_", "FLAGS_", "LD_", "PYTHON")
_PADDLE = ("base/libpaddle.so", "libs/libphi_core.so", "libs/libphi.so", "libs/libcommon.so")


class Plugin(msgspec.Struct, frozen=True):
    """The verdict on the plugins of an environment.

    `line` is the evidence, `where` its origin; `hints` is what the files alone tell, `said` what
    the plugin itself printed before it was skipped; `types` are the device types that registered,
    and `host_memory` those that a plugin of ours serves there; `proved` is when a remembered load
    took place (seconds since 1970), None for one of now or for a verdict from the files.
    """

    verdict: Verdict
    line: str
    where: str
    folder: str
    files: list[str]
    hints: list[str]
    said: list[str] = []
    types: list[str] = []
    host_memory: list[str] = []
    proved: float | None = None


class Place(msgspec.Struct, frozen=True):
    """An interpreter, the folder of its packages with Paddle, and the file that keeps the proof.

    Without such a file (None) nothing is remembered, as for an environment of the user's own.
    """

    python: Path
    packages: Path
    proof: Path | None = None


def collect(site: Site, device: str, fresh: bool = False) -> Plugin | None:
    """The plugin of a target's environment; None while there is no environment."""
    packages = site.site_packages
    if packages is None:
        return None
    return examine(Place(site.python, packages, site.state / "plugin.json"), device, fresh)


def examine(place: Place, device: str, fresh: bool = False) -> Plugin:
    """The plugin of any environment with Paddle.

    A load that succeeded is remembered while all that it rests on is unchanged; `fresh` repeats it.
    """
    packages = place.packages
    folder = plugin_folder(packages)
    files = sorted(folder.glob("*.so")) if folder else []
    libraries = [elf.read(path, "PD_") for path in files]
    hints = [hint for library in libraries for hint in _hints(library, packages / "paddle")]
    looked = Plugin("unknown", "", "", str(folder or ""), [str(path) for path in files], hints)
    if not files:
        line = f"no *.so in {folder}" if folder else "CUSTOM_DEVICE_ROOT is set to nothing"
        return _with(looked, Loaded("absent", line, "files"))
    if broken := next((library for library in libraries if library.problem), None):
        return _with(looked, Loaded("broken", f"{broken.path}: {broken.problem}", "files"))
    return _tried(looked, place, device, fresh)


def plugin_folder(site_packages: Path) -> Path | None:
    """Where Paddle looks for plugins; None when CUSTOM_DEVICE_ROOT is set, but to nothing."""
    root = os.environ.get("CUSTOM_DEVICE_ROOT")
    if root is None:
        return site_packages / "paddle_custom_device"
    return Path(root) if root else None


def _tried(looked: Plugin, place: Place, device: str, fresh: bool) -> Plugin:
    """The verdict of a load, remembered or of now."""
    if place.proof is None:
        return _with(looked, load(place.python, device))
    proof = Proof(place.proof, _conditions(device), _witnesses(looked, place))
    known = None if fresh else proof.recall(Loaded)
    if known:
        return msgspec.structs.replace(_with(looked, known.value), proved=known.time)
    made = load(place.python, device)
    if made.verdict == "loads":
        proof.keep(made)
    return _with(looked, made)


def _with(looked: Plugin, made: Loaded) -> Plugin:
    names = ("verdict", "line", "where", "types", "said", "host_memory")
    found = {name: getattr(made, name) for name in names}
    return msgspec.structs.replace(looked, **found)


def _conditions(device: str) -> dict[str, str]:
    """The device type that was asked for, and a digest of the variables that a load depends on.

    A digest, since a variable may hold what must not be written down.
    """
    named = sorted(item for item in os.environ.items() if item[0].startswith(_VARIABLES))
    digest = hashlib.sha256(repr(named).encode("utf-8", "surrogateescape"))
    return {"device": device, "variables": digest.hexdigest()}


def _witnesses(looked: Plugin, place: Place) -> list[Witness]:
    """The files that a load depends on, as they are now."""
    packages = place.packages
    paths = [place.python, *map(Path, looked.files)]
    paths += [packages / "paddle" / name for name in _PADDLE]
    paths += sorted(packages.glob("paddlepaddle*.dist-info/RECORD"))
    return [Witness.of(path) for path in paths if path.is_file()]


def _hints(library: elf.Library, paddle: Path) -> list[str]:
    """What the symbols say: the plugin asks for one that it will not find in what it links."""
    if not library.undefined:
        return []
    providers = [paddle / name for name in _PADDLE if (paddle / name).is_file()]
    try:
        found = {path.name: elf.provided(path, library.undefined) for path in providers}
        linked = _linked(library, providers)
    except Exception:  # a damaged Paddle: the load will say so
        return []
    name = Path(library.path).name
    everywhere = set[str]().union(*found.values())
    within = set[str]().union(*(found[provider] for provider in linked))
    hints = []
    if missing := sorted(set(library.undefined) - everywhere):
        hints.append(f"{name} needs {missing[0]}, which no library of this Paddle has")
    if loose := sorted(everywhere - within):
        where = next(provider for provider in found if loose[0] in found[provider])
        hints.append(f"{name} needs {loose[0]} of {where}, but does not link it (NEEDED)")
    return hints


def _linked(library: elf.Library, providers: list[Path]) -> set[str]:
    """The names of Paddle's libraries that a plugin pulls in, directly or through another."""
    needs = {path.name: elf.needed(path) for path in providers}
    reached: set[str] = set()
    waiting = [name for name in library.needed if name in needs]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [other for other in needs[name] if other in needs]
    return reached
