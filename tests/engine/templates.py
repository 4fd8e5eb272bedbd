"""The step templates, and values for all that they print."""

from __future__ import annotations

from pathlib import Path

from provision.paths import TEMPLATES

STEPS = sorted(path.name for path in (TEMPLATES / "steps").glob("*.j2"))
HOSTILE = Path("/tmp/a b/家 'q\" $(touch x) `touch y`; touch z\n-rf \\n *")  # noqa: S108


def values(folder: Path = HOSTILE, manager: str = "apt-get") -> dict[str, object]:
    """A value for every name that a step's template prints."""
    names = ("uv", "python", "env", "interpreter", "lock", "source", "build", "out", "record",
             "added", "file", "mark", "output", "trusted", "notes", "folder", "root", "sourced",
             "held", "there")  # fmt: skip
    own: dict[str, object] = {name: folder / name for name in names}
    one = {"file": folder / "a.deb", "name": "a.deb", "sha256": "cd" * 32,
           "used": folder / "copies" / "a.deb",
           "trusted": folder / "trusted"}  # fmt: skip
    return own | {"paddle_version": "1.0", "manager": manager, "packages": ["g++"],
                  "folders": [folder / "one", folder / "two"], "account": "HwHiAiUser",
                  "modules": ["enflame"], "arguments": ["--full", "a b"], "limit": 60,
                  "removal": "bash '/a b/x' -q", "reboot": "reboot (takes|\"effect')",
                  "sha256": "ab" * 32, "name": (folder / "a b.run").name, "files": [one],
                  "debs": [folder / "a.deb"], "again": True, "renewed": ["a"],
                  "command": [folder / "python", "build-ops"], "settings": [folder / "set_env.sh"],
                  "order": '{"origin": "a b"}', "order_file": "order.json",
                  "answer_file": "answer.json"}  # fmt: skip
