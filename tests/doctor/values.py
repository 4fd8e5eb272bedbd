"""The facts of a healthy machine, part by part, to be changed by each test."""

from __future__ import annotations

from typing import Any

import msgspec

from provision.facts import (
    compilers,
    disk,
    installed,
    leftover,
    limits,
    machine,
    pci,
    plugin,
    settings,
)
from provision.facts.linking import linkage
from provision.facts.snapshot import Python

MACHINE = machine.Machine(
    system="Linux", name="Demo Linux 7", kernel="1.2", arch="x86_64", libc="glibc 9.9", cpus=4,
    memory=8 << 30, memory_available=7 << 30, memory_limit=None, container=None, root=False,
)  # fmt: skip
ROOM = disk.Room("data", "/demo", 99 << 30, 10**7, False, True, 1)
PYTHON = Python("/demo/python", "3.11.1", ">=3.10,<3.13", "/demo/python", [])
COMPILER = compilers.Compiler("/demo/c++", "demo 12", "")
SETTINGS = settings.Settings([], [], [], None, None)
ENVIRONMENT = installed.Environment("/demo/env/python", "3.11.1", "", {"paddlepaddle": "9.9"})
COMPARISON = installed.Comparison("9.9", 3, [])
PLUGIN = plugin.Plugin("loads", "registered: loopback", "import paddle", "/demo", [], [])
LEFTOVER = leftover.Leftover("/demo/journal", False, [])
CARD = pci.Device(
    slot="0000:01:00.0", vendor="19e5", device="d802", subsystem=None, numa_node=0,
    vendor_name="Huawei", name="Ascend 910B", generation="A2", board=None, target="ascend910b",
)  # fmt: skip
LIMITS = limits.Limits(
    open_files=limits.Limit(1024, 65536), locked_memory=limits.Limit(8 << 20, 8 << 20),
    processes=limits.Limit(4096, 4096), shm_size=4 << 30, shm_free=4 << 30, hugepages=[],
    cpu_quota=None, numa_balancing=0,
)  # fmt: skip
LINKAGE = linkage.Linkage("/demo/libpaddle-custom-loopback.so", glibc="2.14", cxx11_abi=True)


def changed(value: Any, **changes: Any) -> Any:
    """A frozen value with some fields replaced."""
    return msgspec.structs.replace(value, **changes)
