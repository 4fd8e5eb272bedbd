"""What removes again what a package of a vendor has installed: the line noted for the undo."""

from __future__ import annotations

from pathlib import Path

from provision.render import quote
from provision.stack import Step
from provision.steps.base import Context
from provision.vendor import deps, look
from provision.vendor.rows import Package, filled
from provision.vendor.shown import installed_version
from provision.versions import same_release


def unless_noted(removal: str, step: Step, context: Context) -> str:
    """A command line for the undo; "" where the note of the step has it already."""
    try:
        noted = context.site.added(step.name).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        noted = ""
    return "" if f"{removal}\n" in noted else removal


def replaceable(package: Package, context: Context) -> str:
    """The version that is there of a package that has one place for all, as the pins spell it.

    "" where none is there, or where each version has a place of its own.
    """
    there = installed_version(package, context) if has_one_place(package) else ""
    pins = (release.pins.get(package.pin, "") for release in context.stack.releases.values())
    return next((pin for pin in pins if there and same_release(there, pin)), there)


def has_one_place(package: Package) -> bool:
    """Whether another version takes the place of the one that is there."""
    return bool(package.module or (package.shows and "{" not in package.shows))


def command(package: Package, file: Path, context: Context) -> str:
    """The shell's command that removes just this version; "" for none.

    An installer that failed early has left neither its script nor what shows the version. Where
    another version may have taken its place, the undo says in `there` which one it is.
    """
    if not package.remove or deps.wanted(package, context) is None:
        return ""
    words = [filled(word, deps.known(context)) for word in package.remove]
    if words[0].startswith("/"):
        signs = [words[0], *([filled(package.shows, deps.known(context))] if package.shows else [])]
        found = " || ".join(f"[ -e {quote(sign)} ]" for sign in signs)
        removal = f"if {found}; then bash {quote(words)}; fi"
    else:
        removal = f"{_looked_at(file)}bash {quote([file, *words])}"
    pin = deps.known(context).get(package.pin, "") if has_one_place(package) else ""
    return f"case \"${{there-}}\" in ''|{quote(pin)}) {removal} ;; esac" if pin else removal


def _looked_at(file: Path) -> str:
    """A command that ends where a file is not the one that it is now."""
    if not look.is_readable(file):
        return ""
    other = f"printf 'paddock: not the file of the plan: %s\\n' {quote(file)}; exit 1"
    return f'[ "$(sha256sum < {quote(file)})" = "{look.digest(file)}  -" ] || {{ {other}; }}; '
