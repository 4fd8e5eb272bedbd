"""What a box with Ascend cards has on its disk: driver, firmware, CANN, its kernels, and ATB.

The texts are in the vendor's layouts; the inner versions are invented.
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.lab.boxes.environment import plugin, write_environment
from tests.lab.boxes.objects import DMESG, headers, library, module

DRIVER = "24.1.0"
FIRMWARE = "7.5.0.2.220"
CANN = "8.0.0"
ASCEND = "usr/local/Ascend"
TOOLKIT = f"{ASCEND}/ascend-toolkit"
# The host's side of the driver, by the names of its sources and of public listings of lsmod.
MODULES = ("drv_seclib_host", "drv_pcie_host", "drv_pcie_hdc_host", "drv_davinci_intf_host",
           "drv_devmng_host", "drv_devmm_host", "ascend_uda", "ascend_queue",
           "ascend_event_sched_host", "ascend_logdrv")  # fmt: skip
# What variants put in place of the healthy: modules for another kernel, a newer CANN, and a
# plugin for it.
OLD_KERNEL = Path("var/lib/lab/modules/5.15.0-130-generic")
NEW_CANN = "8.5.0"
NEWER_PLUGIN = "var/lib/lab/newer/libpaddle-custom-npu.so"
ATB = f"{ASCEND}/nnal/atb/{CANN}/atb/cxx_abi_1/lib/libatb.so"
STAGED = f"var/lib/lab/cann-{NEW_CANN}"


def write_files(root: Path) -> None:
    """Put the vendor's files into a folder as they lie on the machine."""
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for name, target in LINKS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target)
    for name, functions in LIBRARIES.items():
        library(root / name, functions)
    kernel = os.uname().release
    for name in MODULES:
        module(root / f"lib/modules/{kernel}/updates/{name}.ko", kernel)
        module(root / f"{OLD_KERNEL}/updates/{name}.ko", OLD_KERNEL.name)
    headers(root, kernel)
    needs = [root / f"{TOOLKIT}/{CANN}/lib64/libascendcl.so", root / ATB]
    calls = ["aclInit", "aclrtSetDevice", "AtbCreate"]
    write_environment(root, "custom-npu", "3.0.0", needs, calls)
    plugin(root / NEWER_PLUGIN, needs, ["aclInit", "aclmdlRICaptureBegin"])


def _settings(home: str) -> str:
    """CANN's set_env.sh, which also knows the driver's libraries."""
    return f"""\
export ASCEND_TOOLKIT_HOME={home}
export ASCEND_HOME_PATH=$ASCEND_TOOLKIT_HOME
export ASCEND_AICPU_PATH=$ASCEND_TOOLKIT_HOME
export ASCEND_OPP_PATH=$ASCEND_TOOLKIT_HOME/opp
export TOOLCHAIN_HOME=$ASCEND_TOOLKIT_HOME/toolkit
driver=/{ASCEND}/driver/lib64
LD_LIBRARY_PATH=$driver:$driver/common:$driver/driver${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}
export LD_LIBRARY_PATH=$ASCEND_TOOLKIT_HOME/lib64:$LD_LIBRARY_PATH
export PYTHONPATH=$ASCEND_TOOLKIT_HOME/python/site-packages${{PYTHONPATH:+:$PYTHONPATH}}
export PATH=$ASCEND_TOOLKIT_HOME/bin:$PATH
"""


def _parts(home: str) -> dict[str, str]:
    """What every CANN has: the kernels of a chip, and the Python parts that compile more."""
    kernels = f"{home}/opp/built-in/op_impl/ai_core/tbe/kernel"
    return {
        f"{kernels}/ascend910b/cast/Cast.o": "",
        f"{kernels}/config/ascend910b/cast.json": "{}",
        f"{home}/python/site-packages/tbe/__init__.py": "",
        f"{home}/python/site-packages/tbe/common/__init__.py": "",
        f"{home}/toolkit/bin/.keep": "",
        f"{home}/bin/.keep": "",
    }


