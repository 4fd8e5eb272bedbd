"""What the tests of rendered texts share: stacks, choices, linters."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from provision import stack
from provision.forms.registry import FORMS
from provision.forms.wanted import Wanted
from provision.paths import IMAGES, targets

TARGETS = targets()
# Those with a lock: without one nothing is rendered that would install anything.
RELEASES = [(target, release) for target in TARGETS
            for release in stack.load(IMAGES / target / "stack.toml").releases
            if (IMAGES / target / "locks" / release).is_dir()]  # fmt: skip
BASE = f"registry.example/base:1@sha256:{'ab' * 32}"


def wanted(target: str, release: str = "", **choices: object) -> Wanted:
    """A target with these choices; a release whose image nobody names gets a base."""
    loaded = stack.load(IMAGES / target / "stack.toml")
    release = loaded.release(release or None)
    if loaded.image and release not in loaded.image.bases:
        choices.setdefault("base", BASE)
    return Wanted(loaded, IMAGES / target, release, **choices)  # type: ignore[arg-type]


def made(form: str, target: str, release: str = "", **choices: object) -> str:
    """The text of a form."""
    return FORMS[form](wanted(target, release, **choices))


def clean(program: str, text: str, *arguments: str) -> None:
    """This program of the development environment finds nothing wrong with the text."""
    path = Path(sys.executable).with_name(program)
    done = subprocess.run([path, *arguments, "-"], input=text, capture_output=True, text=True,
                          check=False, timeout=120)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def words(script: str, program: str, folder: Path) -> list[str]:
    """What `program` gets as arguments when a shell runs the script."""
    fake = folder / program
    fake.write_text(f"#!{sys.executable}\nimport sys\nprint(ascii(sys.argv[1:]))\n")
    fake.chmod(0o755)
    done = subprocess.run(["/bin/sh", "-s"], input=script.encode(), capture_output=True, check=True,
                          env={"PATH": f"{folder}:/usr/bin:/bin"})  # fmt: skip
    import ast

    found: list[str] = ast.literal_eval(done.stdout.decode())
    return found


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile: name and the rest, continued lines joined."""
    lines = [line for line in dockerfile.splitlines() if line and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in joined.splitlines()]


def options(command: str) -> list[str]:
    """The words of a RUN instruction that are no options of RUN."""
    return [word for word in shlex.split(command) if not word.startswith("--mount=")]
