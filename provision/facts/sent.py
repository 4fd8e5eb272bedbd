"""The facts of a machine that is known only by outputs which somebody sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from provision.distributions import normal
from provision.facts import accounts, installed, outputs, pci, sent_host, variables
from provision.facts.pci_text import from_lspci
from provision.facts.questions import Output
from provision.facts.snapshot import UNSENT, Facts, Unread
from provision.facts.texts import accounts as users
from provision.facts.texts import lspci, packages, system
from provision.facts.texts import variables as environments
from provision.stack import Stack

# The device types by how the kinds of outputs begin that only machines with their cards have.
_TELLING: Mapping[str, str] = {
    "npu-smi": "npu", "driver version": "npu", "firmware version": "npu", "cann ": "npu",
    "ascend": "npu", "nnal": "npu", "hccn_tool -link": "npu", "hccn_tool -net_health": "npu",
    "hccn_tool -stat": "npu", "efsmi": "gcu", "topsrider": "gcu",
}  # fmt: skip


def facts(stack: Stack, sent: list[Output]) -> Facts:
    """What the outputs tell about a machine for a target; all else is UNSENT."""
    unsent: dict[str, Any] = {
        field.name: UNSENT for field in msgspec.structs.fields(Facts)
        if field.name not in ("target", "device", "stack", "sent")
    }  # fmt: skip
    told = {
        "outputs": sent,
        "accelerators": cards(sent),
        "machine": sent_host.machine_of(sent),
        "limits": sent_host.limits_of(sent),
        "kernel": sent_host.kernel_of(sent),
        "accounts": _accounts(sent),
        "variables": _variables(sent),
        "nodes": sent_host.nodes_of(sent),
        "environment": _environment(sent),
    }
    return Facts(stack.target, stack.device, stack, **{**unsent, **told}, sent=True)


def cards(sent: list[Output]) -> list[pci.Device] | Unread:
    """The accelerators by `lspci`; that some lines of it show none does not mean that none is."""
    shown = list(outputs.found(sent, lspci.Lspci))
    found = from_lspci("\n\n".join(output.text for _, output in shown))
    return found if found or any(is_whole(*row) for row in shown) else UNSENT


def is_whole(listed: lspci.Lspci, output: Output) -> bool:
    """Whether this is a listing of the whole bus, which has a bridge on every machine."""
    bridges = [one for one in listed.devices
               if one.kind.startswith("06") or "bridge" in one.kind.lower()]  # fmt: skip
    return bool(bridges) and not re.match(r"lspci .*(?:\||-[sd]\b)", output.source)


def devices(sent: list[Output]) -> set[str]:
    """The device types (`npu`, `gcu`) whose tools or files these outputs are of.

    A script that asks for all tools is told of most that they are not there; who saves such an
    answer alone, in a file without the command, missed that tool.
    """
    telling = (one for one in sent if not one.problem or one.source == one.real)
    kinds = {part.kind for output in telling for part in outputs.parsed(output)}
    pairs = [(kind, begin) for kind in kinds for begin in _TELLING]
    of_vendor = {vendor.name: vendor.device for vendor in pci.catalogue().vendors}
    vendors = {of_vendor[name] for name in sent_host.vendors(sent) if name in of_vendor}
    return vendors | {_TELLING[begin] for kind, begin in pairs if kind.startswith(begin)}


def _accounts(sent: list[Output]) -> accounts.Accounts | Unread:
    """The user by `id`."""
    identity = sent_host.first(iter(sent_host.every(sent, users.Id)))
    if identity is None:
        return UNSENT
    listed = {group.gid: group.name for group in identity.groups}
    groups = {identity.gid: identity.group, **listed}
    found = sorted(accounts.Group(gid, name) for gid, name in groups.items())
    own = next((group for group in found if group.name == accounts.ASCEND), None)
    return accounts.Accounts(identity.user, identity.uid, found, None, None, own, complete=False)


def _variables(sent: list[Output]) -> dict[str, str] | Unread:
    """The variables that matter, of all environments that were sent."""
    found = sent_host.every(sent, environments.Environment)
    merged = {name: value for one in found for name, value in one.variables.items()}
    return variables.collect(merged) if found else UNSENT


def _environment(sent: list[Output]) -> installed.Environment | Unread:
    """The Python environment by `pip list`; its version by the one interpreter that was asked."""
    found = [(kind, output) for kind, output in outputs.found(sent, packages.Packages)
             if kind.kind == "pip list"]  # fmt: skip
    if not found:
        return UNSENT
    versions = {one.version for one in sent_host.every(sent, system.Python)}
    named = {normal(one.name): one.version for kind, _ in found for one in kind.packages}
    return installed.Environment(
        found[0][1].source, versions.pop() if len(versions) == 1 else None, "", named, own=False
    )
