"""Any Python environment: a venv, a conda prefix, a system's Python; nothing of it is imported."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal

import msgspec

from provision import distributions
from provision.errors import PaddockError
from provision.facts import oddities
from provision.facts.command import run
from provision.facts.installed import Environment
from provision.words import text

_LIMIT = 20.0  # seconds
_NAME = re.compile(r"(?:python|pypy)3?(?:\.\d+)?t?d?")
# Without `site`, so that no .pth of the environment runs; it is imported, but not put to work.
_ASK = """\
import json, os, site, sys, sysconfig
try:
    program = os.readlink("/proc/self/exe")
except OSError:
    program = os.path.realpath(sys.executable)
print(json.dumps({
    "version": "%d.%d.%d" % sys.version_info[:3],
    "base": sys.base_prefix,
    "program": program,
    "system": site.getsitepackages([sys.base_prefix, sys.base_exec_prefix]),
    "user": site.getusersitepackages(),
    "cxx": sysconfig.get_config_var("CXX") or "",
}))
"""


class Answer(msgspec.Struct, frozen=True):
    """What an interpreter says about itself. `base` is its own prefix, not that of a venv."""

    version: str
    base: str
    program: str
    system: list[str]
    user: str
    cxx: str


def environment_at(path: Path) -> Environment:
    """The environment of a folder or of an interpreter.

    Its interpreter is started with `-I -S`, so that no package of it can spoil the answer; one that
    does not run (its base was removed) makes an environment with a problem. Raises PaddockError
    `bad-option` for a path that is none.
    """
    try:
        python = _python(path.absolute())
    except PermissionError:
        python = None
    if python is None:
        wanted = text("wanted.environment")
        raise PaddockError("bad-option", option="--env", value=path, wanted=wanted)
    answer, problem = _ask(python)
    prefix = _prefix(python, answer)
    kind = _kind(prefix)
    folders = [folder for folder in _folders(prefix, kind, answer) if folder.is_dir()]
    return Environment(
        str(python),
        answer.version if answer else None,
        problem,
        _packages(folders),
        site_packages=str(_main(folders) or ""),
        kind=kind,
        prefix=str(prefix),
        folders=[str(folder) for folder in folders],
        wheels={k: v for one in reversed(folders) for k, v in distributions.tags(one).items()},
        oddities=oddities.find(folders),
        program=answer.program if answer else "",
        cxx=answer.cxx if answer else "",
    )


def _python(path: Path) -> Path | None:
    """The interpreter that is meant; None for a path that is no environment."""
    if path.is_dir():
        names = [path / "bin/python", *sorted((path / "bin").glob("python3*"))]
        found = [one for one in names if _NAME.fullmatch(one.name) and _is_program(one)]
        # Where the base of a venv was removed its link leads nowhere: still an environment.
        made = (path / "pyvenv.cfg").is_file() or (path / "conda-meta").is_dir()
        return next(iter(found), names[0] if made else None)
    return path if _NAME.fullmatch(path.name) and _is_program(path) else None


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _ask(python: Path) -> tuple[Answer | None, str]:
    """What an interpreter says about itself, or None and what it said instead."""
    try:
        answer = run([python, "-I", "-S", "-c", _ASK], _LIMIT)
    except OSError as error:
        return None, f"{python}: {error.strerror}"
    try:
        return msgspec.json.decode(answer.out, type=Answer), ""
    except msgspec.MsgspecError:
        return None, next(iter(answer.lines), f"exit status {answer.status}")


def _prefix(python: Path, answer: Answer | None) -> Path:
    """The folder of the environment: that of a venv is told by its file, as Python does it."""
    above = python.parent.parent
    if (above / "pyvenv.cfg").is_file() or answer is None:
        return above
    return Path(answer.base)


def _kind(prefix: Path) -> Literal["venv", "conda", "system"]:
    if (prefix / "pyvenv.cfg").is_file():
        return "venv"
    return "conda" if (prefix / "conda-meta").is_dir() else "system"


def _folders(prefix: Path, kind: str, answer: Answer | None) -> list[Path]:
    """Where its packages are, in the order in which they are looked for."""
    if answer is None:
        return sorted(prefix.glob("lib/python3*/site-packages"))
    user = [] if os.environ.get("PYTHONNOUSERSITE") else [Path(answer.user)]
    system = [Path(name) for name in answer.system]
    if kind != "venv":
        return [*user, *system]
    minor = ".".join(answer.version.split(".")[:2])
    own = [prefix / lib / f"python{minor}/site-packages" for lib in ("lib", "lib64")]
    if own[0].resolve() == own[1].resolve():
        del own[1]
    return [*own, *user, *system] if _is_open(prefix) else own


def _is_open(venv: Path) -> bool:
    """Whether a venv sees the packages of its base and of the user."""
    settings = (venv / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    pattern = r"^include-system-site-packages\s*=\s*true\s*$"
    return bool(re.search(pattern, settings, re.MULTILINE | re.IGNORECASE))


def _packages(folders: list[Path]) -> dict[str, str]:
    """Name -> version of each distribution; of several, that of the first folder is in force."""
    found: dict[str, str] = {}
    for folder in folders:
        own = {**dict(distributions.eggs(folder)), **dict(distributions.installed(folder).keys())}
        found = {**own, **found}
    return dict(sorted(found.items()))


def _main(folders: list[Path]) -> Path | None:
    """The folder with Paddle, else the first one."""
    return next((one for one in folders if (one / "paddle").is_dir()), next(iter(folders), None))
