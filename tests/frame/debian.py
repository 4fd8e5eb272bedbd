"""What a bare Debian has: a Python without ensurepip, and an apt-get that can fetch pip's wheel."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

CONTROL = """Package: python3-pip-whl
Version: 1.0
Architecture: all
Maintainer: Paddock's tests <tests@localhost>
Description: the wheel of this machine's own pip
"""
# It obeys the file `apt.mode` beside it: `new` has no lists yet, `down` has no network either.
APT = """#!/bin/sh
here=${0%/*}
echo "$*" >>"$here/apt.log"
mode=$(cat "$here/apt.mode")
case $mode,$* in
    down,*" update") echo "W: Failed to fetch the lists  Could not resolve 'deb.example'" ;;
    new,*"Lists=./lists"*" update") cp "$0" lists/fetched ;;
    ready,*" download "*) cp @package@ . ;;
    new,*"Lists=./lists"*" download "*) [ -e lists/fetched ] && cp @package@ . ;;
    *) echo "E: Unable to locate package python3-pip-whl" && exit 100 ;;
esac
"""


def python(base: Path, folder: Path) -> Path:
    """A Python that has all of `base` but ensurepip: a copy of the program, links to the rest."""
    library = Path(sysconfig.get_path("stdlib"))
    own = folder / "lib" / library.name
    own.mkdir(parents=True)
    for entry in (*library.iterdir(), *library.parent.glob("libpython*")):
        if entry.name not in ("ensurepip", "site-packages"):
            place = own if entry.parent == library else own.parent
            (place / entry.name).symlink_to(entry)
    program = folder / "bin" / base.name
    program.parent.mkdir()
    shutil.copy(base, program)
    missing = subprocess.run([program, "-c", "import ensurepip"], capture_output=True, check=False)
    assert b"No module named 'ensurepip'" in missing.stderr
    return program


def package(folder: Path) -> Path:
    """A Debian package with the pip wheel that this machine's ensurepip has."""
    import ensurepip

    bundled = Path(ensurepip.__file__).parent / "_bundled"
    places = (bundled, Path("/usr/share/python-wheels"))
    wheel = next(wheel for place in places for wheel in place.glob("pip-*.whl"))
    tree = folder / "tree"
    for name in ("DEBIAN", "usr/share/python-wheels"):
        (tree / name).mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(CONTROL)
    shutil.copy(wheel, tree / "usr/share/python-wheels")
    made = folder / "python3-pip-whl_1.0_all.deb"
    subprocess.run(["dpkg-deb", "--build", tree, made], check=True, capture_output=True)
    return made


def add_apt(programs: Path, package: Path) -> None:
    """Put an apt-get on PATH that gives this package."""
    (programs / "apt-get").write_text(APT.replace("@package@", f'"{package}"'))
    (programs / "apt-get").chmod(0o755)
    (programs / "apt.mode").write_text("new")
