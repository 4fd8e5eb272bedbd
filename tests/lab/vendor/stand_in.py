"""A stand-in for a vendor's plugin: the loopback device, registered under the vendor's type.

It is compiled on a simulated machine by Paddock itself, and packed under the name that the vendor's
wheel has. Its metadata and the loaded library say what it is.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from pathlib import Path

from filelock import FileLock

from provision.lock import lock_file
from provision.paths import IMAGES, ROOT
from provision.stack import Stack, load
from tests.conftest import shared_home
from tests.lab.boxes.box import checkout_mount
from tests.lab.machine import cache_mount, running
from tests.lab.vendor.bare import bare_image

TYPES = {"ascend910b": "npu", "s60": "gcu"}
_SOURCE = IMAGES / "loopback"
# The vendor's Paddle, in the stack of the loopback target: by the vendor's own lock.
_RELEASE = """
[releases.stand-in]
python = "{python}"
framework = {framework}
paddlenlp = []
source = "the release of the vendor's target"
seen = "now"
"""
_STEPS = "host/toolchain,env/python,env/build-tools,framework/paddle,plugin/build"
_BUILD = f"""
set -e
stack=/srv/stand-in/sources/stack.toml
./paddock provision --stack $stack --release stand-in --yes --only {_STEPS}
cp /root/.local/share/paddock/wheels/loopback/plugin/build/*.whl /srv/out
"""


def wheel(vendor: str, release: str) -> Path | None:
    """The stand-in for the plugin of a vendor's release; None where there is no lock of its Paddle.

    Built where this machine has none of these sources.
    """
    lock = lock_file(IMAGES / vendor, release, "framework")
    if not lock.is_file():
        return None
    image, stack = bare_image(), load(IMAGES / vendor / "stack.toml")
    kept = shared_home("stand-in") / _digest(image, vendor, release, lock.read_text())
    with FileLock(kept.with_suffix(".lock")):
        if not kept.is_dir():
            _build(image, kept, stack, release)
    return next(kept.glob("*.whl"))


def _digest(*more: str) -> str:
    """Of all that goes into it."""
    digest = hashlib.sha256(repr(more).encode() + Path(__file__).read_bytes())
    for file in sorted((_SOURCE / "plugin").rglob("*.*")):
        if file.is_file() and file.suffix != ".pyc":
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _build(image: str, kept: Path, stack: Stack, release: str) -> None:
    with tempfile.TemporaryDirectory(prefix="paddock-lab-") as scratch:
        sources, out = Path(scratch, "sources"), Path(scratch, "out")
        out.mkdir()
        _write(sources, stack, release)
        places = {sources: "/srv/stand-in/sources", out: "/srv/out"}
        mounts = [f"--mount=type=bind,source={here},target={there}"
                  for here, there in places.items()]  # fmt: skip
        options = [*mounts, *checkout_mount(ROOT, "readonly"), *cache_mount()]
        with running(image, *options) as machine:
            done = machine.run(_BUILD, timeout=900)
            if done.returncode:
                raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
        shutil.copytree(out, kept)


def _write(sources: Path, stack: Stack, release: str) -> None:
    """The target `loopback` with a release that has the vendor's Paddle, as the vendor's plugin."""
    shutil.copytree(_SOURCE, sources)
    ours, chosen = load(_SOURCE / "stack.toml"), stack.releases[release]
    with (sources / "stack.toml").open("a", encoding="utf-8") as file:
        framework = json.dumps(chosen.framework)
        file.write(_RELEASE.format(python=stack.pythons(release), framework=framework))
    lock = lock_file(sources, "stand-in", "framework")
    shutil.copytree(lock_file(_SOURCE, ours.default_release, "framework").parent, lock.parent)
    shutil.copy(lock_file(IMAGES / stack.target, release, "framework"), lock)
    _rename(sources / "plugin", TYPES[stack.target], chosen.pins["plugin"])


def _rename(plugin: Path, device: str, version: str) -> None:
    """Let these sources of the loopback plugin give the vendor's wheel, of the vendor's version."""
    packages = plugin / "python/paddle_custom_device"
    (packages / "loopback").rename(packages / device)
    _replace(packages / "__init__.py", (r"\bloopback\b", device))
    _replace(
        plugin / "pyproject.toml",
        ("paddle-custom-loopback", f"paddle-custom-{device}"),
        ("(?m)^description = .*", f'description = "Stand-in for the plugin of {device}: '
                                  'a device in host memory, not a card"'),
        ("(?m)^wheel.py-api = .*\n", ""),
        (r"(?m)^dynamic = .*", f'version = "{version}"'),
        (r"(?s)\[tool.scikit-build.metadata.version\].*\Z", ""),
        (r"\Z", f'\n[tool.scikit-build.cmake.define]\nLOOPBACK_DEVICE_TYPE = "{device}"\n'),
    )  # fmt: skip


def _replace(file: Path, *pairs: tuple[str, str]) -> None:
    text = file.read_text(encoding="utf-8")
    for pattern, new in pairs:
        text, count = re.subn(pattern, new, text)
        assert count, f"{file}: {pattern}"
    file.write_text(text, encoding="utf-8")