_NEW = {
    **_parts(STAGED),
    f"{STAGED}/x86_64-linux/ascend_toolkit_install.info": (
        f"package_name=Ascend-cann-toolkit\nversion={NEW_CANN}\n"
        f"innerversion=V100R001C10SPC001B900\narch=x86_64\npath=/{ASCEND}/cann-{NEW_CANN}\n"
    ),
    f"{STAGED}/x86_64-linux/ascend_ops_install.info": (
        f"package_name=Ascend-cann-910b-ops\nversion={NEW_CANN}\n"
        f"innerversion=V100R001C10SPC001B900\narch=x86_64\npath=/{ASCEND}/cann-{NEW_CANN}\n"
    ),
    f"{STAGED}/share/info/runtime/version.info": (
        f"Version={NEW_CANN}\nversion_dir=cann-{NEW_CANN}\ntimestamp=20251220_090000000\n"
    ),
    f"{STAGED}/set_env.sh": _settings(f"/{ASCEND}/cann-{NEW_CANN}"),
}
FILES = {
    **_NEW,
    **_parts(f"{TOOLKIT}/{CANN}"),
    "etc/ascend_install.info": (
        "UserName=HwHiAiUser\nUserGroup=HwHiAiUser\nDriver_Install_Type=full\n"
        "Driver_Install_Path_Param=/usr/local/Ascend\nDriver_Install_For_All=no\n"
        "Driver_Install_Mode=normal\nFirmware_Install_Type=full\n"
        "Firmware_Install_Path_Param=/usr/local/Ascend\n"
    ),
    f"{ASCEND}/driver/version.info": (
        f"Version={DRIVER}\nascendhal_version=7.35.23\naicpu_version=1.0\ntdt_version=1.0\n"
        "log_version=1.0\nprof_version=2.0\ndvppkernels_version=1.1\ntsfw_version=1.0\n"
        "Innerversion=V100R001C19SPC001B900\n"
        "compatible_version=[V100R001C15],[V100R001C17],[V100R001C18],[V100R001C19]\n"
        f"compatible_version_fw=[7.0.0,7.5.99]\npackage_version={DRIVER}\n"
    ),
    f"{ASCEND}/firmware/version.info": (
        f"Version={FIRMWARE}\nfirmware_version=1.0\npackage_version={DRIVER}\n"
        "compatible_version_drv=[23.0.0,23.0.0.],[24.0,24.0.],[24.1,24.1.]\n"
    ),
    f"{TOOLKIT}/{CANN}/x86_64-linux/ascend_toolkit_install.info": (
        f"package_name=Ascend-cann-toolkit\nversion={CANN}\ninnerversion=V100R001C20SPC001B900\n"
        "compatible_version=[V100R001C15],[V100R001C17],[V100R001C18],[V100R001C19],"
        f"[V100R001C20]\narch=x86_64\nos=linux\npath=/{TOOLKIT}/{CANN}/x86_64-linux\n"
    ),
    f"{TOOLKIT}/{CANN}/opp_kernel/version.info": (
        "Version=7.6.0.1.220\nversion_dir=8.0.0\ntimestamp=20241220_090000000\n"
        "ops_version=7.6.0.1.220\nadk_version=7.6.0.1.220\n"
    ),
    f"{TOOLKIT}/latest/version.cfg": "# version: 1.0\n" + "".join(
        f"{part}_running_version=[7.6.0.1.220:{CANN}]\n"
        for part in ("runtime", "compiler", "hccl", "opp", "toolkit", "opp_kernel")
    ),
    f"{TOOLKIT}/set_env.sh": _settings(f"/{TOOLKIT}/latest"),
    f"{ASCEND}/nnal/atb/{CANN}/version.info": (
        f"Ascend-cann-atb : {CANN}\nAscend-cann-atb Version : {CANN}.B900\nPlatform : x86_64\n"
    ),
    f"{ASCEND}/nnal/atb/set_env.sh": (
        f"export ATB_HOME_PATH=/{ASCEND}/nnal/atb/latest/atb/cxx_abi_1\n"
        "export LD_LIBRARY_PATH=$ATB_HOME_PATH/lib:$LD_LIBRARY_PATH\n"
    ),
    "usr/local/bin/dmesg": DMESG,
    "var/lib/lab/dmesg": (
        "[   12.101418] drv_pcie_host: loading out-of-tree module taints kernel.\n"
        "[   12.618230] [ascend] [pcie] [devdrv_init_module 812] <insmod> Init module finish.\n"
    ),
    "usr/local/bin/npu-smi": (Path(__file__).parent / "programs/npu_smi.py").read_text(),
}  # fmt: skip
LINKS = {
    **{f"{TOOLKIT}/latest/{part}": f"../{CANN}/{part}"
       for part in ("x86_64-linux", "opp", "opp_kernel", "python", "bin", "lib64", "toolkit")},
    f"{ASCEND}/nnal/atb/latest": CANN,
}  # fmt: skip
LIBRARIES = {
    f"{STAGED}/lib64/libascendcl.so": ["aclInit", "aclrtSetDevice", "aclrtMalloc"],
    f"{STAGED}/lib64/libhccl.so": ["HcclCommInitRootInfo"],
    "usr/local/dcmi/libdcmi.so": ["dcmi_init", "dcmi_get_card_list"],
    f"{ASCEND}/driver/lib64/driver/libascend_hal.so": ["halGetDeviceInfo", "drvGetDevNum"],
    f"{ASCEND}/driver/lib64/driver/libdrvdsmi_host.so": ["dsmi_get_device_count"],
    f"{TOOLKIT}/{CANN}/lib64/libascendcl.so": ["aclInit", "aclrtSetDevice", "aclrtMalloc"],
    f"{TOOLKIT}/{CANN}/lib64/libhccl.so": ["HcclCommInitRootInfo"],
    f"{TOOLKIT}/{CANN}/lib64/libopapi.so": ["aclnnCast"],
    ATB: ["AtbCreate"],
}
