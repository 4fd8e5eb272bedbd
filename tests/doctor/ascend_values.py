"""A healthy machine with eight Ascend 910B, part by part, with values of our own."""

from __future__ import annotations

from typing import Any

import msgspec

from provision.facts.accounts import Account, Accounts, Group
from provision.facts.kernel import Kernel
from provision.facts.kernel_modules import Module, ModuleFile
from provision.facts.nodes import Holders, Node
from provision.facts.pci import Device
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.stack import load, stack_file
from tests.read.drawn import Die, npu_table
from tests.read.samples import B3

BUSES = ("01", "02", "41", "42", "81", "82", "c1", "c2")
RELEASE = "5.15.0-9-generic"
FILE = ModuleFile(
    RELEASE, "drv_devmng_host", "Huawei", f"/lib/modules/{RELEASE}/updates/drv_devmng_host.ko",
    f"{RELEASE} SMP mod_unload", None,
)  # fmt: skip
KERNEL = Kernel(
    release=RELEASE, command_line=[], headers=True, others=[],
    loaded=[Module("drv_devmng_host", "Huawei", None)], files=[FILE], dkms=None,
    secure_boot=False, vfio=[],
)  # fmt: skip
GROUP = Group(1000, "HwHiAiUser")
ROOT = Accounts(
    "root", 0, [Group(0, "root")], [Group(0, "root")],
    Account("HwHiAiUser", 1000, 1000, "/home/HwHiAiUser", True), GROUP, True,
)  # fmt: skip
MEMBER = msgspec.structs.replace(ROOT, user="lee", uid=1005, groups=[GROUP, Group(1005, "lee")],
                                 recorded=[GROUP, Group(1005, "lee")])  # fmt: skip
STRANGER = msgspec.structs.replace(MEMBER, groups=[Group(1005, "lee")],
                                   recorded=[Group(1005, "lee")])  # fmt: skip
DRIVER = "/usr/local/Ascend/driver/version.info"
FIRMWARE = "/usr/local/Ascend/firmware/version.info"
INFO = "/etc/ascend_install.info"
TOOL = "npu-smi info"


def card(slot: str = "0000:01:00.0", **more: Any) -> Device:
    """A card as sysfs shows it."""
    made = Device(
        slot=slot, vendor="19e5", device="d802", subsystem=None, numa_node=0,
        vendor_name="Huawei", name="Ascend 910B", generation="Ascend 910B (A2)", board=None,
        target="ascend910b", link_speed_gt=16.0, link_width=16, max_link_speed_gt=16.0,
        max_link_width=16, driver="devdrv_device_driver", revision="20",
    )  # fmt: skip
    return msgspec.structs.replace(made, **more)


CARDS = [card(f"0000:{bus}:00.0", numa_node=n // 2) for n, bus in enumerate(BUSES)]


def die(npu: int, **changes: str) -> Die:
    """A chip in npu-smi's table."""
    bus, hbm = f"0000:{BUSES[npu].upper()}:00.0", f"{3400 + npu} / 65536"
    made = Die(
        str(npu), "910B3", "OK", "91.5", "35", "0    / 0", "0", "", bus, "0", "0    / 0", hbm
    )
    return made._replace(**changes)


DIES = [die(n) for n in range(8)]
NOBODY: list[list[str]] = []


def table(dies: list[Die] | None = None, processes: list[list[str]] | None = NOBODY,
          tool: str = "24.1.0", driver: str = "24.1.0") -> str:  # fmt: skip
    """What `npu-smi info` prints."""
    layout = B3._replace(tool=tool, driver=driver)
    return npu_table(layout, DIES if dies is None else dies, processes)


def smi(text: str, **more: Any) -> dict[str, Output]:
    """Another answer of npu-smi."""
    return {TOOL: msgspec.structs.replace(OUTPUTS[TOOL], text=text, **more)}


def version(file: str, *lines: str) -> dict[str, Output]:
    """Another file."""
    return {file: Output(file, "\n".join(lines) + "\n", file)}


def without(*names: str) -> dict[str, Output]:
    """These outputs are not there."""
    return dict.fromkeys(names, Output(""))


OUTPUTS: dict[str, Output] = {
    TOOL: Output(TOOL, "", "/usr/local/bin/npu-smi", 0),
    **version(DRIVER, "Version=24.1.0", "ascendhal_version=7.1", "package_version=24.1.0",
              "compatible_version_fw=[7.0.0,7.5.99]"),
    **version(FIRMWARE, "Version=7.5.0.2.220", "firmware_version=1.0",
              "compatible_version_drv=[24.1.rc3,24.1.rc3.],[24.1.0,24.1.0.]"),
    **version(INFO, "UserName=HwHiAiUser", "UserGroup=HwHiAiUser",
              "Driver_Install_Path_Param=/usr/local/Ascend", "Driver_Install_For_All=no"),
    **version("/etc/os-release", "NAME=Ubuntu", 'VERSION_ID="22.04"', "ID=ubuntu",
              'VERSION="22.04.3 LTS (Jammy Jellyfish)"', 'PRETTY_NAME="Ubuntu 22.04.3 LTS"'),
}  # fmt: skip
OUTPUTS |= smi(table())


def node(name: str, **more: Any) -> Node:
    """A node as the driver makes it."""
    made = Node(f"/dev/{name}", "Huawei", "char", "0660", 1000, 1000, "HwHiAiUser", "HwHiAiUser",
                True, True, 236, 0)  # fmt: skip
    return msgspec.structs.replace(made, **more)


CONTROL = [node("davinci_manager"), node("devmm_svm"), node("hisi_hdc")]
NODES = [*(node(f"davinci{n}") for n in range(8)), *CONTROL]


def npu(healthy: Facts, outputs: dict[str, Output] | None = None, **changes: Any) -> Facts:
    """The machine; `outputs` replace those of these names, one without a source takes one away."""
    shown = [one for one in (OUTPUTS | (outputs or {})).values() if one.source]
    values = {
        "target": "ascend910b", "device": "npu", "stack": load(stack_file("ascend910b")),
        "kernel": KERNEL, "accelerators": CARDS, "nodes": NODES, "outputs": shown,
        "accounts": ROOT, "holders": Holders([], True),
        "variables": {"PATH": "/usr/local/bin:/usr/bin"}, "environment": None,
    }  # fmt: skip
    return msgspec.structs.replace(healthy, **(values | changes))
