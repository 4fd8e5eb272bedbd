"""A tree of sysfs for the real `lspci` and for readers of /sys: bound over a container's own."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.lab.boxes.spec import Function

_SPEEDS = {1: "2.5", 2: "5.0", 3: "8.0", 4: "16.0", 5: "32.0"}  # GT/s of PCIe generations
_CAPABILITY = 0x40  # where the PCIe capability stands in config space


def write_bus(bus: Path, functions: Iterable[Function]) -> None:
    """Fill a folder as /sys/bus/pci."""
    for name in ("devices", "drivers", "slots"):
        (bus / name).mkdir(parents=True, exist_ok=True)
    for one in functions:
        _write(bus, one)


def write_modules(folder: Path, modules: Mapping[str, str]) -> None:
    """Fill a folder as /sys/module with loaded modules; "" is one that tells no version."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, version in modules.items():
        files = {"initstate": "live", "refcnt": "0", "taint": "OE", "coresize": "65536"}
        _files(folder / name, files | ({"version": version} if version else {}))


def _write(bus: Path, one: Function) -> None:
    """The folder of one function."""
    width, generation = one.link or (0, 0)
    links = {
        "current_link_width": f"{width}",
        "current_link_speed": f"{_SPEEDS.get(generation)} GT/s PCIe",
        "max_link_width": f"{one.link_max[0]}",
        "max_link_speed": f"{_SPEEDS[one.link_max[1]]} GT/s PCIe",
    }
    files = {
        "vendor": f"0x{one.vendor}", "device": f"0x{one.device}", "class": f"0x{one.class_}",
        "subsystem_vendor": f"0x{one.subsystem[0]}", "subsystem_device": f"0x{one.subsystem[1]}",
        "revision": f"0x{one.revision:02x}", "numa_node": f"{one.numa_node}", "enable": "1",
        "irq": "0", "resource": "0x0000000000000000 0x0000000000000000 0x0000000000000000\n" * 13,
    }  # fmt: skip
    folder = bus / "devices" / one.slot
    _files(folder, files | (links if one.link else {}))
    (folder / "config").write_bytes(config(one))
    if one.driver:
        (bus / "drivers" / one.driver).mkdir(exist_ok=True)
        (folder / "driver").symlink_to(f"../../drivers/{one.driver}")


def _files(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text.rstrip("\n") + "\n")


def config(one: Function) -> bytes:
    """The config space: the header and, for a function with a link, its PCIe capability."""
    space = bytearray(256)
    struct.pack_into("<HH", space, 0x00, int(one.vendor, 16), int(one.device, 16))
    struct.pack_into("<I", space, 0x08, int(one.class_, 16) << 8 | one.revision)
    struct.pack_into("<HH", space, 0x2C, *(int(part, 16) for part in one.subsystem))
    if one.link:
        struct.pack_into("<H", space, 0x06, 0x10)  # status: has a list of capabilities
        space[0x34] = _CAPABILITY
        struct.pack_into("<BBH", space, _CAPABILITY, 0x10, 0, 0x0002)  # an endpoint, version 2
        struct.pack_into("<I", space, _CAPABILITY + 0x0C, _link(one.link_max))
        struct.pack_into("<H", space, _CAPABILITY + 0x12, _link(one.link))
    return bytes(space)


def _link(link: tuple[int, int]) -> int:
    """Width and generation as the link registers hold them."""
    width, generation = link
    return width << 4 | generation
