"""Environments: `env`, `printenv`, `export -p`."""

from __future__ import annotations

import re
import shlex

import msgspec

from provision.facts.texts.section import Section
from provision.network import hide_secrets, is_secret

_COMMAND = re.compile(
    r"(?:sudo +|(?:docker|podman|kubectl) exec .{1,200} )?"
    r"(?:env|printenv|export|declare|set)(?: +-\w+)?(?: *\|.*)?"
)
_PLAIN = re.compile(r"(?P<name>[A-Za-z_][\w.]{0,120})=(?P<value>.*)")
_EXPORT = re.compile(r"(?:export|declare -\w*x\w*) (?P<name>[A-Za-z_]\w{0,120})=(?P<value>.*)")
_TELLING = {"PATH", "HOME", "PWD", "USER", "SHLVL", "SHELL", "HOSTNAME", "LOGNAME"}
_OURS = re.compile(  # of a list that was filtered: all names are of this kind
    r"(?:ASCEND|HCCL|FLAGS|CUSTOM_DEVICE|TOPS|ENFLAME|ECCL|GCU|PADDLE|NPU|ACL|TORCH|LD|ATB|OMP)_\w+"
    r"|(?:PYTHON)?PATH|\w+_(?:HOME|PATH|ROOT|VISIBLE_DEVICES)|\w+_PROXY|\w+_proxy"
)
_LONGEST = 100_000  # characters of a line


class Environment(msgspec.Struct, frozen=True):
    """Variables. `***` stands for a value that looks secret, and in addresses for a password."""

    kind: str
    variables: dict[str, str]


def parse(section: Section) -> Environment | None:
    """An environment: below its command, or known by the variables that all of them have.

    A script with `export` lines is none: its values refer to others.
    """
    asked = bool(_COMMAND.fullmatch(section.command.strip()))
    lines = [line for line in section.lines if line.strip()]
    pairs = [pair for line in lines if (pair := _pair(line))]
    if not pairs or (section.command and not asked):
        return None
    names = {name for name, _ in pairs}
    if not (asked or _whole(names, len(pairs), len(lines)) or _filtered(names, len(lines))):
        return None
    return Environment("env", {name: safe(name, value) for name, value in pairs})


def _whole(names: set[str], pairs: int, lines: int) -> bool:
    """A whole environment: mostly assignments, the usual ones among them."""
    return "PATH" in names and len(names & _TELLING) > 2 and pairs * 2 > lines  # noqa: PLR2004


def _filtered(names: set[str], lines: int) -> bool:
    """What `grep` left of one: nothing but variables of accelerators and paths."""
    telling = any(re.match(r"ASCEND_|HCCL_|TOPS_|ENFLAME_|ECCL_|FLAGS_|LD_LIB", n) for n in names)
    return telling and len(names) == lines and all(map(_OURS.fullmatch, names))


def _pair(line: str) -> tuple[str, str] | None:
    """A name and its value; None for a line of another form and one that a shell would expand."""
    if len(line) > _LONGEST:
        return None
    if match := _EXPORT.fullmatch(line.strip()):
        quoted = match["value"]
        if re.search(r"(?<!\\)[$`]", quoted) and not re.match(r"\$?'", quoted):
            return None
        return match["name"], _unquoted(quoted)
    plain = _PLAIN.fullmatch(line)
    return (plain["name"], plain["value"]) if plain else None


def _unquoted(text: str) -> str:
    """A value as the shell would have it."""
    if text.startswith('"'):
        text = re.sub(r"\\([$`])", r"\1", text)
    try:
        return "".join(shlex.split(text))
    except ValueError:  # an open quote
        return text.strip("\"'")


def safe(name: str, value: str) -> str:
    """The value without secrets."""
    return "***" if value and is_secret(name) else hide_secrets(value)
