"""How a wheel was made: an in-toto statement with SLSA's provenance, in a file beside it.

It holds no time, no name of a machine and no folder of this one, so that the same inputs give the
same bytes. Layout: in-toto attestation framework, Statement v1; SLSA v1.0, provenance.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import msgspec

from provision.papers import statement_beside

PACKAGE = "pkg:pypi/"
_STATEMENT = "https://in-toto.io/Statement/v1"
_PREDICATE = "https://slsa.dev/provenance/v1"
_LARGEST = 16 << 20  # bytes of a statement; one that is cut there is none
# Names of our own for what SLSA wants a URI for; they lead nowhere.
_BUILD_TYPE, _BUILDER = "urn:paddock:wheel:1", "urn:paddock:builder:1"


def package(name: str, version: str) -> str:
    """The address of a package of PyPI, as purl-spec writes it: what is special is escaped."""
    return f"{PACKAGE}{name}@{quote(version, safe='')}"


class Making(msgspec.Struct, frozen=True):
    """How a wheel was made, whoever has made it.

    `asked` is what decides the result, by name, `paddle` among it; `commands` have names in place
    of folders; `tools` are the compiler and its like with their versions; `materials` are resource
    descriptors of in-toto: the sources, and packages as `package` writes them.
    """

    asked: dict[str, str]
    commands: list[str]
    tools: dict[str, str]
    materials: list[dict[str, object]]


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


def read(wheel: Path) -> Statement | None:
    """The statement beside a wheel; None for none. Raises OSError and msgspec.MsgspecError."""
    file = statement_beside(wheel)
    if not file.is_file():
        return None
    with file.open("rb") as stream:
        return msgspec.json.decode(stream.read(_LARGEST), type=Statement)


def is_about(said: Statement | None, digest: str) -> bool:
    """Whether a statement is about the file of this digest."""
    return said is not None and digest in [one.digest.get("sha256") for one in said.subject]


def statement(wheel: Path, digest: str, making: Making) -> bytes:
    """The statement about a wheel of this digest."""
    return encode({
        "_type": _STATEMENT,
        "subject": [{"name": wheel.name, "digest": {"sha256": digest}}],
        "predicateType": _PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": _BUILD_TYPE, "externalParameters": making.asked,
                "internalParameters": {"commands": making.commands, "tools": making.tools},
                "resolvedDependencies": making.materials,
            },
            "runDetails": {"builder": {"id": _BUILDER}},
        },
    })  # fmt: skip


def encode(document: dict[str, object]) -> bytes:
    """JSON in one fixed order."""
    return msgspec.json.format(msgspec.json.encode(document, order="sorted"), indent=1) + b"\n"
