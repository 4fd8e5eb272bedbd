"""Kernels, headers, modules and DKMS in a root of our own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from provision.facts import dkms, kernel, kernel_modules
from provision.facts.kernel_modules import Module
from tests.facts.test_modinfo import module

RUNNING, OLD = "5.10.0-7-demo", "5.10.0-3-demo"
DRIVER = "updates/drv_pcie_host.ko"
SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"


def put(root: Path, name: str, content: str | bytes = "") -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A machine that runs RUNNING, with OLD installed as well."""
    put(tmp_path, "proc/sys/kernel/osrelease", RUNNING + "\n")
    for release in (RUNNING, OLD):
        (tmp_path / "lib/modules" / release).mkdir(parents=True)
    return tmp_path


def test_an_empty_root_tells_nothing(tmp_path: Path) -> None:
    found = kernel.collect(tmp_path)
    assert found == kernel.Kernel(os.uname().release, *[None] * 8)


def test_kernels_and_options(root: Path) -> None:
    put(root, "lib/modules/no-folder", "")
    put(root, "proc/cmdline", "quiet iommu=pt default_hugepagesz=1G ro intel_iommu=on root=/x\n")
    found = kernel.collect(root)
    assert (found.release, found.others) == (RUNNING, [OLD])
    assert found.command_line == ["iommu=pt", "default_hugepagesz=1G", "intel_iommu=on"]


def test_headers(root: Path) -> None:
    build = root / "lib/modules" / RUNNING / "build"
    assert kernel.collect(root).headers is False
    build.symlink_to("/usr/src/headers")  # as distributions ship it without the headers
    assert kernel.collect(root).headers is False
    (root / "usr/src/headers").mkdir(parents=True)
    assert kernel.collect(root).headers is False
    put(root, "usr/src/headers/Makefile", "all:\n")
    assert kernel.collect(root).headers is True
    put(root, "proc/sys/kernel/osrelease", "9.9.9-none\n")
    assert kernel.collect(root).headers is None


def test_loaded_modules_of_the_vendors_alone(root: Path) -> None:
    put(root, "proc/modules", "drv_pcie_host 16384 1 - Live 0x0 (OE)\next4 9 0 - Live 0x0\n\n")
    put(root, "sys/module/enflame/version", "1.4.0.505\n")
    put(root, "sys/module/asdrv_pbl/version", "\n")
    put(root, "sys/module/drv_of_somebody/version", "1\n")
    (root / "sys/module/vfio_pci").mkdir()
    (root / "sys/module" / os.fsdecode(b"ascend_\xff")).mkdir()
    found = kernel.collect(root)
    assert found.loaded == [
        Module("ascend_\ufffd", "Huawei", None),
        Module("asdrv_pbl", "Huawei", None),
        Module("drv_pcie_host", "Huawei", None),
        Module("enflame", "Enflame", "1.4.0.505"),
    ]
    assert found.vfio == ["vfio_pci"]


def test_the_files_of_every_kernel(root: Path) -> None:
    base = f"lib/modules/{RUNNING}/"
    put(root, base + DRIVER, module())
    put(root, base + "extra/drv-vascend.ko.xz", b"damaged")
    put(root, base + "kernel/fs/ext4.ko", module())
    put(root, base + "odd/ts_agent.ko", module(b"vermagic=4.19.90 SMP\0"))
    put(root, base + "modules.dep", f"{DRIVER}: x.ko\nodd/ts_agent.ko:\nextra/ascend_uda.ko:\n")
    put(root, f"lib/modules/{OLD}/{DRIVER}", module())
    files = kernel.collect(root).files or []
    assert [(file.kernel, file.name, file.built_for, file.version) for file in files] == [
        (OLD, "drv_pcie_host", None, None),
        (RUNNING, "drv_pcie_host", "5.10.0-7-demo", "3.1.4"),
        (RUNNING, "drv_vascend", None, None),
        (RUNNING, "ts_agent", "4.19.90", None),
    ]
    assert files[1].vermagic == "5.10.0-7-demo SMP mod_unload"
    assert files[1].path == str(root / base / DRIVER)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a-b.ko", "a_b"), ("a.ko.zst", "a"), ("a.ko.gz", "a"), ("a.ko.old", None), ("a.txt", None)],
)
def test_the_name_of_a_module(name: str, expected: str | None) -> None:
    assert kernel_modules.module_name(Path("/x", name)) == expected


