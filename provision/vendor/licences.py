"""The licences that the person has accepted, remembered in the target's state."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from provision.errors import PaddockError
from provision.site import Site
from provision.vendor.public import sites
from provision.words import text


def accepted(site: Site) -> set[str]:
    """The names accepted in earlier runs."""
    try:
        lines = site.licences.read_text(encoding="utf-8").splitlines()
    except OSError:
        return set()
    return {line.split(" ", 1)[0] for line in lines if line}


def check(names: Iterable[str], folder: Path) -> None:
    """Raises PaddockError `bad-option` for a licence that the target's packages do not have."""
    known = sites(folder)
    for name in names:
        if name not in known:
            wanted = (
                text("wanted.eula", names=", ".join(known)) if known else text("wanted.no-eula")
            )
            raise PaddockError("bad-option", option="--accept-eula", value=name, wanted=wanted)


def accept(site: Site, names: Iterable[str], folder: Path) -> list[str]:
    """Remember what is accepted now for the first time; returns what to tell, a line each."""
    new = sorted(set(names) - accepted(site))
    told = []
    for name in new:
        row = sites(folder)[name]
        site.licences.parent.mkdir(parents=True, exist_ok=True)
        with site.licences.open("a", encoding="utf-8") as file:
            file.write(f"{name} {row.licence} {time.strftime('%Y-%m-%dT%H:%M:%S%z')}\n")
        told.append(text("provision.eula", name=name, title=row.title, licence=row.licence,
                         file=site.licences))  # fmt: skip
    return told
