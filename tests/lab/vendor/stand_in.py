"""A stand-in for a vendor's plugin: the loopback device, registered under the vendor's type.

It is compiled on a simulated machine by Paddock itself, and packed under the name that the vendor's
wheel has. Its metadata and the loaded library say what it is.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from pathlib import Path

from filelock import FileLock

from provision.paths import IMAGES, ROOT
from provision.stack import Release, load
from tests.conftest import shared_home
from tests.lab.boxes.box import checkout_mount
from tests.lab.machine import cache_mount, running
from tests.lab.vendor.bare import bare_image

TYPES = {"ascend910b": "npu", "s60": "gcu"}
_SOURCE = IMAGES / "loopback"
_STEPS = "host/toolchain,env/python,env/build-tools,framework/paddle,plugin/build"
_BUILD = f"""
set -e
for device in {" ".join(TYPES.values())}; do
    stack=/srv/stand-in/$device/stack.toml
    ./paddock provision --stack $stack --release "$release" --yes --only {_STEPS}
    cp /root/.local/share/paddock/wheels/loopback/plugin/build/*.whl /srv/out
done
"""


def paddle(release: Release) -> str:
    """The release of the loopback target with the same Paddle; "" where there is no lock for it."""
    pins = {one for one in release.framework if one.startswith("paddlepaddle==")}
    ours = load(_SOURCE / "stack.toml").releases
    return next((name for name, one in ours.items() if pins & {*one.framework}), "")


def wheel(vendor: str, version: str, release: str) -> Path:
    """The stand-in for a vendor's plugin of a version, for a release of the loopback target.

    Built where this machine has none of these sources.
    """
    image = bare_image()
    kept = shared_home("stand-in") / _digest(image, version, release)
    with FileLock(kept.with_suffix(".lock")):
        if not kept.is_dir():
            _build(image, kept, version, release)
    return next(kept.glob(f"paddle_custom_{TYPES[vendor]}-{version}-*.whl"))


def _digest(*more: str) -> str:
    """Of all that goes into it."""
    digest = hashlib.sha256(repr(more).encode() + Path(__file__).read_bytes())
    for file in sorted((_SOURCE / "plugin").rglob("*.*")):
        if file.is_file() and file.suffix != ".pyc":
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _build(image: str, kept: Path, version: str, release: str) -> None:
    """Build all of them on one machine, so that Paddle is installed once."""
    with tempfile.TemporaryDirectory(prefix="paddock-lab-") as scratch:
        sources, out = Path(scratch, "sources"), Path(scratch, "out")
        out.mkdir()
        for device in TYPES.values():
            shutil.copytree(_SOURCE, sources / device)
            _rename(sources / device / "plugin", device, version)
        places = {sources: "/srv/stand-in", out: "/srv/out"}
        mounts = [f"--mount=type=bind,source={here},target={there}"
                  for here, there in places.items()]  # fmt: skip
        options = [*mounts, *checkout_mount(ROOT, "readonly"), *cache_mount()]
        with running(image, *options) as machine:
            done = machine.run(_BUILD, timeout=900, release=release)
            if done.returncode:
                raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
        shutil.copytree(out, kept)


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
