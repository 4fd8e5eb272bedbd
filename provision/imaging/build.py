"""Builds an image from the rendered Dockerfile, its output shown as it comes."""

from __future__ import annotations

import collections
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from provision.engine import Options
from provision.errors import PaddockError
from provision.forms.container import image
from provision.forms.dockerfile import dockerfile
from provision.forms.wanted import Wanted
from provision.imaging.builder import Builder
from provision.imaging.folder import gather
from provision.network import Network, hidden, hide_secrets
from provision.process import TAIL
from provision.words import text


def build(
    wanted: Wanted, builder: Builder, options: Options, listen: Callable[[str], None]
) -> None:
    """Build the image under its name; `listen` gets each line of what the builder says.

    All of it goes to a file in the target's folder of logs. Raises PaddockError: `step-failed`,
    and what `gather` meets.
    """
    with tempfile.TemporaryDirectory(prefix="paddock-image-") as scratch:
        context = Path(scratch) / "context"
        secrets = _secrets(options.network, builder)
        wanted = replace(wanted, classic=builder.classic, secrets=tuple(secrets))
        gather(context, wanted, options.deps, dockerfile(wanted))
        folder = (context if builder.classic else Path(scratch)) / "secrets"
        files = _written(secrets, folder) if secrets else {}
        options.site.logs.mkdir(parents=True, exist_ok=True)
        log = options.site.logs / time.strftime("image-%Y%m%d-%H%M%S.log")
        command = builder.command(context, image(wanted), files)
        status, tail = _run(command, builder.variables, log, listen)
    if status:
        raise PaddockError("step-failed", tail, step="image", status=status, log=log)


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
    command: list[str], variables: Mapping[str, str], log: Path, listen: Callable[[str], None]
) -> tuple[int, tuple[str, ...]]:
    """Run the builder to its end: its status and its last lines."""
    tail: collections.deque[str] = collections.deque(maxlen=TAIL)
    with log.open("w", encoding="utf-8") as file, subprocess.Popen(
        command, env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
    ) as process:  # fmt: skip
        assert process.stdout is not None  # noqa: S101 - it was asked for
        try:
            for raw in process.stdout:
                line = hide_secrets(raw.rstrip())
                file.write(line + "\n")
                tail.append(line)
                listen(line)
        except BaseException:
            process.send_signal(signal.SIGINT)  # upon which the engines end the step that runs
            raise
    return process.returncode, tuple(tail)
