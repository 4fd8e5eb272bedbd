"""A build backend of one file: the wheel `gamma`, the same bytes from the same sources.

The variable SMALL_BUILD makes the build misbehave, so that tests meet a real step that does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

INFO = {
    "METADATA": "Metadata-Version: 2.1\nName: gamma\nVersion: {0}\n",
    "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, str] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Write the wheel and return its name, as PEP 517 asks."""
    version = os.environ["PADDLE_VERSION"]
    _misbehave(os.environ.get("SMALL_BUILD", ""), Path(wheel_directory))
    name = f"gamma-{version}-py3-none-any.whl"
    info = f"gamma-{version}.dist-info"
    files = {"gamma.py": Path("gamma.py").read_text(encoding="utf-8")}
    files |= {f"{info}/{key}": text.format(version) for key, text in INFO.items()}
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(Path(wheel_directory) / name, "w") as archive:
        for file, text in files.items():
            archive.writestr(zipfile.ZipInfo(file), text)
    return name


def _misbehave(how: str, out: Path) -> None:
    """What a build can do to its installer."""
    if how == "hang":
        print("hanging on purpose", flush=True)
        time.sleep(600)
    if how == "deaf":  # a child that does not hear SIGTERM
        deaf = "trap '' TERM; echo deaf; sleep 600 & wait; sleep 600"
        subprocess.run(["sh", "-c", deaf], check=False)
    if how == "child":
        subprocess.Popen(["sleep", "611"])  # with the output of the step still open
    if how == "daemon":
        subprocess.Popen(["sleep", "612"], start_new_session=True)
    if how == "two":
        (out / "gamma-0-py3-none-any.whl").write_bytes(b"")
    if how == "fail":
        print("the secret is https://user:word@example.org/simple")
        print("\n".join(f"line {number}" for number in range(50)))
        print("没有成功: the build failed on purpose", flush=True)
        sys.exit(1)
