"""`hccn_tool`: what it says of a card's network."""

from __future__ import annotations

import re

import msgspec

from provision.facts.texts.blocks import Scalar
from provision.facts.texts.section import Section

_DEVICE = re.compile(r"^\[devid ([0-9]{1,4})\]")
_CHANGE = re.compile(
    r"^(?P<time>(?:\w{3} )?\w{3} [ 0-9]?\d(?: \d{4})? \d\d:\d\d:\d\d \d{4}) +"
    r"LINK (?P<state>UP|DOWN)$"
)
_LINK = re.compile(r"(?:\[devid [0-9]{1,4}\] ?)?link status ?: ?(?:UP|DOWN)")

# The topic, told by a label that only this topic prints, in lower case.
_TOPICS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("link_stat", ("link up count", "link change records")),
    ("optical", ("optical info", "xsfp identifier", "vendor part number")),
    ("stat", ("packet statistics", "roce_rx_err_pkt_num")),
    ("ip", ("ipaddr",)),
    ("gateway", ("default gateway",)),
    ("fec", ("fec mode",)),
    ("net_health", ("net health status",)),
    ("link", ("link status",)),
)


class Change(msgspec.Struct):
    """A link that went up or down."""

    time: str
    state: str


class Hccn(msgspec.Struct):
    """One answer; `values` as printed, None for what is not supported or not there."""

    kind: str
    device_id: int | None
    values: dict[str, Scalar]
    changes: list[Change]


def parse(section: Section) -> list[Hccn]:
    """The answers of a section."""
    asked = re.search(r"hccn_tool .*?-i +([0-9]{1,4})\b", section.command)
    if section.command and not asked:
        return []
    device = int(asked[1]) if asked else None
    found: list[Hccn] = _asked(section.command, device)
    for line in section.lines:
        if match := _DEVICE.match(line):
            device = int(match[1])
        text = _DEVICE.sub("", line).strip()
        if found and (change := _CHANGE.match(text)):
            found[-1].changes.append(Change(change["time"], change["state"]))
            continue
        for key, value in _pairs(text) or _route(text):
            topic = _topic(key, line, bool(asked))
            is_new = topic and not (found and found[-1].kind.endswith(f"-{topic}")
                                    and key not in found[-1].values)  # fmt: skip
            if is_new:
                found.append(Hccn(f"hccn_tool -{topic}", device, {}, []))
            if found:
                found[-1].values[key] = value
    return [one for one in found if one.changes or any(one.values.values())]


def _topic(key: str, line: str, asked: bool) -> str | None:
    """The topic that a label tells; other tools have a link status too, in another spelling."""
    topic = next((name for name, keys in _TOPICS if key.lower() in keys), None)
    return topic if asked or topic != "link" or _LINK.fullmatch(line) else None


def _asked(command: str, device: int | None) -> list[Hccn]:
    """The answer, still empty, that a command asks for."""
    option = re.search(r" -([a-z_]{2,20})\b(?=.* -g\b)", command)
    return [Hccn(f"hccn_tool -{option[1]}", device, {}, [])] if option else []


def _route(text: str) -> list[tuple[str, Scalar]]:
    """A row of `-route`: destination and gateway; its headings are no addresses."""
    words = text.split()
    is_row = len(words) == 8 and re.fullmatch(r"default|[0-9.]{7,15}", words[0])  # noqa: PLR2004
    return [(words[0], words[1])] if is_row else []


def _pairs(text: str) -> list[tuple[str, Scalar]]:
    """`key: value`, or two of them (`default gateway:..., Iface:eth0`)."""
    found: list[tuple[str, Scalar]] = []
    for part in re.split(r", (?=Iface:)", text[:500]):
        key, colon, value = (one.strip() for one in part.partition(":"))
        if colon and key[:1].isalpha() and not text.endswith(("LINK UP", "LINK DOWN")):
            unsaid = value.lower() in ("", "na", "n/a", "-", "not supported")
            found.append((key, None if unsaid else value))
    return found
