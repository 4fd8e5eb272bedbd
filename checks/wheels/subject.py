"""What is asked about a wheel: its contents, the environment that it is for, and how it links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from checks.wheels.contents import Contents
from provision.distributions import normal
from provision.facts.linking.linkage import Linkage, Needed
from provision.facts.loading import Loaded
from provision.facts.snapshot import Facts

# PEP 427, with the legacy versions that old tools have made.
_NAME = re.compile(r"(?P<name>[^\s-]+)-(?P<version>[^\s-]+)(?:-\d[^\s-]*)?"
                   r"-(?P<python>[\w.]+)-(?P<abi>[\w.]+)-(?P<platform>[\w.]+)\.whl")  # fmt: skip
_TYPES = {"cpu": "custom_cpu"}  # where the type has another name than the package
_PLUGIN = re.compile(r"paddle_custom_device/[^/]+\.so$")


class Name(msgspec.Struct, frozen=True):
    """What the name of a file says, part by part; the tags may each be several, with dots."""

    name: str
    version: str
    python: str
    abi: str
    platform: str

    @property
    def tags(self) -> list[str]:
        """Each tag alone, such as `cp310-cp310-linux_x86_64`; its case does not count."""
        sets = (part.lower() for part in (self.python, self.abi, self.platform))
        pythons, abis, platforms = (part.split(".") for part in sets)
        return [f"{a}-{b}-{c}" for a in pythons for b in abis for c in platforms]


def parsed(file: str) -> Name | None:
    """The parts of a wheel's file name; None for a name that is no wheel's."""
    match = _NAME.fullmatch(file)
    return Name(**match.groupdict()) if match else None


class Trial(msgspec.Struct, frozen=True):
    """What came of a trial: the installer's refusal, or else the import.

    `untried` is why it could not be tried, which is not the wheel's fault, "" where it was. `known`
    is an entry of the catalogue of failures with its cause, "" for none.
    """

    untried: str = ""
    refused: list[str] = []
    loaded: Loaded | None = None
    known: str = ""


@dataclass(frozen=True)
class Subject:
    """A wheel that was read, in the environment `facts.environment` (None: there is none).

    `site` is the folder in which its libraries stand as they would when installed; `paddle` is the
    version of Paddle there, None for none, `python` that of its Python. `apart` are the libraries
    that nobody can expect on this machine, which `linkage` leaves out. `trial` is what an import
    made of it, None where nobody asked for one; `rivals` are the other wheels examined with it.
    """

    path: Path
    name: Name | None
    contents: Contents
    facts: Facts
    site: Path
    paddle: str | None
    python: str
    linkage: list[Linkage]
    apart: list[Needed]
    rivals: tuple[Path, ...] = ()
    trial: Trial | None = None

    @property
    def is_plugin(self) -> bool:
        """Whether it brings a device plugin of Paddle."""
        return any(_PLUGIN.match(str(name)) for name in self.contents.libraries)

    @property
    def where(self) -> str:
        """What it is held against: the Python of that environment, "-" for none."""
        return getattr(self.facts.environment, "python", "-")

    @property
    def metadata(self) -> dict[str, list[str]]:
        """The fields of METADATA, by name in small letters."""
        head = self.contents.texts.get("METADATA", "").partition("\n\n")[0]
        return fields(head)


def fields(text: str) -> dict[str, list[str]]:
    """The fields of a file such as METADATA or WHEEL."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and not line.startswith((" ", "\t")):
            found.setdefault(name.lower(), []).append(value.strip())
    return found


def device_of(file: str) -> str:
    """The device type that a plugin's file name speaks of, such as `npu`; "" for none."""
    name = normal(file.partition("-")[0])
    device = name.removeprefix("paddle-custom-") if name.startswith("paddle-custom-") else ""
    return _TYPES.get(device, device)
