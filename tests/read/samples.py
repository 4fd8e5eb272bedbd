"""Outputs of every kind, in the tools' layouts with values of our own.

Those of the folder `texts` stand there beside the whole JSON that they read as.
"""
# ruff: noqa: E501, E101 - lines of the tools stand here as they print them

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tests.read.drawn import Die, Layout, efsmi_table, npu_table

B3 = Layout("25.3.1", "25.3.0")
OLD = Layout("21.0.3", "21.0.3", pages=False)
A3 = Layout("25.4.0", "25.4.0", device="Phy-ID")
NO_HBM = Layout("23.1.2", "23.1.2", device="Device", hbm=False)
WIDE = Layout("26.0.1", "26.0.1", wide=18)
N950 = Layout("25.8.0", "25.8.1", is_950=True)


def b3(npu: int, **changes: str) -> Die:
    """A chip of a 910B3 card."""
    die = Die(str(npu), "910B3", "OK", f"{90 + npu}.5", str(31 + npu), "3    / 9", "0", "",
              f"0000:{0x10 + npu:02X}:00.0", str(npu), "0    / 0", f"{41000 + npu}/ 65536")  # fmt: skip
    return die._replace(**changes)


FIRST_910B = [
    Die("2", "910B", "OK", "68.1", "35", "0    / 0", "0", "", "0000:3A:00.0", "7", "1201 / 14001",
        "5    / 32768"),
]  # fmt: skip
A3_DIES = [
    Die("1", "Ascend910", "OK", "171.5", "40", "0    / 0", "0", "2", "0000:37:00.0", "4",
        "0    / 0", "3111 / 65536"),
    Die("1", "Ascend910", "Warning", "-", "43", "0    / 0", "1", "3", "0000:39:00.0", "5",
        "0    / 0", "10999/ 65536"),
]  # fmt: skip
DUO = [
    Die("5", "310P3", "OK", "NA", "38", "0    / 0", "0", "4", "0000:05:00.0", "0", "1700 / 44001", ""),
    Die("5", "310P3", "OK", "NA", "37", "0    / 0", "1", "5", "0000:05:00.0", "2", "1423 / 43002", ""),
]  # fmt: skip
DIGITS = [
    Die(
        "8", "310", "OK", "12.8", "45", "0    / 0", "0", "0", "0000:0C:00.0", "1", "2703 / 8192", ""
    ),
]
VIRTUAL = [
    Die(
        "7",
        "310Pvir01",
        "OK",
        "NA",
        "29",
        "0    / 0",
        "0",
        "0",
        "0000:00:07.0",
        "0",
        "250  / 2690",
        "",
    ),
]
N950_DIES = [
    Die("3", "Ascend950PR", "OK", "204.5", "56", "0    / 0", "", "", "0000:91:00.0", "12",
        "0    / 0", "4439 / 86016"),
    Die("4", "Ascend950PR", "Alarm", "NA", "57", "0    / 0", "", "", "NA", "NA", "0    / 0",
        "4440 / 86016"),
]  # fmt: skip
PROCESSES = [
    ("0", "0", "4711", "python3 -m a|b long-name-of-a-server", "1234"),
    ("1", "", "", "", ""),
    ("2", "0", "4712", "", "5678"),
]

EFSMI_HEADINGS = [["DEV    NAME", "FW VER", "BUS-ID      ECC"],
                  ["TEMP   Dpm   Pwr(Usage/Cap)", "Mem     GCU Virt", "DUsed       SN"]]  # fmt: skip
