"""A machine with CANN in the vendor's layouts, with values of our own, to be changed by tests."""

from __future__ import annotations

from typing import Any

from provision.facts.folders import Folder
from provision.facts.installed import Environment
from provision.facts.linking.linkage import Linkage, Needed
from provision.facts.linking.process_libraries import Levels, Runtime
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from tests.doctor.values import MACHINE, changed
from tests.doctor.vendor import node, npu

ASCEND = "/usr/local/Ascend"
OLD = f"{ASCEND}/ascend-toolkit"
KERNELS = "opp/built-in/op_impl/ai_core/tbe/kernel"
DRIVER = (
    "Version={0}\nascendhal_version=7.35.23\nInnerversion=V100R001C19SPC001B901\n"
    "compatible_version_fw=[7.0.0,7.5.99]\npackage_version={0}\n"
)


def old_toolkit(version: str = "8.0.0") -> Output:
    """A toolkit up to 8.3, found by `latest`."""
    text = (
        f"package_name=Ascend-cann-toolkit\nversion={version}\ninnerversion=V100R001C20SPC001B901\n"
        f"arch=x86_64\nos=linux\npath={OLD}/{version}/x86_64-linux\n"
    )
    name = "x86_64-linux/ascend_toolkit_install.info"
    return Output(f"{OLD}/latest/{name}", text, f"{OLD}/{version}/{name}")


def new_toolkit(version: str = "8.5.0") -> Output:
    """A toolkit from 8.5 on."""
    name = f"{ASCEND}/cann-{version}/x86_64-linux/ascend_toolkit_install.info"
    text = (
        f"package_name=Ascend-cann-toolkit\nversion={version}\narch=x86_64\n"
        f"path={ASCEND}/cann-{version}\n"
    )
    return Output(name, text, name)


def inner(version: str = "8.0.0", root: str = f"{OLD}/8.0.0") -> Output:
    """The version file of the operator kernels up to 8.3."""
    path = f"{root}/opp_kernel/version.info"
    text = f"Version=7.6.0.1.299\nversion_dir={version}\ntimestamp=20260102_000000000\n"
    return Output(path, text, path)


def ops(chip: str = "910b", version: str = "8.5.0", root: str = f"{ASCEND}/cann-8.5.0") -> Output:
    """The version file of an operator package from 8.5 on."""
    path = f"{root}/x86_64-linux/ascend_ops_install.info"
    text = f"package_name=Ascend-cann-{chip}-ops\nversion={version}\narch=x86_64\npath={root}\n"
    return Output(path, text, path)


def listed(*names: str, root: str = f"{OLD}/latest") -> Output:
    """The folders of kernels; none for a folder that is not there."""
    path = f"{root}/{KERNELS}"
    if not names:
        text = f"ls: cannot access '{path}': No such file or directory"
        return Output(f"ls {path}", text, "/usr/bin/ls", 2)
    return Output(f"ls {path}", "\n".join([*names, "config"]) + "\n", "/usr/bin/ls", 0)


def atb(version: str = "8.0.0") -> Output:
    """The version file of NNAL."""
    path = f"{ASCEND}/nnal/atb/{version}/version.info"
    text = f"Ascend-cann-atb : {version}\nAscend-cann-atb Version : {version}.B901\n"
    return Output(path, text, path)


def driver(version: str = "24.1.0") -> Output:
    """The driver's version file."""
    path = f"{ASCEND}/driver/version.info"
    return Output(path, DRIVER.format(version), path)


def folder(variable: str, path: str, real: str | None = "") -> Folder:
    """A folder that a variable names; by itself it is there, and no link."""
    return Folder(variable, path, path if real == "" else real)


LIBRARIES = folder("LD_LIBRARY_PATH", f"{OLD}/latest/lib64", f"{OLD}/8.0.0/lib64")
NEW_LIBRARIES = folder("LD_LIBRARY_PATH", f"{ASCEND}/cann-8.5.0/lib64")
HOME = folder("ASCEND_TOOLKIT_HOME", f"{OLD}/latest")
NEW_HOME = folder("ASCEND_TOOLKIT_HOME", f"{ASCEND}/cann-8.5.0")
PYTHON = folder("PYTHONPATH", f"{OLD}/latest/python/site-packages",
                f"{OLD}/8.0.0/python/site-packages")  # fmt: skip
DRIVER_LIBRARIES = folder("LD_LIBRARY_PATH", f"{ASCEND}/driver/lib64/driver")
ATB_HOME = folder("ATB_HOME_PATH", f"{ASCEND}/nnal/atb/latest/atb/cxx_abi_1",
                  f"{ASCEND}/nnal/atb/8.0.0/atb/cxx_abi_1")  # fmt: skip
FOLDERS = [LIBRARIES, DRIVER_LIBRARIES, PYTHON, HOME, ATB_HOME]
OUTPUTS = [driver(), old_toolkit(), inner(), listed("ascend910b"), atb()]
PACKAGES = {
    "paddlepaddle": "3.0.0", "paddle-custom-npu": "3.0.0", "numpy": "1.26.4", "attrs": "23.2",
    "decorator": "5.1", "psutil": "5.9", "scipy": "1.13", "sympy": "1.12",
}  # fmt: skip
FILE = "/demo/paddle_custom_device/libpaddle-custom-npu.so"
LINKAGE = Linkage(
    FILE,
    needed=[Needed("libascendcl.so", f"{OLD}/8.0.0/lib64/libascendcl.so", FILE, "variable"),
            Needed("libstdc++.so.6", "/usr/lib/libstdc++.so.6", FILE, "cache")],
    glibc="2.31", glibcxx="3.4.28", cxxabi="1.3.11", cxx11_abi=True, arch="x86_64",
)  # fmt: skip
RUNTIME = Runtime(
    Levels("/usr/lib/libc.so.6", "2.35", None, None),
    Levels("/usr/lib/libstdc++.so.6", None, "3.4.30", "1.3.13"), None,
)  # fmt: skip
NODES = [node(f"/dev/davinci{number}", vendor="Huawei") for number in range(8)]


def environment(removed: tuple[str, ...] = (), /, **more: Any) -> Environment:
    """An environment with Paddle and its plugin; `more` by names with `_` for `-`."""
    named = {name.replace("_", "-"): version for name, version in more.items()}
    packages = {**PACKAGES, **named}
    kept = {name: version for name, version in packages.items() if name not in removed}
    wheels = {"paddle-custom-npu": ["cp310-cp310-linux_x86_64"]}
    return Environment("/demo/python", "3.10.1", "", kept, "/demo/packages", wheels=wheels)


def machine(healthy: Facts, outputs: list[Output] | None = None, **changes: Any) -> Facts:
    """A healthy machine with CANN 8.0.0 and Paddle 3.0.0 for it."""
    values = {
        "folders": FOLDERS, "variables": {"PATH": "/usr/bin"}, "nodes": NODES, "runtime": RUNTIME,
        "environment": environment(), "linkage": [LINKAGE],
        "machine": changed(MACHINE, arch="x86_64"),
    }  # fmt: skip
    return npu(healthy, OUTPUTS if outputs is None else outputs, **(values | changes))
