"""Version files of driver, firmware, CANN and its parts; several in one text are told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from provision.facts.texts.section import Section

_KEY = re.compile(r"^\s*(?P<key>[A-Za-z][\w.-]{0,60}) ?= ?(?P<value>.*)$")
_ATB = re.compile(r"^\s*(?P<key>Ascend-cann-[a-z]{2,20}) *: *(?P<value>[0-9]\S{0,40})$")
_RUNNING = re.compile(r"\[([^\]:]{1,40}):([^\]]{1,40})\]")
_CHIP = re.compile(r"kernels-(?P<old>\w+)|(?P<new>\w+)-ops\b|Atlas-(?P<a3>A3)-cann-kernels", re.I)
_LIST = re.compile(r"\[([^\]]{0,200})\]")

# What kind of file it is: the first row whose keys (lower case) are all there.
_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("driver version.info", ("version", "compatible_version_fw")),
    ("driver version.info", ("version", "ascendhal_version")),
    ("firmware version.info", ("version", "compatible_version_drv")),
    ("firmware version.info", ("version", "firmware_version")),
    ("cann install.info", ("package_name", "version")),
    ("ascend_install.info", ("driver_install_path_param",)),
    ("ascend_install.info", ("firmware_install_path_param",)),
    ("ascend_install.info", ("username", "usergroup")),
    ("ascend_docker_runtime_install.info", ("version", "arch", "path", "build")),
    ("cann version.info", ("version", "version_dir")),
    ("cann version.info", ("version", "timestamp")),
)


class VersionFile(msgspec.Struct):
    """One file. `ranges` are the lowest and highest version that it says it works with:

    of the firmware in a driver's file, of the driver in a firmware's. `compatible` are inner
    versions. `chip` is what a package of kernels is for, `components` those of a `version.cfg`
    with the CANN version of each; `fields` is all that was printed.
    """

    kind: str
    package: str | None = None
    version: str | None = None
    inner_version: str | None = None
    package_version: str | None = None
    chip: str | None = None
    arch: str | None = None
    path: str | None = None
    ranges: list[tuple[str, str]] = []
    compatible: list[str] = []
    components: dict[str, str] = {}
    fields: dict[str, str] = {}


def parse(section: Section) -> list[VersionFile]:
    """The files of a section."""
    files = [made for fields in _groups(section) if (made := _file(fields, section.command))]
    matches = [match for line in section.lines if (match := _ATB.match(line))]
    fields: dict[str, str] = {match["key"]: match["value"] for match in matches}
    files += [VersionFile("nnal version.info", package=name, version=version, fields=fields)
              for name, version in fields.items()]  # fmt: skip
    return files


def _groups(section: Section) -> Iterator[dict[str, str]]:
    """Runs of `key=value` lines; a new one begins at another line and before a repeated key."""
    fields: dict[str, str] = {}
    for line in section.lines:
        match = _KEY.match(line) if len(line) < 2000 else None  # noqa: PLR2004
        match = None if match and re.search(r"[$`]", match["value"]) else match  # a script
        is_comment = line.startswith("#") or not line.strip()
        if fields and ((not match and not is_comment) or (match and match["key"] in fields)):
            yield fields
            fields = {}
        if match:
            fields[match["key"]] = match["value"].strip().strip("\"'")
    if fields:
        yield fields


def _file(fields: dict[str, str], command: str) -> VersionFile | None:
    """A file of a known kind."""
    low = {key.lower(): value for key, value in fields.items()}
    running = {
        key.removesuffix("_running_version"): match[2]
        for key, value in fields.items()
        if key.endswith("_running_version") and (match := _RUNNING.search(value))
    }
    if running:
        return VersionFile("cann version.cfg", components=running, fields=fields)
    kind = next((kind for kind, keys in _KINDS if all(key in low for key in keys)), None)
    if not kind and "version" in low and re.search(r"version\.info|install\.info", command):
        kind = "version.info"
    if not kind:
        return None
    chip = _CHIP.search(low.get("package_name", ""))
    ranges = low.get("compatible_version_fw") or low.get("compatible_version_drv") or ""
    return VersionFile(
        kind, low.get("package_name"), low.get("version") or None, low.get("innerversion"),
        low.get("package_version"), next(filter(None, chip.groups())).lower() if chip else None,
        low.get("arch"), low.get("path") or low.get("driver_install_path_param"),
        _ranges(ranges), _flat(low.get("compatible_version", "")), {}, fields,
    )  # fmt: skip


def _ranges(text: str) -> list[tuple[str, str]]:
    """Ranges such as `[7.0.0,7.1.99],[7.3.0,7.3.9]`; one that is no pair is left out."""
    parts = [match.split(",") for match in _LIST.findall(text)]
    return [(part[0].strip(), part[1].strip()) for part in parts if len(part) == 2]  # noqa: PLR2004


def _flat(text: str) -> list[str]:
    """The versions of `[A],[B]` or `[A,B],[C]`."""
    return [one.strip() for part in _LIST.findall(text) for one in part.split(",") if one.strip()]
