"""Accelerators in what `lspci` prints: a saved text, or a machine that shows no sysfs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec

from provision.facts import command, pci, pci_details
from provision.facts.texts import lspci
from provision.facts.texts.section import sections

_LIMIT = 10  # seconds
_FORMS = ("-Dvmmnn", "-Dnn", "-Dn")  # the fullest first: an old lspci refuses some
_PLACES = "/usr/sbin:/sbin"  # where some distributions put it, outside of a user's PATH


def collect(root: Path = Path("/")) -> list[pci.Device]:
    """The accelerators of a machine: from sysfs, from `lspci` where there is no sysfs.

    `root` is the prefix of /sys and /proc. Raises OSError when neither tells.
    """
    try:
        next((root / "sys/bus/pci/devices").iterdir(), None)  # unlike glob it says when it may not
    except FileNotFoundError:
        return from_lspci(_printed(root))
    return pci.devices(root)


def from_lspci(text: str) -> list[pci.Device]:
    """The accelerators of known vendors in a text of `lspci`, in the order of their slots.

    Any form of it will do, several in one text too: of a slot that is there twice, the one that
    tells more counts. A slot without a domain is in domain 0000. A text of another kind has none.
    """
    known = pci.catalogue()
    found: dict[str, pci.Device] = {}
    for section in sections(text):
        listed, details = lspci.parse(section), pci_details.details(section)
        for one in listed.devices if listed else []:
            slot = pci_details.full_slot(one.slot)
            device = _device(known, slot, one, details.get(slot, {}))
            if device and (slot not in found or _told(device) > _told(found[slot])):
                found[slot] = device
    return [found[slot] for slot in sorted(found)]


def _printed(root: Path) -> str:
    """What `lspci` prints, in the fullest form that it knows. Raises OSError.

    It is asked to read /proc: what else it would try without sysfs are the ports of the hardware.
    """
    tool = shutil.which("lspci", path=f"{os.environ.get('PATH', os.defpath)}:{_PLACES}")
    if not tool:
        raise OSError("there is no /sys/bus/pci/devices, and no lspci")
    source = ("-A", "linux-proc", "-O", f"proc.path={root / 'proc/bus/pci'}")
    reason = ""
    for form in _FORMS:
        answer = command.run([tool, form, *source], _LIMIT)
        if answer.status is None:
            raise OSError(f"lspci gave no answer within {_LIMIT} s")
        if answer.status == 0 and (not answer.out.strip() or _readable(answer.out)):
            return answer.out
        reason = next(reversed(answer.lines), f"status {answer.status}")
    raise OSError(f"there is no /sys/bus/pci/devices, and lspci says: {reason}")


def _readable(text: str) -> bool:
    return any(lspci.parse(section) for section in sections(text))


def _device(
    known: pci.Catalogue, slot: str, one: lspci.Device, told: pci_details.Details
) -> pci.Device | None:
    """An accelerator; None for another device or a vendor that is not known."""
    if one.kind != pci.CLASS or one.vendor is None:
        return None
    subsystem = pci_details.subsystem(told)
    device = pci.described(known, slot, one.vendor, one.device or "", subsystem)
    return msgspec.structs.replace(device, **pci_details.fields(told)) if device else None


def _told(device: pci.Device) -> int:
    """How much is known of a device."""
    return sum(value not in (None, "") for value in msgspec.structs.astuple(device))
