"""What `paddock lab` and `paddock provision --rehearse` run: `python -m tests.lab ACTION ...`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from provision import guard
from provision.console import report, show
from provision.errors import PaddockError
from provision.words import text
from tests.lab import kept, ready
from tests.lab.boxes import box
from tests.lab.boxes.image import VENDORS
from tests.lab.boxes.variants import variants
from tests.lab.needs import succeeds
from tests.lab.rehearsal import rehearse
from tests.lab.vendor.bare import DEPS
from tests.lab.vendor.engined import BASE


def up(target: str, variant: str) -> int:
    """Start a machine, and say how to use it and what in it is simulated."""
    one = kept.checked(target, variant or kept.BARE)
    show(text("lab.up" if kept.up(one) else "lab.is-up", target=one.target, variant=one.variant))
    broken = next((each for each in variants() if each.id == one.variant), None)
    prelude = box.describe(one.target, broken).prelude
    values = {"name": one.name, "target": one.target, "variant": one.variant, "deps": DEPS,
              "image": BASE, "checkout": one.bare.checkout,
              "user": broken.user if broken else "root",
              "prelude": "" if prelude == ":" else f"{prelude}; "}  # fmt: skip
    kind = one.variant if one.variant in kept.BARES else "box"
    for line in (f"lab.enter.{kind}", f"lab.simulated.{kind}", "lab.remove"):
        for row in text(line, **values).split("\n"):
            show(row)
    return 0


def listed(target: str, _: str) -> int:
    """Say which machines there are, and which there can be."""
    for one in kept.machines() if succeeds("docker", "info") else ():
        show(text("lab.row", target=one.target, variant=one.variant, name=one.name))
    for name in [target] if target else list(VENDORS):
        known = kept.choices(name)
        show(text("lab.choices", target=name, variants=", ".join(known[:3])))
        for variant in variants():
            if variant.box == name:
                show(f"    {variant.id:<28} {variant.means}")
    return 0


def reboot(target: str, variant: str) -> int:
    """Start a bare machine anew. Raises PaddockError `lab-not-up`."""
    one = kept.checked(target, variant or kept.BARE)
    if one.variant not in kept.BARES or one not in kept.machines():
        raise PaddockError("lab-not-up", target=one.target, variant=one.variant)
    one.bare.reboot()
    show(text("lab.rebooted", name=one.name))
    return 0


def down(target: str, variant: str) -> int:
    """Remove the machines, or those of a target, or one."""
    gone = [one for one in kept.machines()
            if target in ("", one.target) and variant in ("", one.variant)]  # fmt: skip
    kept.down(gone)
    for one in gone:
        show(text("lab.down", name=one.name))
    if not gone:
        show(text("lab.none"))
    return 0


ACTIONS: dict[str, Callable[[str, str], int]] = {
    "up": up,
    "list": listed,
    "reboot": reboot,
    "down": down,
}

LACKS = (pytest.skip.Exception, pytest.fail.Exception)


def main(action: str, target: str, *more: str) -> int:
    """Carry an action out. What it lacks, and what fails in it, becomes sentences and a status."""
    json = "--json" in more
    try:
        with guard.storage(), guard.signals():
            if action != "list":
                ready.check(makes=action in ("up", "rehearse"))
            return (
                rehearse(target, more) if action == "rehearse" else ACTIONS[action](target, *more)
            )
    except PaddockError as error:
        return report(error, json=json)
    except KeyboardInterrupt:
        return report(PaddockError("interrupted"), json=json)
    except (*LACKS, RuntimeError, subprocess.CalledProcessError) as failure:
        details = tuple(str(failure).splitlines()[-20:])
        return report(PaddockError("lab-failed", details), json=json)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
