"""How a wheel was made, in a file beside it: an in-toto statement with SLSA's provenance.

It holds no time, no name of a machine and no folder of this one, so that the same inputs give the
same bytes. Layout: in-toto attestation framework, Statement v1; SLSA v1.0, provenance.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

from provision import distributions
from provision.render import render
from provision.stack import Step
from provision.steps.base import Context
from provision.steps.wheel import Wheel, paddle_version

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
# Names of our own for what SLSA wants a URI for; they lead nowhere.
_BUILD_TYPE, _BUILDER = "urn:paddock:wheel:1", "urn:paddock:builder:1"
_TOOLS = (("c++", "--version"), ("ld", "--version"))
_LINKED = ("paddle/base/libpaddle.so", "paddle/libs/libphi_core.so", "paddle/libs/libcommon.so")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class Named(msgspec.Struct, frozen=True):
    """A file that a statement is about."""

    name: str = ""
    digest: dict[str, str] = {}


class Statement(msgspec.Struct, frozen=True):
    """What is read of a statement, whoever has written it."""

    subject: list[Named]
    predicate: dict[str, object] = {}

    @property
    def paddle(self) -> str:
        """The version of Paddle that the wheel was built for; "" where it does not tell."""
        build = self.predicate.get("buildDefinition")
        outer = build.get("externalParameters") if isinstance(build, dict) else None
        return str(outer.get("paddle", "")) if isinstance(outer, dict) else ""


def beside(wheel: Path) -> Path:
    """Where the statement about a wheel is."""
    return wheel.with_name(f"{wheel.name}.intoto.json")


def sha256(file: Path) -> str:
    """The digest of a file of any size."""
    made = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(1 << 20):
            made.update(piece)
    return made.hexdigest()


def statement(step: Step, context: Context, wheel: Path) -> bytes:
    """The statement about the wheel of a step."""
    return encode({
        "_type": STATEMENT,
        "subject": [{"name": wheel.name, "digest": {"sha256": sha256(wheel)}}],
        "predicateType": PREDICATE,
        "predicate": {"buildDefinition": _definition(step, context),
                      "runDetails": {"builder": {"id": _BUILDER}}},
    })  # fmt: skip


def encode(document: dict[str, object]) -> bytes:
    """JSON in one fixed order."""
    return msgspec.json.format(msgspec.json.encode(document, order="sorted"), indent=1) + b"\n"


def _definition(step: Step, context: Context) -> dict[str, object]:
    """What was asked for, by which commands, and from what."""
    return {
        "buildType": _BUILD_TYPE,
        "externalParameters": {
            "target": context.stack.target, "release": context.release, "step": step.name,
            "paddle": paddle_version(context),
        },
        "internalParameters": {"commands": _commands(step, context), "arch": context.arch,
                               "toolchain": dict(_toolchain(context))},
        "resolvedDependencies": [*_sources(step, context), *_packages(context)],
    }  # fmt: skip


def _commands(step: Step, context: Context) -> list[str]:
    """The commands of the step, with names in place of the folders of this machine."""
    kind = Wheel()
    values = {name: value if name == "paddle_version" else f"/{name}"
              for name, value in kind.values(step, context).items()}  # fmt: skip
    lines = render(kind.template, values).splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _toolchain(context: Context) -> Iterator[tuple[str, str]]:
    """The compiler, the linker and the Python of the build, as they call themselves."""
    yield "python", context.site.version
    for name, *arguments in _TOOLS:
        answer = subprocess.run(
            [name, *arguments], capture_output=True, text=True, check=False, errors="replace"
        )
        yield name, next(iter(answer.stdout.splitlines()), "")


def _sources(step: Step, context: Context) -> Iterator[dict[str, object]]:
    """Each file that the wheel is made from, by its path below the target's folder."""
    for path in Wheel().inputs(step, context):
        name = path.relative_to(context.folder).as_posix()
        yield {"name": name, "digest": {"sha256": sha256(path)}}


def _packages(context: Context) -> Iterator[dict[str, object]]:
    """Paddle and the build tools, by what the lock admits, and the libraries of Paddle themselves.

    A lock may admit several files of one package, for other machines and Pythons; which of them was
    installed, no installer writes down.
    """
    for layer in ("framework", "build"):
        lock = context.lock(layer)
        if lock.is_file():
            name = lock.relative_to(context.folder).as_posix()
            yield {"name": name, "digest": {"sha256": sha256(lock)}}
            text = lock.read_text(encoding="utf-8")
            for package, version in distributions.pins(text, context.site.version).items():
                found = {"lock": name, "sha256": _admitted(text, package, version)}
                yield {"uri": f"pkg:pypi/{package}@{version}", "annotations": found}
    for library in _LINKED:
        for path in context.site.env.glob(f"lib/python3.*/site-packages/{library}"):
            yield {"name": library, "digest": {"sha256": sha256(path)}}


def _admitted(lock: str, package: str, version: str) -> list[str]:
    """The digests of a package in a lock."""
    start = rf"^{re.escape(package)}=={re.escape(version)}(?![\w.]).*(?:\n .*)*"
    return sorted({one for block in re.findall(start, lock, re.M) for one in _HASH.findall(block)})
