"""What the names in a stack file refer to, and what each kind of step has to name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from provision.errors import PaddockError

if TYPE_CHECKING:
    from provision.stack import Stack, Step

# What a step of a kind has to name.
_WANTED = {
    "packages": ("lock",), "wheel": ("source",), "install": ("wheels",), "account": ("account",),
    "vendor": ("package",), "debs": ("package", "debs"), "given": ("package",),
    "loaded": ("modules",), "built": ("recipe", "flag"),
}  # fmt: skip


def check(path: Path, stack: Stack) -> None:
    """Names that refer to something find it, and a step has what its kind needs.

    Raises PaddockError `stack-type`.
    """
    if stack.default_release not in stack.releases:
        _refuse(path, "$.default_release", f"no release `{stack.default_release}`")
    seen: dict[str, Step] = {}
    for step in stack.steps:
        if problem := next(chain(_problems(step, seen), _unfit(step, stack)), None):
            _refuse(path, f"$.steps.{step.name}", problem)
        seen[step.name] = step
    for name, release in stack.releases.items():
        if not any(pin.startswith("paddlepaddle==") for pin in release.framework):
            _refuse(path, f"$.releases.{name}.framework", "no `paddlepaddle==VERSION`")
    for step_name in stack.image.stack if stack.image else ():
        if step_name not in seen:
            _refuse(path, "$.image.stack", f"no step `{step_name}`")


def _refuse(path: Path, field: str, reason: str) -> NoReturn:
    raise PaddockError("stack-type", file=path, field=field, reason=reason)


def _problems(step: Step, seen: Mapping[str, Step]) -> Iterator[str]:
    """What is wrong with a step, given the ones before it."""
    if step.name in seen:
        yield "another step has this name"
    if step.kind == "fetch":
        yield "steps of kind `fetch` are made where they are wanted"
    sooner = (*step.needs, *step.after, *step.wheels)
    yield from (f"`{n}` is no earlier step" for n in sooner if n not in seen)
    for wanted in _WANTED.get(step.kind, ()):
        if not getattr(step, wanted):
            yield f"a step of kind `{step.kind}` needs `{wanted}`"
    for name in step.wheels:
        if seen[name].kind != "wheel" or name not in step.needs:
            yield f"`{name}` has to be a step of kind `wheel`, and in `needs` too"


def _unfit(step: Step, stack: Stack) -> Iterator[str]:
    """What is wrong with the packages of a step."""
    names = [name for name in (step.package, *step.debs) if name]
    if gone := [name for name in names if name not in stack.packages]:
        yield f"no package `{gone[0]}`"
        return
    if step.kind == "vendor" and not stack.packages[names[0]].remove:
        yield f"`{names[0]}` has no `remove`: an undo could not remove it"
    if step.told_by and not stack.packages[names[0]].pin:
        yield f"`told_by` needs a `pin` of `{names[0]}`"
    if step.kind == "given":
        pin = stack.packages[names[0]].pin
        without = [name for name, one in stack.releases.items() if pin not in one.pins]
        yield from (f"release `{name}` does not pin `{pin}`" for name in without)
