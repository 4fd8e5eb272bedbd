"""The commands of each kind of step, for a machine that is not there to be looked at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from provision.errors import PaddockError
from provision.facts import pci
from provision.forms.wanted import Wanted
from provision.lock import unlocked
from provision.render import embed
from provision.stack import Step
from provision.steps import KINDS
from provision.steps.toolchain import PACKAGES
from provision.vendor import deps
from provision.vendor.rows import Package, filled


def complete(step: Step, wanted: Wanted) -> None:
    """Nothing is installed without its hash. Raises PaddockError `no-lock` or `stack-part`."""
    if step.lock and not (lock := wanted.context.lock(step.lock)).is_file():
        known = unlocked(wanted.stack, wanted.release)
        raise known or PaddockError("stack-part", step=step.name, file=lock)


def commands(step: Step, wanted: Wanted) -> str:
    """The script of a step. Raises PaddockError `stack-part`."""
    complete(step, wanted)
    if step.kind == "toolchain":
        return embed("forms/toolchain.sh.j2", {"managers": _managers(step, wanted)})
    template = "forms/given.sh.j2" if step.kind == "given" else KINDS[step.kind].template
    return embed(template, _moved(_values(step, wanted), wanted))


def holds(step: Step, wanted: Wanted) -> str:
    """A condition of the shell: whether the machine is so already; "" where it cannot tell."""
    values = _looked_for(step, wanted)
    return "" if values is None else embed(f"forms/holds/{step.kind}.sh.j2", values)


def _looked_for(step: Step, wanted: Wanted) -> Mapping[str, object] | None:
    """What shows that the machine is so; None for a kind of step that no machine shows."""
    match step.kind:
        case "vendor" if packages(step, wanted):
            return _shown(wanted.stack.packages[step.package or ""], wanted)
        case "card":
            rows = [row for row in pci.catalogue().models if row.target == wanted.stack.target]
            return {"ids": [f"0x{row.vendor}:0x{row.device}" for row in rows]}
        case "toolchain" | "account" | "debs" | "loaded":
            pin = wanted.stack.packages[step.package].pin if step.package else ""
            version = deps.known(wanted.context).get(pin, "").partition("-")[0]
            return {"account": step.account, "debs": list(step.debs),
                    "told_by": step.told_by or "", "version": version,
                    "modules": list(step.modules)}  # fmt: skip
    return None


def packages(step: Step, wanted: Wanted) -> list[tuple[str, str, str, Package]]:
    """The vendors' packages of a step: file name, its link here, the published digest or `-`."""
    return _named((step.package, *step.debs), wanted)


def _named(names: Iterable[str | None], wanted: Wanted) -> list[tuple[str, str, str, Package]]:
    """Those of the packages that the release needs."""
    rows = [wanted.stack.packages[name] for name in names if name]
    named = [(deps.wanted(row, wanted.context), row) for row in rows]
    return [(name, link(name), row.sha256.get(name, "-"), row) for name, row in named if name]


def link(name: str) -> str:
    """What the one file of a name with `*` is called here."""
    return name.replace("*", "any")


def _values(step: Step, wanted: Wanted) -> Mapping[str, object]:
    """What the template prints: of kinds that look at the machine, all that needs no look."""
    context, folder = wanted.context, wanted.places.packages
    own = [folder / one[1] for one in _named([step.package], wanted)]
    match step.kind:
        case "venv":
            return {"env": context.site.env, "interpreter": wanted.python}
        case "packages":
            return {**KINDS[step.kind].values(step, context), "again": True}
        case "given":
            return {"python": context.site.python, "folder": folder, "name": own[0].name}
        case "vendor" | "debs":
            row = context.stack.packages[step.package or ""]
            debs = [folder / one[1] for one in _named(step.debs, wanted)]
            return {
                "file": own[0] if own else "", "files": [], "removal": "", "held": "",
                "arguments": row.install if own else [], "debs": debs,
                "sourced": row.sourced or "",
                "limit": row.limit, "output": context.site.output(step.name),
                "reboot": row.reboot, "mark": context.site.reboot, "notes": context.site.notes,
                "packages": list(step.debs),
            }  # fmt: skip
    return KINDS[step.kind].values(step, context)


def _managers(step: Step, wanted: Wanted) -> dict[str, str]:
    """For each package manager the commands that install a compiler."""
    record = wanted.places.state / "toolchain.packages"
    template = KINDS[step.kind].template
    return {name: embed(template, {"manager": name, "packages": packages, "record": record})
            for name, packages in PACKAGES.items()}  # fmt: skip


def _shown(row: Package, wanted: Wanted) -> dict[str, object]:
    """Where the installed version is told, and which is wanted; "" for any."""
    known = deps.known(wanted.context)
    file = filled(row.shows, known) if row.shows else ""
    expression = rf"s/^{row.key}[[:space:]]*[=:][[:space:]]*\([^[:space:]]*\).*/\1/p"
    return {"file": file, "expression": expression, "module": row.module,
            "version": known.get(row.pin, "")}  # fmt: skip


def _moved(value: Any, wanted: Wanted) -> Any:
    """The value, its paths inside the target's folder moved into the rendered stack folder."""
    if isinstance(value, Path) and value.is_relative_to(wanted.folder):
        return wanted.places.stack / value.relative_to(wanted.folder)
    if isinstance(value, Mapping):
        return {key: _moved(one, wanted) for key, one in value.items()}
    return [_moved(one, wanted) for one in value] if isinstance(value, list) else value
