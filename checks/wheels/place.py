"""Where a wheel would be installed: an environment with its Paddle, and a copy of it by links."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec

from checks.machine.environment import frameworks
from checks.wheels.subject import device_of
from provision import stack
from provision.arguments import ALIASES, found_target, named
from provision.distributions import normal
from provision.facts.installed import Environment
from provision.facts.linking import linkage, process_libraries
from provision.facts.python_env import environment_at
from provision.facts.snapshot import UNASKED, Facts
from provision.paths import targets
from provision.run import clean
from provision.site import Site
from provision.wheels import recipe

_INFO = (".dist-info", ".egg-info")


class Place(msgspec.Struct, frozen=True):
    """The environment that a wheel is for; None where there is none. `device` is Paddle's name.

    `libraries` are the vendor's folders of libraries, as a path of the loader.
    """

    target: str
    device: str
    environment: Environment | None
    libraries: str = ""

    @property
    def paddle(self) -> str | None:
        """The version of Paddle in it; None where there is not just one."""
        builds = list(frameworks(self.environment).values()) if self.environment else []
        return builds[0] if len(builds) == 1 else None

    @property
    def folders(self) -> list[Path]:
        """Where its packages are, in the order in which they are looked for."""
        return [Path(folder) for folder in self.environment.folders] if self.environment else []

    @property
    def python(self) -> str:
        """The version of its Python, else of the running one, such as `3.11.2`."""
        own = self.environment.version if self.environment else None
        return own or ".".join(map(str, sys.version_info[:3]))

    def variables(self) -> dict[str, str]:
        """The variables of a process there; the vendor's libraries are found as at a build."""
        found = clean(os.environ)
        paths = ":".join(filter(None, [self.libraries, found.get("LD_LIBRARY_PATH")]))
        return {**found, "LD_LIBRARY_PATH": paths} if paths else found


def find(file: str, target: str, env: str) -> Place:
    """The place of a wheel: the environment asked for, else the target's own one.

    `target` may be `auto`: the one that the wheel's name speaks of, else that of this machine.
    Raises PaddockError `bad-option` for `env`, `unknown-target`, `no-target-for-card`.
    """
    device = device_of(file)
    if target == "auto":
        wanted = ALIASES.get(device, device)
        target = wanted if wanted in targets() else found_target()
    name = named(target)
    own = Site(name).env
    there = None
    if env or own.exists():
        given = environment_at(Path(env) if env else own)
        there = msgspec.structs.replace(given, own=False)
    own_device = device or stack.load(stack.stack_file(name)).device
    return Place(name, own_device, there, _libraries(device))


def _libraries(device: str) -> str:
    """The folders that the recipe of a device names and that are here."""
    if device not in recipe.names():
        return ""
    found = recipe.load(device)
    folders = [folder.format_map(found.vendor_folders()) for folder in found.libraries]
    return ":".join(folder for folder in folders if Path(folder).is_dir())


def overlay(site: Path, place: Place, files: Iterable[PurePosixPath], name: str) -> None:
    """Let a new folder have the packages of the place by links, but for what the wheel brings.

    So nothing that is then written there for the wheel can reach the environment itself. `files`
    are those of the wheel, `name` is its distribution's.
    """
    own = {file.parts[0] for file in files}
    for number, folder in enumerate(place.folders):
        # Each link leads over this one, and so is short: ext4 keeps up to 59 bytes in the inode,
        # and takes two milliseconds to remove a longer one.
        near = site.parent / f"packages{number}"
        near.symlink_to(folder)
        for entry in os.scandir(folder):
            is_older = entry.name.endswith(_INFO) and _distribution(entry.name) == normal(name)
            there = site / entry.name
            if entry.name not in own and not is_older and not os.path.lexists(there):
                there.symlink_to(Path("..", near.name, entry.name))


def _distribution(folder: str) -> str:
    return normal(folder.rpartition(".")[0].partition("-")[0])


def linked(files: Iterable[Path], site: Path, place: Place) -> list[linkage.Linkage]:
    """How libraries in such a folder would link, in a process that has imported its Paddle."""
    host = process_libraries.NOBODY
    if place.environment:
        host = process_libraries.paddle_host(site, Path(place.environment.python))
    return linkage.collect(list(files), place.variables(), host=host, alone=_is_opened)


def _is_opened(library: Path) -> bool:
    """Whether Paddle or Python opens a library of a wheel, not only another library of it."""
    is_module = re.search(r"\.(cpython-[\w-]+|abi3)\.so$", library.name)
    return library.parent.name == "paddle_custom_device" or bool(is_module)


def facts(place: Place, links: list[linkage.Linkage], name: str, version: str) -> Facts:
    """The place as the checks of the doctor know it, with the wheel installed there."""
    there = place.environment
    if there:
        packages = {**there.packages, normal(name): version}
        there = msgspec.structs.replace(there, packages=packages)
    loaded = stack.load(stack.stack_file(place.target))
    return Facts(
        place.target, place.device, loaded, UNASKED, UNASKED, UNASKED, UNASKED, UNASKED, UNASKED,
        there, None, None, UNASKED, outputs=[], linkage=links,
        runtime=process_libraries.runtime(place.variables()),
    )  # fmt: skip
