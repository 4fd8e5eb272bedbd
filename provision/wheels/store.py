"""Finished wheels, each beside the inputs it was made from: the same inputs give the same wheel."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from provision.distributions import wheel_name
from provision.journal import Witness
from provision.paths import TEMPLATES
from provision.wheels.recipe import FOLDER, TOOLS
from provision.wheels.surroundings import taken
from provision.wheels.work import Work, as_it_is, compiler_witness

FORMAT = 3  # of the builds: another one makes every wheel anew


class Record(msgspec.Struct, frozen=True):
    """What a wheel was made from, by digest, and the wheel as it was written.

    `inputs` is what the digest was made of, for a person; `name`, `version` and `tags` are what
    the wheel's name says.
    """

    key: str
    name: str
    version: str
    tags: str
    inputs: dict[str, str]
    wheel: Witness
    warnings: int
    seconds: float
    log: str
    format: int = FORMAT


def inputs(work: Work) -> dict[str, str]:
    """All that decides the bytes of a wheel."""
    return {
        "backend": work.recipe.backend,
        "source": work.source.identity,
        "paddle": f"{work.python.paddle} {work.python.files}".strip(),
        "python": f"{work.python.executable} {work.python.version}",
        "tools": " ".join([work.python.packing, *_own_tools(work)]).strip(),
        "machine": work.machine,
        "compiler": compiler_witness(),
        "variables": repr(taken()),
        "recipe": _digest([FOLDER / f"{work.recipe.backend}.toml", TOOLS]),
        "commands": _digest(sorted((TEMPLATES / "wheels").iterdir())),
        "places": repr(sorted(work.recipe.vendor_folders().items())),
        "pieces": " ".join(work.pieces()),
    }


def _own_tools(work: Work) -> Iterator[str]:
    """The host's tools where they are used; those of an environment are pinned."""
    found = map(shutil.which, ("cmake", "ninja")) if work.python.env is None else ()
    for path in filter(None, found):
        yield as_it_is(Path(path))


def _digest(files: list[Path]) -> str:
    found = hashlib.sha256()
    for path in files:
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def key(found: dict[str, str]) -> str:
    """The digest of inputs."""
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()


def recall(work: Work) -> Record | None:
    """The record of a wheel that is there, unchanged, and made from just these inputs."""
    try:
        record = msgspec.json.decode((work.out / "inputs.json").read_bytes(), type=Record)
    except (OSError, msgspec.MsgspecError):
        return None
    same = record.format == FORMAT and record.key == key(inputs(work))
    return record if same and record.wheel.holds() else None


def keep(work: Work, wheel: Path, warnings: int, seconds: float, log: Path) -> Record:
    """Put a wheel and its record in their place, both or none."""
    from provision.wheels.modes import settle  # one that is there is told without it

    draft = work.out.with_name(f"{work.out.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    shutil.copy2(wheel, draft)
    copied, found = draft / wheel.name, inputs(work)
    settle(copied)
    witness = msgspec.structs.replace(Witness.of(copied), path=str(work.out / wheel.name))
    record = Record(
        key(found), *wheel_name(wheel.name), found, witness, warnings, round(seconds, 1), str(log)
    )
    (draft / "inputs.json").write_bytes(msgspec.json.format(msgspec.json.encode(record)))
    shutil.rmtree(work.out, ignore_errors=True)
    draft.rename(work.out)
    return record
