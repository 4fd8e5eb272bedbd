"""Builds an image from the rendered Dockerfile, its output shown as it comes."""

from __future__ import annotations

import collections
import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from provision import guard
from provision.digest import sha256_of_folder
from provision.engine import Options
from provision.errors import PaddockError
from provision.forms.container import image
from provision.forms.dockerfile import BOUND, dockerfile
from provision.forms.wanted import Wanted
from provision.imaging.builder import Builder
from provision.imaging.folder import gather
from provision.imaging.running import end, lines, start
from provision.network import Network, hidden, hide_secrets
from provision.paths import cache_dir
from provision.process import TAIL
from provision.words import text


def build(
    wanted: Wanted, builder: Builder, options: Options, listen: Callable[[str], None]
) -> None:
    """Build the image under its name; `listen` gets each line of what the builder says.

    All of it goes to a file in the target's folder of logs. What a killed build of this name has
    left is ended and removed first. Raises PaddockError: `busy`, `step-failed`, and what `gather`
    meets.
    """
    folder = cache_dir() / "image" / image(wanted).replace("/", "+")
    with guard.signals(), guard.alone(folder, image(wanted)):
        end(folder / "work")
        with _scratch(folder / "work") as scratch:
            status, log, tail = _built(wanted, builder, options, listen, scratch)
    if status:
        raise PaddockError("step-failed", tail, step="image", status=status, log=log)


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A new folder that is gone after; what a killed build left of it goes first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _built(
    wanted: Wanted, builder: Builder, options: Options, listen: Callable[[str], None], scratch: Path
) -> tuple[int, Path, tuple[str, ...]]:
    """Build; returns the builder's status, the file with what it said, and its last lines."""
    context = scratch / "context"
    secrets = _secrets(options.network, builder)
    wanted = replace(wanted, classic=builder.classic, secrets=tuple(secrets))
    written = dockerfile(wanted)
    gather(context, wanted, options.deps, written)
    folder = (context if builder.classic else scratch) / "secrets"
    files = _written(secrets, folder) if secrets else {}
    options.site.logs.mkdir(parents=True, exist_ok=True)
    log = options.site.logs / time.strftime("image-%Y%m%d-%H%M%S.log")
    bound = sha256_of_folder(context) if f"ARG {BOUND}" in written else ""
    command = builder.command(context, image(wanted), files, bound)
    status, tail = _run(command, builder.variables, scratch, log, listen)
    return status, log, tail


def _secrets(network: Network, builder: Builder) -> dict[str, bytes]:
    """What the build has to know of this network, by the names of `dockerfile.SECRETS`.

    Raises PaddockError `bad-option` for a password that the classic builder could not hide.
    """
    variables = network.environment()
    found = {}
    if (bundle := Path(variables.get("SSL_CERT_FILE", "-"))).is_file():
        found["ca"] = bundle.read_bytes()
    if index := variables.get("UV_DEFAULT_INDEX"):
        if builder.classic and hidden(index) != index:
            raise PaddockError("bad-option", option="--index-url", value=hidden(index),
                               wanted=text("wanted.no-password"))  # fmt: skip
        found["index"] = index.encode()
    return found


def _written(secrets: Mapping[str, bytes], folder: Path) -> dict[str, Path]:
    """The secrets as files that only this user can read."""
    folder.mkdir(mode=0o700)
    for name, content in secrets.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in secrets}


def _run(
    command: list[str], variables: Mapping[str, str], scratch: Path, log: Path,
    listen: Callable[[str], None],
) -> tuple[int, tuple[str, ...]]:  # fmt: skip
    """Run the builder to its end: its status and its last lines."""
    tail: collections.deque[str] = collections.deque(maxlen=TAIL)
    process, said = start(command, variables, scratch)
    try:
        with log.open("w", encoding="utf-8", buffering=1) as kept:
            for raw in lines(said, process):
                line = hide_secrets(raw.rstrip())
                kept.write(line + "\n")
                tail.append(line)
                listen(line)
    except BaseException:
        end(scratch)
        process.terminate()  # where it could not be looked at
        raise
    finally:
        process.wait()
    return process.returncode, tuple(tail)
