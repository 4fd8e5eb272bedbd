"""What a lock pins and what an environment has, by name and version; nothing is imported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from provision.errors import PaddockError


def normal(name: str) -> str:
    """A distribution's name as the packaging standards compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def wheel_name(file: str) -> tuple[str, str, str]:
    """Normalised name, version and tags that the name of a wheel says.

    The version is spelled as there, and so as in the name of the folder with the distribution's
    metadata. Raises PaddockError `bad-wheel` for a name that is no wheel's.
    """
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    try:
        name, _, _, tags = parse_wheel_filename(file)
    except InvalidWheelFilename as error:
        raise PaddockError("bad-wheel", file=file, reason=error) from None
    return str(name), file.split("-")[1], ".".join(sorted(map(str, tags)))


def installed(site_packages: Path) -> dict[tuple[str, str], Path]:
    """(normalised name, version) of each installed distribution -> its `.dist-info` folder.

    What has no METADATA was left behind by an installation that was cut short: it does not count.
    """
    found = {}
    for folder in sorted(site_packages.glob("*-*.dist-info")):
        if (folder / "METADATA").is_file():
            name, _, version = folder.name.removesuffix(".dist-info").rpartition("-")
            found[normal(name), version] = folder
    return found


def tags(site_packages: Path) -> dict[str, list[str]]:
    """Normalised name -> the tags of its wheel, of each distribution that came as one."""
    found = {}
    for (name, _), place in installed(site_packages).items():
        lines = record(place / "WHEEL").splitlines()
        if own := [line[4:].strip() for line in lines if line.startswith("Tag:")]:
            found[name] = own
    return found


def eggs(site_packages: Path) -> dict[str, str]:
    """Name -> version of what was installed the older way, with an `.egg-info` (Debian, conda)."""
    found = {}
    for path in sorted(site_packages.glob("*.egg-info")):
        text = record(path / "PKG-INFO" if path.is_dir() else path)
        head = text.partition("\n\n")[0]  # the description below may have lines like these
        fields = dict(re.findall(r"^(Name|Version): *(\S+)\s*$", head, re.MULTILINE))
        if len(fields) == len(("Name", "Version")):
            found[normal(fields["Name"])] = fields["Version"]
    return found


def record(path: Path) -> str:
    """A file of a distribution's folder; "" when it is not there or not readable."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def pins(text: str, python: str) -> dict[str, str]:
    """Name and version of each `==` pin of a lock that applies to a Python version (`3.11.7`).

    The text is in pip's requirements format: hashes, markers, comments, continued lines. Names are
    normalised.
    """
    from packaging.requirements import Requirement

    place = {"python_version": ".".join(python.split(".")[:2]), "python_full_version": python}
    wanted = {}
    for line in _requirement_lines(text):
        pin = Requirement(line)
        exact = [spec.version for spec in pin.specifier if spec.operator == "=="]
        if exact and (pin.marker is None or pin.marker.evaluate(place)):
            wanted[normal(pin.name)] = exact[0]
    return wanted


def _requirement_lines(text: str) -> Iterator[str]:
    """The requirements of a lock, without continuations, hashes, comments and options."""
    for line in text.replace("\\\n", " ").splitlines():
        requirement = re.split(r"(?:^|\s)(?:#|--)", line.strip(), maxsplit=1)[0].strip()
        if requirement and not requirement.startswith("-"):
            yield requirement
