"""Building the two wheels for a release of Paddle, in an environment made for the purpose."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from tests.loopback.conftest import ROOT

SOURCES = ROOT / "images" / "loopback"
RELEASES = ("3.0.0", "3.3.1")  # 3.1.1 and 3.2.2 were tried by hand
BUILD_TOOLS = ("cmake", "ninja", "scikit-build-core", "setuptools", "wheel")


@dataclass(frozen=True)
class Environment:
    """A virtual environment with one release of Paddle and what builds need."""

    folder: Path
    release: str

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def paddle(self) -> Path:
        return next(self.folder.glob("lib/python*/site-packages/paddle"))

    @property
    def plugins(self) -> Path:
        return self.paddle.parent / "paddle_custom_device"

    def install(self, *what: str | Path) -> None:
        run([uv(), "pip", "install", "-q", "--python", self.python, *what])


def uv() -> str:
    found = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    assert found, "uv is needed to make environments"
    return found


def run(command: list[str | Path], **variables: str) -> str:
    result = subprocess.run(
        command, env=os.environ | variables, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def make(folder: Path, release: str) -> Environment:
    """An environment with paddlepaddle `release`, from the package cache where it has it."""
    run([uv(), "venv", "-q", "--python", sys.executable, folder])
    environment = Environment(folder, release)
    environment.install(f"paddlepaddle=={release}", "numpy<2", *BUILD_TOOLS)
    return environment


def build(
    environment: Environment, source: Path, work: Path, *settings: str, **variables: str
) -> tuple[Path, str]:
    """Build the wheel of `source` in `work`; return it and all that was printed."""
    given = {
        "PADDLE_DIR": str(environment.paddle),
        "PADDLE_VERSION": environment.release,
        "SOURCE_DATE_EPOCH": "1700000000",
        "PATH": f"{environment.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    options = [word for setting in settings for word in ("-C", setting)]
    output = run(
        [uv(), "build", "--wheel", "--no-build-isolation", "--python", environment.python,
         "-C", f"build-dir={work / 'build'}", *options, "-o", work / "dist", source],
        **given | variables,
    )  # fmt: skip
    (wheel,) = (work / "dist").glob("*.whl")
    return wheel, output


def library(wheel: Path) -> bytes:
    """The one shared library inside a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith(".so")]
        return archive.read(name)