EFSMI = efsmi_table(
    " EFSMI    1.4.1.7         Driver Ver: 1.4.1.8", EFSMI_HEADINGS,
    [[["0      Enflame S60", "33.7.1", "00:41:00.0  Disable"],
      ["45℃    Sleep    101W / 300W", "49120MiB Disable", "0%          B0001"]],
     [["1      Enflame S60", "33.7.1", "00:42:00.0  Enable"],
      ["46 C   Active   102W  299W", "42976MiB Disable", "3.5%        B0002"]],
     [["2      Enflame S60", "33.7.1", "00:43:00.0  Enable"],
      ["-      Sleep    -", "42976MiB Disable", "0%          B0003"]]],
)  # fmt: skip
EFSMI_NEW = efsmi_table(
    " EFSMI: 1.7.3.1           Driver Ver: 1.7.3.2",
    [["DEV    NAME", "Boot FW VER", "BUS-ID      ECC"],
     ["TEMP   Lpm   Pwr(Usage/Cap)", "Mem      GCU Virt", "DUsed       SN"]],
    [[["0      Enflame L300", "40.2.8.4", "00:2d:00.0  Enable"],
      ["35     LP1      68W / 300W", "144GiB Disable", "0%          C1"]],
     [["1      Enflame S60G", "40.2.8.4", "00:2e:00.0  Disable"],
      ["34℃    LP0      N/A", "23552MiB  SRIOV", "0%          C2"]]],
)  # fmt: skip
EFSMI_QUERY = """\
---------- Enflame System Management Interface ----------
DEV ID 0
    Driver Info
        Ver                     : 1.5.0.1
    Device Info
        Dev Name                : S60
        Dev SN                  : B0001
        Health                  : True
    PCIe Info
        Vendor ID               : 1e36
        Device ID               : c035
        Domain                  : 0000
        Bus                     : 1b
        Dev                     : 00
        Func                    : 0
        Link Info
        Max Link Speed          : Gen5
        Cur Link Speed          : Gen3
    Power Info
        Power Capa              : 300 W
        Cur Power               : 97.5 W
    Device Mem Info
        Total Size              : 42976 MiB
        Used Size               : 1129 MiB
    Temperature Info
        GCU Temp                : 35 ℃
    ECC Mode
        Current                 : Enable
        Pending                 : Disable
    Power Cable
        Status                  : Normal
DEV ID 1
    Device Mem Info
        Mem Size                : 42976 MiB
        Mem Ecc                 : disable
"""
EFSMI_DMON = """\
*Dev Pwr    DTemp  Sip    DUsed  Dpm     MUsed  Mem
*Idx W      C      %      %      L       %      MiB
0    101    36     1.5    0.0    Sleep   84.1   42976
1    98            0.0    0.0    Active  83.7   42976
"""
USAGES = """\
	NPU ID                         : 1
	Chip Count                     : 2

	DDR Capacity(MB)               : 44280
	DDR Usage Rate(%)              : 3
	Ctrlcpu Usage Rate(%)          : NA
	Chip ID                        : 0

	DDR Capacity(MB)               : 43693
	DDR Usage Rate(%)              : 4
	Ctrlcpu Usage Rate(%)          : 5
	Chip ID                        : 1
"""
COMMON = """\
NPU ID                         : 4
Chip Count                     : 1

Chip ID                        : 0
Aicore Usage Rate(%)           : 11
Aicore Count                   : 24
Temperature(C)                 : 46
NPU Real-time Power(W)         : 69.5

Chip Name                      : mcu
Temperature(C)                 : 48
NPU Real-time Power(W)         : 45.2
"""
BOARD = """\
        NPU ID                         : 2
        Software Version               : 24.1.9
        Firmware Version               : 7.5.0.9
        Compatibility                  : NOK
        PCB ID                         : NA
        PCIe Bus Info                  : 0000:3A:00.0
        PCI Vendor ID                  : 0x19E5
        PCI Device ID                  : 0xD801
        Chip Count                     : 1
"""
HEALTH = """\
	Health Status                  : Alarm
	Error Code                     : 80E01801 8C2FA001
	Error Information              : first text
	                               : second text
"""
MEMORY = (
    "NPU ID : 0\nHBM Capacity(MB) : 65536\nHBM Clock Speed(MHz) : 1600\nHBM Temperature(C) : 52\n"
)
ECC = "NPU ID : 0\nChip Count : 1\n\nHBM Single Bit Error Count : 0\nHBM Double Bit Error Count : 2\nChip ID : 0\n"
POWER = "NPU ID : 6\nChip Count : 1\n\nNPU Real-time Power(W) : 103.5\nChip ID : 0\n"
TEMP = "NPU ID : 6\nChip Count : 1\n\nNPU Temperature (C) : 39\nChip ID : 0\n\nLM75A_TE (C) : 36\nChip Name : MCU\n"
MAP = """\
	NPU ID                         Chip ID                        Chip Logic ID                  Chip Name
	1                              0                              0                              Ascend 310P3
	1                              1                              1                              Ascend 310P3
	1                              2                              -                              Mcu
"""
LIST = "Total Count : 2\n\nNPU ID : 1\nChip Count : 1\n\nNPU ID : 64\nChip Count : 2\nProduct Name : X\n"
PROC_MEM = """\
NPU ID                         : 32768
Chip Count                     : 2

Chip ID                        : 0

Process id:11 Process name:server one      Process memory(MB):1336
Process id:12 Process name:                Process memory(MB):460
Chip ID                        : 1
"""
VNPU = """\
| NPU resource static info as follow:                                           |
| AICORE    Memory    AICPU    VPC    PNGD    |
|            GB                               |
| 4/8       21/42     3/7      6/12   NA/NA   |
| Total number of vnpu: 1                                                       |
|  Vnpu ID  |  Vgroup ID     |  Container ID  |  Status  |  Template Name       |
|  212      |  0             |  00000000abcd  |  1       |  vir04               |
"""
TEMPLATES = """\
+---------------------------------------------------------------+
|NPU instance template info is:                                 |
|Name                AICORE    Memory    AICPU     VPC          |
|                               GB                 PNGD         |
+===============================================================+
|vir01               1         3         1         2            |
|                                                  0            |
+---------------------------------------------------------------+
"""
WATCH = """\
    NpuID(Idx)  Pwr(W)      Temp(C)     Ctrl Cpu(%) Memory(%)   NPU Util(%)
    0           290.4       51          16          3           7
    1                       49          4           NA          8
"""
TOPO = """\
           NPU0       NPU1       CPU Affinity
NPU0       X          HCCS       0-31
NPU1       HCCS       X          32-63
"""
LSPCI = """\
28:00.0 Processing accelerators: Huawei Technologies Co., Ltd. Device d802 (rev 20)
75:00.0 Processing accelerators: Huawei Technologies Co., Ltd. HiSilicon ZIP Engine (rev 21)
02:00.0 VGA compatible controller: Huawei Technologies Co., Ltd. Hi171x Series [iBMC] (rev 01)
01:00.0 Processing accelerators: Shanghai Enflame Technology Co. Ltd S60 [Enflame] (rev 01)
03:00.0 Ethernet controller: Intel Corporation I350 Gigabit Network Connection (rev 01)
"""
LSPCI_NN = """\
0000:18:00.0 Processing accelerators [1200]: Huawei Technologies Co., Ltd. Device [19e5:d500] (rev 23)
0000:19:00.0 Processing accelerators [1200]: Device [203f:d802] (rev 20)
0001:3b:00.0 Ethernet controller [0200]: Huawei Technologies Co., Ltd. Hi1822 Family [19e5:0222] (rev 45)
	Subsystem: Huawei Technologies Co., Ltd. Device [19e5:d139]
"""
LSPCI_N = "28:00.0 1200: 19e5:d802 (rev 20)\n08:00.0 Class 1200: 1e36:c033 (rev 01)\n"
LSPCI_VMM = """\
Slot:\t0000:c1:00.0
Class:\tProcessing accelerators [1200]
Vendor:\tHuawei Technologies Co., Ltd. [19e5]
Device:\tDevice [d803]
SVendor:\tHuawei Technologies Co., Ltd. [19e5]
Rev:\t20

Slot:\t0000:c2:00.0
Class:\t0200
Vendor:\t8086
Device:\t1521
"""
LSPCI_MM = '0000:5e:00.0 "Processing accelerators" "Shanghai Enflame Technology Co. Ltd" "Device c041" -r01 "" ""\n'
DRIVER = """\
Version=24.1.9
ascendhal_version=7.35.19
Innerversion=V100R001C20SPC001B999
compatible_version=[V100R001C18],[V100R001C19,V100R001C20]
compatible_version_fw=[7.3.0,7.5.99],[7.6.0,7.6.9]
package_version=24.1.9
"""
FIRMWARE = "Version=7.5.0.9.220\nfirmware_version=1.0\npackage_version=24.1.9\ncompatible_version_drv=[24.1.rc3,24.1.rc3.],[24.1.0,24.1.0.]\n"
CANN = "package_name=Ascend-cann-toolkit\nversion=8.0.1\ninnerversion=V1\ncompatible_version=[A],[B]\narch=aarch64\nos=linux\npath=/usr/local/Ascend/ascend-toolkit/8.0.1/aarch64-linux\n"
KERNELS = "package_name=Ascend-cann-kernels-910b\nversion=8.0.1\narch=aarch64\n"
OPS = "package_name=Ascend-cann-A3-ops\nversion=8.5.1\npath=/usr/local/Ascend/cann-8.5.1\n"
CFG = "# version: 1.0\nruntime_running_version=[7.6.0.1.220:8.0.1]\nhccl_running_version=[7.6.0.1.221:8.0.2]\n"
NNAL = "Ascend-cann-atb : 9.1.1\nAscend-cann-atb Version : 9.1.1.B1\nbranch : some\n"
INSTALL = "UserName=HwHiAiUser\nUserGroup=HwHiAiUser\nDriver_Install_Path_Param=/usr/local/Ascend\n"
DPKG = """\
期望状态=未知(u)/安装(i)/删除(r)/清除(p)/保持(h)
||/ 名称           版本         体系结构     描述
+++-==============-============-============-=================================
ii  libgcc-s1:arm64 12.2.0-14   arm64        GCC support library
ii  topsaten       3.4.623      amd64        operators of GCU
rc  old-driver     1:1.0~rc1    all          removed
"""
RPM = "glibc-2.34-60.el9.x86_64\nAscend-npu-driver-24.1.0-1.aarch64\n"
PIP = "Package           Version      Editable project location\n----------------- ------------ ---\npaddlepaddle      3.0.0\npaddle-custom-npu 3.0.0.dev1\nmine              0.1          /work\n\n[notice] A new release of pip is available: 24.0 -> 25.0\n"
FREEZE = "paddlepaddle==3.0.0\npaddlenlp==3.0.0b4\n"
INSPECT = """\
[{"Name": "/npu", "State": {"Status": "running"},
  "Config": {"Image": "paddle-npu:1", "Env": ["ASCEND_VISIBLE_DEVICES=0,1", "HF_TOKEN=hf_abc", "EMPTY="]},
  "HostConfig": {"Runtime": "ascend", "Privileged": false, "NetworkMode": "host", "ShmSize": 67108864,
                 "Devices": [{"PathOnHost": "/dev/davinci0"}, {"PathOnHost": "/dev/hisi_hdc"}]},
  "Mounts": [{"Source": "/usr/local/dcmi", "Destination": "/usr/local/dcmi", "RW": true}]}]
"""
DAEMON = '{"default-runtime": "runc", "runtimes": {"enflame": {"path": "/usr/bin/enflame-container-runtime"}}}\n'
HCCN = """\
[devid 3]current time        : Wed Aug  2 03:09:26 2026
[devid 3]link up count       : 2
[devid 3]link change records :
[devid 3]    Tue Aug  1 14:43:40 2026    LINK UP
[devid 3]    Tue Aug  1 14:43:39 2026    LINK DOWN
"""
TOPSRIDER = """\
Verifying archive integrity... All good.
Uncompressing ENFLAME TOPSRIDER PACKAGE
Logging file: /tmp/topsinstaller/TopsRider20260101-000000.log
[1/2] Install TopsPlatform Package
[2/2] Install Data Center Toolkit to /usr/local/topsrider/data_center_toolkit
Install Finished. 2 installed.  100%   MD5 checksums are OK.  100%
"""
BUSY = "dcmi model initialized failed, because the device is used. ret is -8020\n"

