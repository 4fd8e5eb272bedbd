"""The running kernel, the others that are installed, and the drivers' modules for them."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from provision.facts import dkms, kernel_modules, small
from provision.facts.dkms import Dkms
from provision.facts.kernel_modules import Module, ModuleFile

# What of the command line bears on accelerators (the kernel's kernel-parameters.txt).
_OPTIONS = (
    "amd_iommu", "arm-smmu", "arm64.", "default_hugepagesz", "efi", "hugepages", "hugepagesz",
    "intel_iommu", "iommu", "isolcpus", "lockdown", "mem=", "modprobe.blacklist",
    "module.sig_enforce", "module_blacklist", "nomodule", "numa_balancing", "pci=", "pcie_",
    "transparent_hugepage", "vfio",
)  # fmt: skip
_VFIO = ("mdev", "vfio")  # the beginnings of the kernel's own module names
_SECURE_BOOT = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"  # UEFI: the global variable
_ATTRIBUTES = 4  # bytes that efivarfs puts before a value (the kernel's efivarfs)


class Kernel(msgspec.Struct, frozen=True):
    """The kernel and its modules. None is what could not be read, never "no".

    `headers`: whether those for the running kernel are there, None where /lib/modules does not have
    this kernel (as in a container). `others` are the other installed kernels. `loaded` and `files`
    are the vendors' modules. `vfio` are the loaded modules that give cards to virtual machines.
    `dkms` is also None where DKMS is not in use. `secure_boot` is False also where there is no EFI.
    """

    release: str
    command_line: list[str] | None
    headers: bool | None
    others: list[str] | None
    loaded: list[Module] | None
    files: list[ModuleFile] | None
    dkms: list[Dkms] | None
    secure_boot: bool | None
    vfio: list[str] | None


def collect(root: Path = Path("/")) -> Kernel:
    """Read it all; `root` is the prefix of /proc, /sys, /lib and /var."""
    release = small.text(root / "proc/sys/kernel/osrelease", 256) or os.uname().release
    installed = _installed(root)
    names = kernel_modules.loaded_names(root)
    rows = kernel_modules.catalogue()
    return Kernel(
        release=release,
        command_line=_command_line(root),
        headers=headers(root, release),
        others=None if installed is None else [small.shown(k) for k in installed if k != release],
        loaded=kernel_modules.loaded(root, rows),
        files=None if installed is None else kernel_modules.files(root, installed, release, rows),
        dkms=dkms.collect(root),
        secure_boot=_secure_boot(root),
        vfio=None if names is None else sorted(n for n in names if n.startswith(_VFIO)),
    )


def _installed(root: Path) -> list[str] | None:
    """The kernels below /lib/modules; None when it is not there, as in a container."""
    folder = root / "lib/modules"
    names = small.names(folder, 200)
    return names and [name for name in names if small.is_folder(folder / name)]


def _command_line(root: Path) -> list[str] | None:
    """The options that matter, in their order."""
    text = small.text(root / "proc/cmdline", 1 << 16)
    return None if text is None else [word for word in text.split() if word.startswith(_OPTIONS)]


def headers(root: Path, release: str) -> bool | None:
    """Whether /lib/modules/RELEASE/build leads to a folder in which modules can be built.

    Some distributions have the link without what it leads to, so its Makefile is looked for.
    """
    folder = root / "lib/modules" / release
    if not small.is_folder(folder):
        return None
    return small.is_file(small.followed(folder / "build", root) / "Makefile")


def _secure_boot(root: Path) -> bool | None:
    """The last byte of the variable; without EFI there is none. A hidden folder tells nothing."""
    firmware = root / "sys/firmware"
    value = small.data(firmware / "efi/efivars" / _SECURE_BOOT, 16)
    if value and len(value) == _ATTRIBUTES + 1 and value[-1] in (0, 1):
        return value[-1] == 1
    shown = small.names(firmware, 1000)
    return False if shown and "efi" not in shown else None
