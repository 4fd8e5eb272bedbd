"""Real self-extracting installers, with the vendors' flags: made by makeself."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.lab.needs import needs

_STOCK = Path("/usr/share/makeself/makeself-header.sh")
_BEFORE = 'initargs="\\$@"\n'
# A stock header takes the flags for its own; the vendors' give all but these to their script.
_OWN = ("check", "noexec", "list", "info", "help", "target", "tar")
_PASS = (
    'case " \\$* " in '
    + "|".join(f'*" --{name} "*' for name in _OWN)
    + ') ;; *) quiet=y; noprogress=y; set -- -- "\\$@" ;; esac\n'
)


def make(file: Path, label: str, fill: Callable[[Path], None]) -> Path:
    """An installer; `fill` puts `install.sh`, which gets the flags, and the payload in a folder."""
    needs(shutil.which("makeself") is not None, "makeself, for the vendors' installers")
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        source, header = Path(scratch, "source"), Path(scratch, "header.sh")
        header.write_text(_STOCK.read_text().replace(_BEFORE, _BEFORE + _PASS, 1))
        source.mkdir()
        fill(source)
        (source / "install.sh").chmod(0o755)
        options = ["--quiet", "--header", str(header), "--sha256"]
        argv = ["makeself", *options, str(source), str(file), label, "./install.sh"]
        subprocess.run(argv, check=True, capture_output=True)
    return file
