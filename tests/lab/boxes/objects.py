"""Small real ELF files: shared libraries and kernel modules as a vendor would ship them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path


def library(file: Path, functions: Iterable[str], needs: Iterable[str] = ()) -> None:
    """A shared library with these functions, that needs others by name."""
    source = "".join(f"int {name}(void) {{ return 0; }}\n" for name in functions)
    link = ["-Wl,--no-as-needed", *(f"-l:{name}" for name in needs), f"-L{file.parent}"]
    options = ["-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{file.name}"]
    _compile(file, source, [*options, *link])


def module(file: Path, kernel: str, version: str = "") -> None:
    """A kernel module by its look: what `modinfo` reads of it is right, the kernel has no use
    for it."""
    told = {"license": "GPL", "name": file.stem, "vermagic": f"{kernel} SMP preempt mod_unload "}
    told |= {"version": version} if version else {}
    place = '__attribute__((section(".modinfo"), used, aligned(1)))'
    source = "".join(f'static const char {key}[] {place} = "{key}={value}";\n'
                     for key, value in told.items())  # fmt: skip
    _compile(file, source, ["-c"])


def headers(root: Path, kernel: str) -> None:
    """Where a kernel's modules are built, by its look."""
    folder = root / f"usr/src/linux-headers-{kernel}"
    (folder / "include/generated").mkdir(parents=True)
    (folder / "include/generated/utsrelease.h").write_text(f'#define UTS_RELEASE "{kernel}"\n')
    (folder / "Makefile").write_text("# the lab builds no modules\n")
    (root / f"lib/modules/{kernel}/build").symlink_to(f"/usr/src/linux-headers-{kernel}")


def _compile(file: Path, source: str, options: list[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    argv = ["gcc", "-x", "c", "-", "-x", "none", "-o", str(file), *options]
    subprocess.run(argv, input=source, text=True, check=True, capture_output=True)
