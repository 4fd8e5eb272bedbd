"""A target's steps as one POSIX shell script that needs nothing of this tool."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from provision.forms.commands import commands, holds, packages
from provision.forms.wanted import Wanted
from provision.paths import ROOT
from provision.render import render
from provision.stack import Step
from provision.steps import KINDS
from provision.words import catalogue


def script(wanted: Wanted) -> str:
    """The script: its files, then the steps in order. Run again, it skips what is done.

    Raises PaddockError `stack-part`.
    """
    steps = [_step(step, wanted) for step in wanted.steps]
    keys: dict[str, str] = {}
    for one, step in zip(steps, wanted.steps, strict=True):
        keys[step.name] = _key(step, str(one["script"]), wanted, keys)
    places = wanted.places
    return render("forms/script.sh.j2", {
        "target": wanted.stack.target, "release": wanted.release, "device": wanted.stack.device,
        "command": wanted.command("script"),
        "home": places.home, "state": places.state, "packages": places.packages,
        "scripts": places.output("x").parent, "trusted": places.trusted,
        "python": places.python, "uv": _pinned_uv(), "uv_env": places.home / "cache" / "uv-env",
        "files": [(path, content) for path, content in _files(wanted)],
        "given": list(dict.fromkeys(_given(wanted))),
        "steps": [{**one, "key": keys[str(one["name"])]} for one in steps],
    })  # fmt: skip


def _step(step: Step, wanted: Wanted) -> dict[str, object]:
    """What the template prints of a step; `lasting` is the file of one that is not cut short."""
    output = wanted.places.output(step.name)
    return {
        "lasting": output.with_suffix(".sh") if KINDS[step.kind].leaves_halves else "",
        "output": output,
        "name": step.name, "stamp": _stamp(wanted, step.name), "kind": step.kind,
        "check": "holds_" + re.sub(r"\W", "_", step.name),
        "script": commands(step, wanted), "holds": holds(step, wanted),
        "cleared": [_stamp(wanted, name) for name in _later(step, wanted)],
    }  # fmt: skip


def _stamp(wanted: Wanted, name: str) -> Path:
    """The file that says with which key a step was done."""
    return wanted.places.state / "done" / name.replace("/", ".")


def _later(step: Step, wanted: Wanted) -> list[str]:
    """The steps whose work this one removes when it runs."""
    if not KINDS[step.kind].clears:
        return []
    found = [step.name]
    for one in wanted.steps:
        if set(one.needs) & set(found):
            found.append(one.name)
    return found[1:]


def _key(step: Step, own: str, wanted: Wanted, keys: dict[str, str]) -> str:
    """What decides a step's result: its commands, its files, and the steps before it."""
    digest = hashlib.sha256(own.encode())
    for path in KINDS[step.kind].inputs(step, wanted.context):
        digest.update(str(path.relative_to(wanted.folder)).encode() + path.read_bytes())
    for name in step.needs:
        digest.update(keys.get(name, "").encode())
    return digest.hexdigest()[:16]


def _files(wanted: Wanted) -> Iterator[tuple[Path, str]]:
    """The target's own files that the steps read, each with its place and content."""
    seen = set()
    for step in wanted.steps:
        for path in KINDS[step.kind].inputs(step, wanted.context):
            if path not in seen:
                place = wanted.places.stack / path.relative_to(wanted.folder)
                yield place, path.read_bytes().decode()
            seen.add(path)


def _given(wanted: Wanted) -> Iterator[tuple[str, str, str, str]]:
    """The vendors' packages: file name, link, digest, and in a sentence where they are from."""
    said = catalogue()["package.from"]["en"]
    for step in wanted.steps:
        for name, own, digest, row in packages(step, wanted):
            told = said.format_map({"file": name, "vendor": row.vendor, "where": row.where})
            yield name, own, digest, told


def _pinned_uv() -> str:
    """uv with its hashes, from the lock of this tool."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines(keepends=True)
    start = next(index for index, line in enumerate(lines) if line.startswith("uv=="))
    end = next((i for i in range(start + 1, len(lines)) if lines[i][0] != " "), len(lines))
    return "".join(lines[start:end])
