"""What the tests of built images share: the command, a builder of each kind, and tidying up."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

from provision.errors import PaddockError
from provision.imaging.builder import builder
from tests.conftest import ROOT
from tests.lab.machine import CERTIFICATES
from tests.lab.needs import needs


def docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Docker to its end."""
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False,
                          timeout=900)  # fmt: skip


def path_of(kind: str) -> str:
    """A PATH on which the first `docker` builds by this kind; skips the test where there is none.

    Of several clients that a machine may have, one may lack what the other has.
    """
    for folder in [*os.get_exec_path(), ""]:
        path = f"{folder}:{os.environ['PATH']}"
        with mock.patch.dict(os.environ, PATH=path):
            try:
                builder(kind)
            except PaddockError:
                continue
            return path
    needs(False, f"a Docker that builds by {kind}")
    raise AssertionError


def build(
    home: Path, *flags: str, bundle: Path = CERTIFICATES, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `paddock image` with the certificates of this host."""
    needs(CERTIFICATES.is_file(), "the certificates of this host")
    command = [sys.executable, str(ROOT / "tasks.py"), "image", *flags, "--json"]
    return subprocess.run([*command, "--ca-bundle", str(bundle)], check=False, text=True,
                          env={**os.environ, "PADDOCK_HOME": str(home), **variables},
                          capture_output=True, timeout=3000)  # fmt: skip


def tidy(tag: str, output: str) -> None:
    """Remove an image, and what its builder keeps of the first stages: gigabytes."""
    docker("rmi", "--force", tag)
    steps = re.findall(r"^ *---> ([0-9a-f]{12})$", output, re.MULTILINE)  # the classic builder's
    for step in reversed(steps):
        if docker("image", "inspect", "--format", "{{.RepoTags}}", step).stdout == "[]\n":
            docker("rmi", step)  # the base has a tag, and stays
    docker("builder", "prune", "--force", "--keep-storage", "2GB")
