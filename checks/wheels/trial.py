"""Installs a wheel into a clean environment over the Paddle that is here, and imports it there."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from checks.known import first_known
from checks.wheels import place as places
from checks.wheels.place import Place
from checks.wheels.subject import Trial
from provision.facts import loading
from provision.facts.command import Answer, run, signal_name
from provision.facts.loading import Loaded
from provision.paths import cache_dir
from provision.run import clean
from provision.tools import uv
from provision.wheels.trial import is_scarce, short_of_memory

if TYPE_CHECKING:
    from checks.logs.catalogue import Failure

_PLUGINS = "paddle_custom_device"
# Errors of the system that no wheel is to blame for: memory, rights, open files, room.
_OF_MACHINE = re.compile(r"\(os error (12|13|23|24|28|30|122)\)")
_LIMIT = 300.0  # seconds; a wheel of some GB on a slow disk


def _runnable() -> Path:
    """Where temporary files go, unless nothing there may be run or loaded, as on some servers."""
    usual = Path(tempfile.gettempdir())
    if not os.statvfs(usual).f_flag & os.ST_NOEXEC:
        return usual
    cache_dir().mkdir(parents=True, exist_ok=True)
    return cache_dir()


def attempt(wheel: Path, place: Place, files: Iterable[PurePosixPath], name: str) -> Trial:
    """Try it for a wheel with these files. The environment of the place stays as it is.

    Runs code of the wheel. Raises OSError.
    """
    files = list(files)
    with tempfile.TemporaryDirectory(prefix="paddock-wheel-", dir=_runnable()) as scratch:
        env = Path(scratch, "env")
        python = env / "bin" / "python"
        if problem := _made(env, place):
            return Trial(untried=problem)
        site = next(env.glob("lib/python3.*/site-packages"))
        places.overlay(site, place, files, name)
        install = [uv(), "pip", "install", "--offline", "--no-deps", "--no-cache", "--no-config",
                   "--quiet", "--python", str(python), f"./{wheel.name}"]  # fmt: skip
        answer = run(install, _LIMIT, _uv_variables(), cwd=wheel.parent.absolute())
        if answer.status is None:
            return Trial(untried=_problem(answer))
        if answer.status and any(map(_OF_MACHINE.search, answer.lines)):
            return Trial(untried=_problem(answer))
        if answer.status:
            return Trial(refused=answer.lines[-5:] or [_problem(answer)])
        scarce = is_scarce()
        loaded, said = _imported(python, site, files, place)
        if scarce and (line := short_of_memory("\n".join([*said, loaded.line]))):
            return Trial(untried=line)
        known = first_known([*said, loaded.line]) if loaded.verdict != "loads" else None
        return Trial("", [], _plain(loaded, f"{site}/"), _told(known))


def _plain(loaded: Loaded, site: str) -> Loaded:
    """The verdict with files as they are called in the wheel."""
    said = [line.replace(site, "") for line in loaded.said]
    return msgspec.structs.replace(loaded, line=loaded.line.replace(site, ""), said=said)


def _told(known: Failure | None) -> str:
    """An entry of the catalogue of failures, in one line."""
    return f"{known.id}: {known.cause}" if known else ""


def _made(env: Path, place: Place) -> str:
    """Make an empty environment of the place's Python; why that failed, "" where it did not."""
    base = place.environment.python if place.environment else ""
    make = [uv(), "venv", "--quiet", "--offline", "--no-config", "--python", base, str(env)]
    answer = run(make, _LIMIT, _uv_variables())
    return _problem(answer) if answer.status != 0 else ""


def _problem(answer: Answer) -> str:
    """Why uv did not do it."""
    end = f"no end within {_LIMIT:.0f} s" if answer.status is None else f"status {answer.status}"
    return answer.lines[-1] if answer.lines else f"uv: {end}"


def _uv_variables() -> dict[str, str]:
    """The variables for uv, without the user's own settings of it.

    With UV_COMPILE_BYTECODE, say, it would write through the links into the environment. A TMPDIR
    that cannot be used is passed over here, and uv would end with it.
    """
    own = {name: value for name, value in clean(os.environ).items() if not name.startswith("UV_")}
    return {**own, "TMPDIR": tempfile.gettempdir()}


def _imported(
    python: Path, site: Path, files: Iterable[PurePosixPath], place: Place
) -> tuple[Loaded, list[str]]:
    """What an import says: of Paddle with the plugin, or of the packages of another wheel."""
    variables = {**place.variables(), "PYTHONDONTWRITEBYTECODE": "1"}
    if any(file.parts[0] == _PLUGINS for file in files):
        # As Paddle sets it itself, but it looks past the link, beside the Paddle that is linked.
        variables["CUSTOM_DEVICE_ROOT"] = str(site / _PLUGINS)
        made = loading.load(python, place.device, variables=variables)
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
