"""The smallest stack of which an image can be made: a vendor's package, and a wheel `paddle`.

It asks no index for anything. The wheel's build does not end where the index that the build is told
of has `hang` in its address.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.engine.world import SMALL

TARGET = "small"
SDK = "small-sdk_1.0.run"
# What the package says, and no other file does.
MARK = b"the payload of a vendor"
STACK = """
schema = 1
target = "small"
device = "small"
python = ">=3.10"
default_release = "1"
data = []

[requirements]
build = []
model = []

[releases."1"]
framework = ["paddlepaddle==1.0"]
paddlenlp = []
pins = { sdk = "1.0" }
source = "the tests"
seen = "2026-11"

[image]
bases = {}
stack = ["host/sdk"]
user = "someone"
source = "the tests"
seen = "2026-11"

[packages.sdk]
files = ["small-sdk_{sdk}.run"]
archives = ["small-sdk_{sdk}.zip"]
vendor = "Vendor"
where = "https://vendor.example/"
pin = "sdk"
shows = "/opt/small/version.info"
install = ["--quiet"]
remove = ["--uninstall"]
source = "the tests"
seen = "2026-11"

[[steps]]
name = "host/sdk"
kind = "vendor"
package = "sdk"

[[steps]]
name = "env/python"
kind = "venv"

[[steps]]
name = "lib/build"
kind = "wheel"
source = "source"
needs = ["env/python"]

[[steps]]
name = "lib/install"
kind = "install"
wheels = ["lib/build"]
needs = ["lib/build"]
"""
INSTALLER = f"""#!/bin/sh
# {MARK.decode()}
case $1 in
    --check) ;;
    --uninstall) rm -rf /opt/small ;;
    *)
        mkdir -p /opt/small
        printf 'Version=1.0\\nPayload=PAYLOAD\\n' > /opt/small/version.info
        ;;
esac
"""
_HANG = 'os.environ.get("SMALL_BUILD", "")'


def write(folder: Path) -> Path:
    """Write the stack into a new folder; returns its file."""
    source = folder / "source"
    source.mkdir(parents=True)
    (folder / "stack.toml").write_text(STACK)
    for name in ("backend.py", "pyproject.toml"):
        text = (SMALL / "source" / name).read_text("utf-8").replace("gamma", "paddle")
        hang = '"hang" if "hang" in os.environ.get("UV_DEFAULT_INDEX", "") else ""'
        text, count = re.subn(re.escape(_HANG), hang, text)
        assert count == (name == "backend.py")
        (source / name).write_text(text)
    (source / "paddle.py").write_text("ANSWER = 42\n")
    return folder / "stack.toml"


def installer(folder: Path, payload: str) -> Path:
    """Write the vendor's package with this payload into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SDK).write_text(INSTALLER.replace("PAYLOAD", payload))
    return folder / SDK
