"""Exact artifacts: for each release and layer a file of versions with their sha256.

The files `images/TARGET/locks/RELEASE/LAYER.txt` are in pip's requirements format with hashes.
They are written by `paddock lock`, never by hand.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from provision.errors import PaddockError
from provision.stack import Layer, Stack
from provision.tools import uv
from provision.words import text


def lock_file(folder: Path, release: str, layer: Layer) -> Path:
    """Where the lock of one layer stands, given the target's folder."""
    return folder / "locks" / release / f"{layer}.txt"


def unlocked(stack: Stack, release: str) -> PaddockError | None:
    """What to tell where a lock is missing and the release knows why; None where it does not."""
    if not (why := stack.releases[release].unlocked):
        return None
    reason = text(f"defect.{why}")
    return PaddockError("no-lock", release=release, target=stack.target, reason=reason)


def digest(folder: Path, release: str) -> str:
    """One SHA-256 of all lock files of a release; of none where it has none."""
    found = hashlib.sha256()
    for path in sorted((folder / "locks" / release).glob("*.txt")):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def write(folder: Path, stack: Stack, release: str, variables: Mapping[str, str]) -> list[Path]:
    """Resolve a release as one set, then write one lock a layer; returns the files written.

    A package stands in the first layer that needs it. Raises PaddockError `step-failed`.
    """
    layers, pythons = stack.layers(release), stack.pythons(release)
    with tempfile.TemporaryDirectory() as scratch:
        everything = [line for lines in layers.values() for line in lines]
        whole = _compile(Path(scratch), pythons, everything, "", variables)
        taken: set[str] = set()
        written = []
        for layer, requirements in layers.items():
            if not requirements:
                continue
            found = _compile(Path(scratch), pythons, requirements, whole, variables)
            blocks = {name: block for name, block in _blocks(found) if name not in taken}
            taken |= blocks.keys()
            target = lock_file(folder, release, layer)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("".join(blocks.values()), encoding="utf-8")
            written.append(target)
        if stack.data:
            data = _compile(Path(scratch), pythons, stack.data, "", variables, "--no-deps")
            written.append(lock_file(folder, release, "data"))
            written[-1].write_text(data, encoding="utf-8")
    return written


def _compile(
    scratch: Path,
    pythons: str,
    wanted: list[str],
    constraints: str,
    variables: Mapping[str, str],
    *extra: str,
) -> str:
    """What `uv pip compile` makes of these requirements."""
    (scratch / "pyproject.toml").write_text(f'[tool.uv]\nenvironments = ["{_marker(pythons)}"]\n')
    (scratch / "wanted.in").write_text("\n".join(wanted))
    (scratch / "constraints.txt").write_text(constraints)
    lowest = pythons.partition(",")[0].removeprefix(">=")
    command = [uv(), "pip", "compile", "wanted.in", "--universal", "--generate-hashes"]
    command += ["--no-header", "--no-annotate", "--python-version", lowest]
    command += ["--constraint", "constraints.txt", "--quiet", *extra]
    result = subprocess.run(
        command, cwd=scratch, capture_output=True, text=True, env=dict(variables), check=False
    )
    if result.returncode:
        lines = tuple(result.stderr.splitlines()[-20:])
        raise PaddockError("step-failed", lines, step="lock", status=result.returncode, log="-")
    return result.stdout


def _marker(pythons: str) -> str:
    """The environments a lock is for: Linux, and the Pythons that the release admits."""
    parts = [re.fullmatch(r"([<>=!~]+)([0-9.]+)", part) for part in pythons.split(",")]
    bounds = [f"python_version {part[1]} '{part[2]}'" for part in parts if part]
    return " and ".join(["sys_platform == 'linux'", *bounds])


def _blocks(lock: str) -> Iterator[tuple[str, str]]:
    """(name, lines) of each requirement: one line and its indented hashes, forks kept apart."""
    block: list[str] = []
    for line in [*lock.splitlines(keepends=True), ""]:
        if block and not line.startswith(" "):
            yield block[0].split(" \\")[0].strip(), "".join(block)
            block = []
        if line.strip():
            block.append(line)
