"""Lists of packages: `dpkg -l`, `dpkg-query -W`, `rpm -qa`, `pip list`, `pip freeze`."""

from __future__ import annotations

import re
from urllib.parse import unquote

import msgspec

from provision.facts.texts import json_text
from provision.facts.texts.blocks import pairs
from provision.facts.texts.section import Section

_DPKG = re.compile(
    r"^\s*(?P<state>[uihrp][ncHUFWti][R ]?) +(?P<name>[a-z0-9][\w.+-]+)(?::(?P<own>\w+))? +"
    r"(?P<version>[0-9]\S*)(?: +(?P<arch>[a-z0-9-]+))?(?: .*)?$"
)
_RPM = re.compile(
    r"^\s*(?P<name>[\w.+-]+)-(?P<version>[\w.~^+:]+-[\w.~^+]+)\."
    r"(?P<arch>x86_64|aarch64|noarch|i[3-6]86)$"
)
_QUERY = re.compile(r"^\s*(?P<name>[a-z0-9][\w.+-]+)(?::\w+)?\s+(?P<version>[0-9]\S*)$")
_FROZEN = re.compile(
    r"^\s*(?:\[pip3?\] )?(?P<name>[A-Za-z0-9][\w.-]*(?:\[[\w,]+\])?)"
    r"==(?P<version>[0-9]\S*?) *(?:;.*)?$"
)
_WHEEL = re.compile(  # `pip freeze` of what was installed from a file
    r"^\s*(?P<name>[A-Za-z0-9][\w.-]*) @ \S*/[A-Za-z0-9][\w.]*-"
    r"(?P<version>[0-9][\w.+!%]*)-[\w.-]+\.whl"
)
_LISTED = re.compile(
    r"^\s*(?P<name>[A-Za-z0-9_][\w.-]*) +\(?(?P<version>[0-9v][\w.+!-]*)\)?(?: +\S.*)?$"
)


class Package(msgspec.Struct):
    """A package. `state` is dpkg's (`ii`: installed), None elsewhere."""

    name: str
    version: str
    arch: str | None = None
    state: str | None = None


class Packages(msgspec.Struct):
    """`kind` is the command that makes such a list."""

    kind: str
    packages: list[Package]


def dpkg(section: Section) -> Packages | None:
    """`dpkg -l`, in any language; `dpkg-query -W` when its command is shown."""
    lines = [line for line in section.lines if len(line) < 1000]  # noqa: PLR2004
    found = [Package(m["name"], m["version"], m["arch"] or m["own"], m["state"].strip())
             for line in lines if (m := _DPKG.match(line))]  # fmt: skip
    if not found and re.search(r"dpkg-query +-W", section.command):
        found = [Package(m["name"], m["version"]) for line in lines if (m := _QUERY.match(line))]
    return Packages("dpkg -l", found) if found else None


def rpm(section: Section) -> Packages | None:
    """`rpm -qa`."""
    matches = [m for line in section.lines if len(line) < 300 and (m := _RPM.match(line))]  # noqa: PLR2004
    found = [Package(m["name"], m["version"], m["arch"]) for m in matches]
    return Packages("rpm -qa", found) if found else None


def pip(section: Section) -> Packages | None:
    """`pip list` in its formats: below its heading, as `name==version`, or as JSON."""
    frozen = [Package(m["name"], unquote(m["version"])) for line in section.lines
              if len(line) < 500 and (m := _FROZEN.match(line) or _WHEEL.match(line))]  # noqa: PLR2004  # fmt: skip
    listed = Packages("pip list", frozen) if frozen else None
    return _table(section) or listed or _shown(section) or _json(section)


def _shown(section: Section) -> Packages | None:
    """`pip show`: a block of fields a package."""
    found = [Package(block["Name"], block["Version"]) for block in pairs(section.lines)
             if block.get("Name") and block.get("Version")
             and {"Summary", "Location"} <= set(block)]  # fmt: skip
    return Packages("pip list", found) if found else None


def _table(section: Section) -> Packages | None:
    """The table of names and versions; without its heading only when the command is shown."""
    began = bool(re.search(r"\bpip3?\b.* list\b", section.command))
    found: list[Package] = []
    kind = "pip list"
    for line in section.lines:
        if heading := re.match(r"\s*(?:Package|(?P<conda>(?:# +)?Name)) +Version\b", line):
            began = True
            kind = "conda list" if heading["conda"] else "pip list"
        elif found and not line.strip():
            began = False
        elif began and len(line) < 500 and (m := _LISTED.match(line)):  # noqa: PLR2004
            found.append(Package(m["name"], m["version"]))
    return Packages(kind, found) if found else None


def _json(section: Section) -> Packages | None:
    """`pip list --format json`: a list of objects with a name and a version."""
    rows = [row for value in json_text.documents(section.lines) for row in json_text.array(value)]
    pairs = [(row.get("name"), row.get("version")) for row in map(json_text.mapping, rows)]
    found = [Package(name, version) for name, version in pairs
             if isinstance(name, str) and isinstance(version, str)]  # fmt: skip
    return Packages("pip list", found) if found else None
