"""Kind `vendor`: a package that a vendor hands out, run on the host by root."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from provision.facts import kernel
from provision.render import quote
from provision.stack import Step
from provision.steps.account import needs_root
from provision.steps.base import Context, Kind, Lack, NotSo
from provision.steps.removal import command, replaceable, unless_noted
from provision.vendor import astray, deps, kept, look, trust
from provision.vendor.public import published
from provision.vendor.rows import Package, filled
from provision.vendor.shown import shown
from provision.words import text


class Vendor(Kind):
    """Taken from the folder of packages; what the machine then shows is what counts."""

    template = "steps/vendor.sh.j2"
    by_machine = True
    leaves_halves = True

    @property
    def changes_host(self) -> str:
        """What it is, whatever its name."""
        return "vendor"

    def change(self, step: Step, context: Context) -> str:
        """The command, in short; "" where the release needs no such package."""
        if deps.wanted(row(step, context), context) is None:
            return ""
        return " ".join([path(row(step, context), context).name, *_arguments(step, context)])

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """The file and its arguments, the digests, and what the script has to note where."""
        package, site = row(step, context), context.site
        files = told([package], context, step)
        before = shown(package, context).state
        is_ours = before == "absent" or (before == "older" and site.added(step.name).exists())
        removal = command(package, path(package, context), context) if is_ours else ""
        return {
            "file": files[0]["used"] if files else path(package, context), "files": files,
            "held": held(files, step, context), "trusted": site.trusted,
            "arguments": _arguments(step, context), "sourced": package.sourced or "",
            "limit": package.limit,
            "output": site.output(step.name), "reboot": package.reboot, "mark": site.reboot,
            "notes": site.notes, "added": site.added(step.name), "debs": [], "packages": [],
            "removal": unless_noted(removal, step, context), "there": replaceable(package, context),
        }  # fmt: skip

    def identity(self, step: Step, context: Context, script: str) -> str:
        """The package that is wanted: where it lay when it was installed does not matter."""
        return f"{self.template} {deps.wanted(row(step, context), context)}"

    def verify(self, step: Step, context: Context) -> list[Path]:
        """The file that tells the pinned version, or a newer one."""
        package = row(step, context)
        if deps.wanted(package, context) is None:
            return []  # the release needs none
        there = shown(package, context)
        if there.state in ("absent", "older"):
            pinned = deps.known(context).get(package.pin, "")
            raise NotSo(f"{there.version} < {pinned}" if there.version else f"{step.name} {pinned}")
        return [there.file] if there.file else []

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """Only root may install it, and it has to be there, with the headers that it builds with.

        Raises PaddockError `package-*`.
        """
        package = row(step, context)
        return needs_root() or _without_headers(package, context) or missing([package], context)

    def quiet(self, step: Step, context: Context) -> float:
        """As the package's row says."""
        return row(step, context).quiet

    def asks(self, step: Step, context: Context) -> str:
        """Where a newer version is there: nothing is downgraded, nor taken for the wanted one."""
        newer = self.newer(step, context)
        return "" if kept.agreed(context.site).get(step.name) == newer else newer

    def newer(self, step: Step, context: Context) -> str:
        """One that came after the pin, or of which nobody can tell whether it did."""
        there = shown(row(step, context), context)
        return there.version if there.state in ("newer", "other") else ""

    def removing(self, step: Step, context: Context) -> str:
        """The vendor's script, or the flags of the installer that brought it."""
        words = [filled(word, deps.known(context)) for word in row(step, context).remove]
        if words and words[0].startswith("/"):
            return f"bash {quote(words)}"
        return text("removing.installer", flags=quote(words)) if words else text("removing.own")

    def note(self, step: Step, context: Context) -> str:
        """A digest that nobody has published, and other versions that are left alone."""
        return "; ".join(notes(row(step, context), context))


def _without_headers(package: Package, context: Context) -> Lack | None:
    """Nothing where it cannot be told, as in a container, or where the person goes on all the same.

    It may bring modules for this kernel; whether it does, only its failure would tell.
    """
    release = os.uname().release
    is_known = context.any_system or deps.wanted(package, context) is None
    if not package.headers or is_known or kernel.headers(Path("/"), release) is not False:
        return None
    return Lack("no-headers", release)


def row(step: Step, context: Context) -> Package:
    """The step's package."""
    return context.stack.packages[step.package or ""]


def path(package: Package, context: Context) -> Path:
    """The package's file, or its name alone where it is not there."""
    found = deps.find(package, context)
    return found.path if found else Path(deps.wanted(package, context) or "-")


def told(packages: Iterable[Package], context: Context, step: Step) -> list[dict[str, str | Path]]:
    """The files that are there, each with its digest as it is now, and where it is used from.

    That is a copy where others can change the file itself.
    """
    copies = context.site.held(step.name)
    files = [file for one in packages if look.is_readable(file := path(one, context))]
    return [{"file": file, "name": file.name, "sha256": look.digest(file),
             "used": file if trust.is_ours(file) else copies / file.name}
            for file in files]  # fmt: skip


def held(files: Iterable[Mapping[str, object]], step: Step, context: Context) -> Path | str:
    """The folder for copies of files; "" where none is needed."""
    copied = any(one["used"] != one["file"] for one in files)
    return context.site.held(step.name) if copied else ""


def missing(packages: list[Package], context: Context) -> Lack | None:
    """What of the packages is not there. Raises PaddockError `package-*` for what is not sound."""
    gone = []
    for package in packages:
        found = deps.find(package, context)
        if found:
            look.checked(found)
        if found and found.is_here:
            trust.checked(found.path, package, context.site, published(context.folder))
        elif not found and deps.wanted(package, context):
            gone.append(package)
    if not gone:
        return None
    names = [deps.wanted(package, context) or "" for package in gone]
    details = tuple(line for package in gone for line in _sources(package, context))
    return Lack("package-missing", ", ".join(names), later=True, details=details)


def _sources(package: Package, context: Context) -> Iterator[str]:
    """Where a package that is not there can be got."""
    file = deps.wanted(package, context)
    yield from astray.told(package, context)
    yield text("package.from", file=file, vendor=package.vendor, where=package.where)
    if lock := deps.locked(package, context):
        name, site, offer = lock
        yield text("package.licence", file=offer.name, vendor=site.vendor, url=offer.url,
                   title=site.title, licence=site.licence, name=name)  # fmt: skip
    elif context.remote.offline:
        yield text("package.offline", file=file)


def notes(package: Package, context: Context) -> Iterator[str]:
    """What a person should know of a package that will be used."""
    found = deps.find(package, context)
    if found is None:
        return
    if found.offer:
        yield text("package.download", url=found.offer.url)
    elif found.archive:
        yield text("package.packed", archive=found.archive.name)
    else:
        known = published(context.folder)
        digest, is_known = trust.checked(found.path, package, context.site, known)
        if not is_known:
            yield text("package.trusted", file=found.path.name, digest=digest[:12])
    if found.others:
        yield text("package.others", files=", ".join(found.others))


def _arguments(step: Step, context: Context) -> list[str]:
    package = row(step, context)
    if deps.wanted(package, context) is None:
        return []
    is_older = shown(package, context).state == "older"
    return list(package.upgrade if is_older and package.upgrade else package.install)
