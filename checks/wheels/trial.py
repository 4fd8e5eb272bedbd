"""Installs a wheel into a clean environment over the Paddle that is here, and imports it there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec

from checks.known import first_known
from checks.wheels import place as places
from checks.wheels.place import Place
from checks.wheels.subject import Trial
from provision.facts import loading
from provision.facts.command import Answer, run, signal_name
from provision.facts.loading import Loaded
from provision.run import clean
from provision.tools import uv

_PLUGINS = "paddle_custom_device"
_INSTALL = 300.0  # seconds; a wheel of some GB on a slow disk


def attempt(wheel: Path, place: Place, files: Iterable[PurePosixPath], name: str) -> Trial:
    """Try it for a wheel with these files. The environment of the place stays as it is.

    Runs code of the wheel. Raises OSError.
    """
    files = list(files)
    with tempfile.TemporaryDirectory(prefix="paddock-wheel-") as scratch:
        env = Path(scratch, "env")
        python = env / "bin" / "python"
        if said := _made(env, place):
            return Trial(refused=said)
        site = next(env.glob("lib/python3.*/site-packages"))
        places.link(site, place, files, name)
        install = [uv(), "pip", "install", "--offline", "--no-deps", "--no-cache", "--no-config",
                   "--quiet", "--python", str(python), f"./{wheel.name}"]  # fmt: skip
        answer = run(install, _INSTALL, _surroundings(), cwd=wheel.parent.absolute())
        if answer.status != 0:
            return Trial(refused=answer.lines[-5:])
        loaded, said = _imported(python, site, files, place.device)
        known = first_known([*said, loaded.line]) if loaded.verdict != "loads" else None
        return Trial([], _plain(loaded, f"{site}/"), f"{known.id}: {known.cause}" if known else "")


def _plain(loaded: Loaded, site: str) -> Loaded:
    """The verdict with files as they are called in the wheel."""
    said = [line.replace(site, "") for line in loaded.said]
    return msgspec.structs.replace(loaded, line=loaded.line.replace(site, ""), said=said)


def _made(env: Path, place: Place) -> list[str]:
    """Make an empty environment of the place's Python; what was said where that fails."""
    base = place.environment.python if place.environment else ""
    answer = run(
        [uv(), "venv", "--quiet", "--offline", "--no-config", "--python", base, env], 60.0,
        _surroundings(),
    )  # fmt: skip
    return [] if answer.status == 0 else answer.lines[-5:]


def _surroundings() -> dict[str, str]:
    """The variables for uv, without the user's own settings of it.

    With UV_COMPILE_BYTECODE, say, it would write through the links into the environment.
    """
    return {name: value for name, value in clean(os.environ).items() if not name.startswith("UV_")}


def _imported(
    python: Path, site: Path, files: Iterable[PurePosixPath], device: str
) -> tuple[Loaded, list[str]]:
    """What an import says: of Paddle with the plugin, or of the packages of another wheel."""
    variables = {**clean(os.environ), "PYTHONDONTWRITEBYTECODE": "1"}
    if any(file.parts[0] == _PLUGINS for file in files):
        # As Paddle sets it itself, but it looks past the link, beside the Paddle that is linked.
        variables["CUSTOM_DEVICE_ROOT"] = str(site / _PLUGINS)
        made = loading.load(python, device, variables=variables)
        if made.verdict == "unknown" and made.types:  # whatever its name, no other plugin is there
            made = Loaded("loads", made.line, made.where, made.types)
        return made, made.said
    modules = sorted({file.parts[0] for file in files if file.name == "__init__.py"
                      and len(file.parts) == len(("package", "file"))})  # fmt: skip
    source = "; ".join(f"import {module}" for module in modules if module.isidentifier())
    answer = run([python, "-W", "ignore", "-c", source], loading.LIMIT, variables, python.parent)
    return _judged(answer, f"import {', '.join(modules)}"), answer.lines


def _judged(answer: Answer, where: str) -> Loaded:
    """The verdict on an import without a plugin."""
    last = answer.lines[-1].strip() if answer.lines else "-"
    if answer.status is None:
        return Loaded("hangs", last, where)
    if answer.status < 0:
        return Loaded("crashes", f"{signal_name(-answer.status)}: {last}", where)
    return Loaded("raises" if answer.status else "loads", last if answer.status else where, where)
