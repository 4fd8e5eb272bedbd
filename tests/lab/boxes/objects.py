"""Small real ELF files, as a vendor would ship them: shared libraries and kernel modules.

And what stands for the kernel's own: the headers, and its log, which is this machine's else.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

DMESG = "#!/bin/sh\nexec cat /var/lib/lab/dmesg\n"


def library(
    file: Path, functions: Iterable[str], needs: Iterable[Path] = (), calls: Iterable[str] = ()
) -> None:
    """A shared library with these functions, that needs others and calls what they should have."""
    made = "".join(f"int {name}(void) {{ return 0; }}\n" for name in functions)
    outer = "".join(f"int {name}(void);\nint use_{name}(void) {{ return {name}(); }}\n"
                    for name in calls)  # fmt: skip
    options = ["-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{file.name}", "-Wl,--no-as-needed"]
    _compile(file, made + outer, [*options, *map(str, needs)])


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
