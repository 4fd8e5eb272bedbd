"""A healthy box with eight Ascend 910B3: driver 24.1.0, its firmware, CANN 8.0.0 for x86_64.

The pair of driver and CANN, and that of driver and firmware, were seen together in public.
"""

from __future__ import annotations

from typing import Any

from tests.lab.boxes import environment
from tests.lab.boxes.ascend_files import ASCEND, DRIVER, MODULES, TOOLKIT, write_files
from tests.lab.boxes.spec import Function, Node, Spec

__all__ = ["SETUP", "spec", "write_files"]

BUSES = ("c1", "c2", "81", "82", "01", "02", "41", "42")
OWNER = "HwHiAiUser:HwHiAiUser"
SETUP = f"""
set -e
{environment.SETUP}groupadd --gid 1000 HwHiAiUser
useradd --uid 1000 --gid 1000 --create-home --shell /bin/bash HwHiAiUser
useradd --create-home --groups HwHiAiUser developer
useradd --create-home stranger
chmod 0755 /usr/local/bin/*
chown -R HwHiAiUser:HwHiAiUser /{ASCEND}/driver /{ASCEND}/firmware
depmod -b / $(ls /lib/modules)
"""
PRELUDE = f". /{TOOLKIT}/set_env.sh; . /{ASCEND}/nnal/atb/set_env.sh"


def spec() -> Spec:
    """The box."""
    return Spec(
        "ascend910b", (*_accelerators(), *_others()), dict.fromkeys(MODULES, ""),
        (*(_node(f"davinci{n}", 237, n) for n in range(8)), _node("davinci_manager", 238),
         _node("devmm_svm", 236), _node("hisi_hdc", 235)),
        {"fault": "", "tool": DRIVER, "cards": [_card(n) for n in range(8)]}, PRELUDE,
    )  # fmt: skip


def _accelerators() -> list[Function]:
    return [
        Function(
            f"0000:{bus}:00.0", "19e5", "d802", "120000", ("19e5", "3003"), 0x20, n // 2,
            (16, 4), driver="devdrv_device_driver",
        )
        for n, bus in sorted(enumerate(BUSES), key=lambda pair: pair[1])
    ]  # fmt: skip


def _others() -> list[Function]:
    """What else of the same vendor is in such a machine: a network card and the BMC's display."""
    nic = Function("0000:21:00.0", "19e5", "0222", "020000", ("19e5", "0051"), 0x45, 0,
                   (16, 3), (16, 3), "hinic")  # fmt: skip
    display = Function("0000:04:00.0", "19e5", "1711", "030000", ("19e5", "1711"), 1)
    return [nic, display]


def _node(name: str, major: int, minor: int = 0) -> Node:
    return Node(f"/dev/{name}", major, minor, "0660", OWNER)


def _card(number: int) -> dict[str, Any]:
    return {
        "id": number, "name": "910B3", "bus": f"0000:{BUSES[number].upper()}:00.0",
        "device": "0xD802", "subsystem": "0x3003", "serial": f"LAB00A2{number:04}",
        "health": "OK", "errors": [], "compatibility": "OK", "power": 91.5 + number,
        "temperature": 34 + number, "aicore": 0, "memory": [0, 0], "hbm": [3400 + number, 65536],
        "ecc": {"Single": 0, "Double": 0}, "processes": [],
    }  # fmt: skip