def test_every_row_of_the_catalogue_is_sound() -> None:
    rows = kernel_modules.catalogue()
    names = [name for row in rows for name in row.names]
    assert len(names) == len(set(names))
    for row in rows:
        assert row.source and row.seen and row.vendor
        assert all(name.isidentifier() for name in row.names)
        assert all(kernel_modules.vendor(name, rows) == row.vendor for name in row.names)
    assert kernel_modules.vendor("drv_of_somebody", rows) is None
    assert kernel_modules.vendor("nvidia", rows) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [(b"\6\0\0\0\1", True), (b"\6\0\0\0\0", False), (b"\6\0\0\0", None), (b"\6\0\0\0\1\1", None),
     (b"", None), (b"\6\0\0\0\7", None)],
)  # fmt: skip
def test_secure_boot(root: Path, value: bytes, expected: bool | None) -> None:
    put(root, SECURE_BOOT, value)
    assert kernel.collect(root).secure_boot is expected


def test_no_efi_is_no_secure_boot_and_a_hidden_folder_is_unknown(root: Path) -> None:
    (root / "sys/firmware").mkdir(parents=True)  # a container sees it empty
    assert kernel.collect(root).secure_boot is None
    (root / "sys/firmware/acpi").mkdir()
    assert kernel.collect(root).secure_boot is False
    (root / "sys/firmware/efi").mkdir()
    assert kernel.collect(root).secure_boot is None


def built(root: Path, release: str) -> Path:
    """A finished build of demo/1.0; the folder of the driver."""
    folder = root / "var/lib/dkms/demo"
    put(root, f"var/lib/dkms/demo/1.0/{release}/x86_64/module/demo.ko")
    return folder


def test_dkms_from_added_to_installed(root: Path) -> None:
    put(root, "usr/src/demo-1.0/src/module/demo.c")
    put(root, "var/lib/dkms/demo/1.0/build/src/module/demo.c")
    version = root / "var/lib/dkms/demo/1.0"
    (version / "source").symlink_to("/usr/src/demo-1.0")
    added = dkms.Dkms("demo", "1.0", None, None, "added", True, False)
    assert kernel.collect(root).dkms == [added]
    put(version, "build/make.log", "error")
    assert dkms.collect(root) == [dkms.Dkms("demo", "1.0", None, None, "added", True, True)]
    (version / "build/make.log").unlink()
    built(root, OLD)
    (built(root, RUNNING) / f"kernel-{RUNNING}-x86_64").symlink_to(f"1.0/{RUNNING}/x86_64")
    assert [(row.kernel, row.arch, row.state) for row in dkms.collect(root) or []] == [
        (OLD, "x86_64", "built"),
        (RUNNING, "x86_64", "installed"),
    ]


def test_dkms_without_its_source_and_with_a_link_to_another_version(root: Path) -> None:
    folder = built(root, RUNNING)
    (folder / "1.0/source").symlink_to("/usr/src/gone")
    (folder / f"kernel-{RUNNING}-x86_64").symlink_to(f"2.0/{RUNNING}/x86_64")
    put(root, "var/lib/dkms/dkms_dbversion", "3.0.0")
    (row,) = dkms.collect(root) or []
    assert (row.state, row.source) == ("built", False)


def test_this_machine() -> None:
    found = kernel.collect()
    assert found.release == os.uname().release
    whole = Path("/proc/cmdline").read_text(errors="replace").split()
    assert set(found.command_line or []) <= set(whole)
