"""An environment whose Paddle is two tiny libraries, with symbols as a real one has them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from checks.wheels.audit import Audit, audit
from checks.wheels.place import Place, find
from tests.wheels import make

# It finds plugins as Paddle does, and takes each library there for one.
PADDLE = """\
import os, pathlib, site, types
for folder in site.getsitepackages():
    place = os.path.sep.join([folder, "paddle", "libs", "..", "..", "paddle_custom_device"])
    found = os.path.normpath(place) if os.path.exists(place) else ""
    os.environ.setdefault("CUSTOM_DEVICE_ROOT", found)
root = pathlib.Path(os.environ["CUSTOM_DEVICE_ROOT"] or "/nowhere")
types_ = sorted(path.stem.rpartition("-")[2] for path in root.glob("*.so"))
device = types.SimpleNamespace(get_all_custom_device_type=lambda: types_)
"""


@pytest.fixture(scope="session")
def paddle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment."""
    env = tmp_path_factory.mktemp("paddle") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True, timeout=60)
    site = next(env.glob("lib/python3.*/site-packages"))
    code = "int PD_RegisterPhiKernel(void) { return 1; }"
    core = make.compiled(
        site / "paddle/libs", code, "-Wl,-soname,libphi_core.so", name="libphi_core.so"
    )
    code = "int PD_RegisterPhiKernel(void); int PD_Main(void) { return PD_RegisterPhiKernel(); }"
    make.compiled(
        site / "paddle/base", code, str(core), "-Wl,-soname,libpaddle.so", name="libpaddle.so"
    )
    (site / "paddle/__init__.py").write_text(PADDLE)
    info = site / "paddlepaddle-3.3.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: paddlepaddle\nVersion: 3.3.1\n")
    row = f"paddle/__init__.py,{make.digest(PADDLE.encode())},{len(PADDLE)}"
    (info / "RECORD").write_text(f"{row}\n")
    return env


class Auditor:
    """Audits wheels against an environment, or against none."""

    def __init__(self, env: Path | None) -> None:
        self.env = env

    def __call__(self, wheel: Path, *rivals: Path) -> Audit:
        where = find(wheel.name, "auto", str(self.env)) if self.env else self.nowhere(wheel)
        return audit(wheel, where, importing=False, rivals=rivals)

    @staticmethod
    def nowhere(wheel: Path) -> Place:
        return Place("loopback", "tiny", None)


@pytest.fixture
def against(paddle: Path) -> Auditor:
    """Audits a wheel against that environment."""
    return Auditor(paddle)


@pytest.fixture
def alone() -> Auditor:
    """Audits a wheel where there is no environment."""
    return Auditor(None)


def cases(made: Audit) -> dict[str, str]:
    """The answers that are not good, as id -> `state case`; what only follows is left out."""
    return {one.id: f"{one.state} {one.case}" for one in made.findings
            if one.state not in ("ok", "apart", "follows")}  # fmt: skip