FOLDER = Path(__file__).parent / "texts"
EXPECTED: Final[dict[str, dict[str, Any]]] = {
    file.stem: json.loads(file.read_text(encoding="utf-8"))
    for file in sorted(FOLDER.glob("*.json"))
}

SAMPLES: Final[dict[str, tuple[str, str]]] = {  # name: kind, text
    "910B3": ("npu-smi info", npu_table(B3, [b3(n) for n in range(3)], PROCESSES)),
    "16 cards": ("npu-smi info", npu_table(B3, [b3(n) for n in range(16)], [])),
    "old": ("npu-smi info", npu_table(OLD, [FIRST_910B[0]._replace(name="910A")], None)),
    "first 910B": ("npu-smi info", npu_table(B3, FIRST_910B, None)),
    "A3": ("npu-smi info", npu_table(A3, A3_DIES, [("1", "1", "77", "python", "9")])),
    "310P Duo": ("npu-smi info", npu_table(NO_HBM, DUO, None)),
    "310": ("npu-smi info", npu_table(NO_HBM, DIGITS, None)),
    "vNPU": ("npu-smi info", npu_table(NO_HBM, VIRTUAL, None)),
    "wide": ("npu-smi info", npu_table(WIDE, [b3(0)], PROCESSES)),
    "950": ("npu-smi info", npu_table(N950, N950_DIES, [("3", "", "88", "python", "10")])),
    "usages": ("npu-smi info -t usages", USAGES),
    "common": ("npu-smi info -t common", COMMON),
    "board": ("npu-smi info -t board", BOARD),
    "health": ("npu-smi info -t health", HEALTH),
    "memory": ("npu-smi info -t memory", MEMORY),
    "ecc": ("npu-smi info -t ecc", ECC),
    "power": ("npu-smi info -t power", POWER),
    "temp": ("npu-smi info -t temp", TEMP),
    "map": ("npu-smi info -m", MAP),
    "list": ("npu-smi info -l", LIST),
    "proc-mem": ("npu-smi info -t proc-mem", PROC_MEM),
    "info-vnpu": ("npu-smi info -t info-vnpu", VNPU),
    "template-info": ("npu-smi info -t template-info", TEMPLATES),
    "watch": ("npu-smi info watch", WATCH),
    "topo": ("npu-smi info -t topo", TOPO),
    "version": ("npu-smi -v", "npu-smi version: 25.5.1\n"),
    "busy": ("npu-smi error", BUSY),
    "efsmi": ("efsmi", EFSMI),
    "efsmi new": ("efsmi", EFSMI_NEW),
    "efsmi -q": ("efsmi -q", EFSMI_QUERY),
    "efsmi dmon": ("efsmi dmon", EFSMI_DMON),
    "lspci": ("lspci", LSPCI),
    "lspci -nn": ("lspci", LSPCI_NN),
    "lspci -n": ("lspci", LSPCI_N),
    "lspci -vmm": ("lspci", LSPCI_VMM),
    "lspci -mm": ("lspci", LSPCI_MM),
    "driver": ("driver version.info", DRIVER),
    "firmware": ("firmware version.info", FIRMWARE),
    "cann": ("cann install.info", CANN),
    "kernels": ("cann install.info", KERNELS),
    "ops": ("cann install.info", OPS),
    "version.cfg": ("cann version.cfg", CFG),
    "nnal": ("nnal version.info", NNAL),
    "ascend_install.info": ("ascend_install.info", INSTALL),
    "dpkg": ("dpkg -l", DPKG),
    "rpm": ("rpm -qa", RPM),
    "pip": ("pip list", PIP),
    "pip freeze": ("pip list", FREEZE),
    "inspect": ("docker inspect", INSPECT),
    "daemon.json": ("docker daemon.json", DAEMON),
    "hccn": ("hccn_tool -link_stat", HCCN),
    "topsrider": ("topsrider install log", TOPSRIDER),
} | {
    name: (value["kind"], (FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
    for name, value in EXPECTED.items()
}
