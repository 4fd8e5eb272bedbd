"""What system it is: `uname`, /etc/os-release, `ldd --version`, `python --version`."""

from __future__ import annotations

import re

import msgspec

from provision.facts import machine
from provision.facts.texts.section import Section

_ARCH = r"x86_64|aarch64|arm64|loongarch64|riscv64|ppc64le|s390x|i[3-6]86|armv[78]l"
_UNAME = re.compile(
    r"Linux (?P<node>\S{1,255}) (?P<release>[0-9]+\.[0-9]\S{0,100}) (?P<version>#\S.{0,200}?)"
    rf" (?P<machine>{_ARCH})(?: \S{{1,40}}){{0,2}}(?: GNU/Linux)?"
)
_RELEASE = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+[\w.+~-]{0,100}")
_PYTHON = re.compile(r"Python ([23]\.[0-9]{1,2}\.[0-9]{1,2}(?:(?:a|b|rc)[0-9]{1,2})?\+?)")


class Uname(msgspec.Struct, frozen=True):
    """`uname`: the running kernel and the architecture; of `-r` and `-m` one of them."""

    kind: str
    release: str | None
    machine: str | None
    node: str | None = None
    version: str | None = None


class OsRelease(msgspec.Struct, frozen=True):
    """/etc/os-release: `id` such as "ubuntu"; `name` is the whole name; `fields` all of them."""

    kind: str
    id: str
    version_id: str | None
    name: str | None
    fields: dict[str, str]


class Libc(msgspec.Struct, frozen=True):
    """The C library by name and version."""

    kind: str
    name: str
    version: str


class Python(msgspec.Struct, frozen=True):
    """The version of an interpreter; `program` is what was asked, where the command is shown."""

    kind: str
    version: str
    program: str | None


def uname(section: Section) -> Uname | None:
    """`uname -a` anywhere; `-r` and `-m` only below their command, for they print one word."""
    for line in section.lines:
        if match := _UNAME.fullmatch(line.strip()):
            return Uname("uname", match["release"], match["machine"], match["node"],
                         match["version"])  # fmt: skip
    asked = re.fullmatch(r"uname +-(r|m|p|i)", section.command.strip())
    word = section.text.split(None, 1)[0]
    if asked and asked[1] == "r" and _RELEASE.fullmatch(word):
        return Uname("uname", word, None)
    if asked and asked[1] != "r" and re.fullmatch(_ARCH, word):
        return Uname("uname", None, word)
    return None


def os_release(section: Section) -> OsRelease | None:
    """/etc/os-release, known by its id and its whole name or version."""
    lines = [line.strip() for line in section.lines if re.match(r"\s*[A-Z][A-Z0-9_]{0,40}=", line)]
    if len(lines) > 200:  # noqa: PLR2004 - an environment, not this file
        return None
    fields = machine.os_release("\n".join(line for line in lines if len(line) < 1000))  # noqa: PLR2004
    name = fields.get("PRETTY_NAME") or fields.get("NAME")
    if not fields.get("ID") or not name or not {"VERSION_ID", "PRETTY_NAME"} & set(fields):
        return None
    return OsRelease("os-release", fields["ID"], fields.get("VERSION_ID") or None, name, fields)


def libc(section: Section) -> Libc | None:
    """The first line of `ldd --version`, or `getconf GNU_LIBC_VERSION`."""
    for line in section.lines:
        text = line.strip()
        if match := re.fullmatch(r"ldd \(.{1,80}\) ([0-9]\.[0-9]{1,3})", text):
            return Libc("ldd --version", "glibc", match[1])
        if match := re.fullmatch(r"glibc ([0-9]\.[0-9]{1,3})", text):
            return Libc("ldd --version", "glibc", match[1])
        if re.match(r"musl libc \(", text):
            found = re.search(r"^\s*Version ([0-9]\.[0-9.]{1,10})$", section.text, re.MULTILINE)
            return Libc("ldd --version", "musl", found[1]) if found else None
    return None


def python(section: Section) -> Python | None:
    """`python --version`: below its command, or a text of this line alone, for logs hold it too."""
    lines = [line.strip() for line in section.lines if line.strip()]
    asked = re.match(r"(\S+) +(?:-VV?|--version)\b", section.command)
    found = _PYTHON.fullmatch(lines[0]) if lines else None
    if not found or (len(lines) > 1 and not asked):
        return None
    return Python("python --version", found[1], asked[1] if asked else None)
