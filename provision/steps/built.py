"""Kind `built`: a wheel from sources that the person gives, by a recipe of `build-ops`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from provision.digest import sha256
from provision.distributions import installed, wheel_name
from provision.errors import STATUS, PaddockError, Told
from provision.network import Network, hidden
from provision.paths import ROOT
from provision.stack import Step
from provision.steps.base import Context, Kind, Lack, NotSo, Sources
from provision.steps.install import in_the_way
from provision.steps.packages import recorded
from provision.steps.vendor import row
from provision.steps.wheel import paddle_version
from provision.vendor import deps
from provision.wheels import recipe, source
from provision.words import language, text

_ORDER, _ANSWER = "order.json", "answer.json"


class Order(msgspec.Struct, frozen=True):
    """What is built: the sources as `build-ops` takes them, and what tells them from others."""

    origin: str
    ref: str
    identity: str

    @property
    def exact(self) -> str:
        """The ref to build: the commit that was seen, whatever is checked out there by then."""
        return self.identity if source.COMMIT.fullmatch(self.identity) else self.ref


class Built(Kind):
    """Built by the command that a person would type, and installed from the file alone.

    A wheel that was built once stays the wanted one until the vendor's is handed out.
    """

    template = "steps/built.sh.j2"
    can_wait = True

    def skips(self, step: Step, context: Context) -> str:
        """Without sources there is nothing to build."""
        return "" if order(step, context) else text("skip.sources", flag=f"--{step.flag}")

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """The command, the environment's interpreter, and what has to be remembered."""
        wanted = _wanted(step, context)
        words: list[str | Path] = ["--backend", step.recipe or "", "--source", wanted.origin]
        words += ["--ref", wanted.exact] if wanted.exact else []
        words += ["--paddle", paddle_version(context)] if _recipe(step).paddle else []
        words += ["--python", context.interpreter] if context.interpreter else []
        words += ["--offline"] if context.remote.offline else []
        return {
            "command": [sys.executable, ROOT / "tasks.py", "build-ops", "--json", "--in", "venv"],
            "arguments": words, "settings": context.stack.settings, "python": context.site.python,
            "out": context.site.wheels / step.name, "order": msgspec.json.encode(wanted).decode(),
            "order_file": _ORDER, "answer_file": _ANSWER,
        }  # fmt: skip

    def variables(self, step: Step, context: Context) -> Mapping[str, str]:
        """The command speaks the person's language."""
        return {"PADDOCK_LANG": language()}

    def identity(self, step: Step, context: Context, script: str) -> str:
        """The sources, what they are built for, and how: where they lie does not matter."""
        how = sha256(recipe.FOLDER / f"{step.recipe}.toml")
        wanted = _wanted(step, context).identity
        return f"{self.template} {wanted} {paddle_version(context)} {context.tag} {how}"

    def verify(self, step: Step, context: Context) -> list[Path]:
        """What the wheel's distribution has installed."""
        site, folder = context.site.site_packages, context.site.wheels / step.name
        answer = _read(folder / _ANSWER)
        if not site or not answer:
            raise NotSo(str(folder / _ANSWER))
        name, version, _ = wheel_name(Path(answer["wheels"][0]["path"]).name)
        return recorded(installed(site), (name, version), ".so")

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """Another vendor's plugin in the environment would be overwritten."""
        one = _recipe(step)
        return in_the_way(one.distribution, context) if one.library else None

    def failure(self, step: Step, context: Context) -> PaddockError | None:
        """What the command has told, in its own sentences."""
        folder = context.site.wheels / f"{step.name}.new"
        answer = _read(folder / _ANSWER)
        return Told(answer) if answer and answer.get("code") in STATUS else None

    def note(self, step: Step, context: Context) -> str:
        """From where it is built."""
        wanted = _wanted(step, context)
        return text("note.sources", source=hidden(wanted.origin), ref=wanted.ref or "-")


def order(step: Step, context: Context) -> Order | None:
    """What the step has to build: what is given, else what was built last; None for nothing.

    Raises PaddockError `source-*`, `flag-needs`.
    """
    if step.name not in context.orders:
        context.orders[step.name] = _order(step, context)
    found: Order | None = context.orders[step.name]
    return found


def _order(step: Step, context: Context) -> Order | None:
    if given := context.sources.get(step.flag):
        return asked(step, context, given)
    is_handed_out = step.package and deps.find(row(step, context), context)
    last = None if is_handed_out else _read(context.site.wheels / step.name / _ORDER)
    return msgspec.convert(last, Order) if last else None


def asked(step: Step, context: Context, given: Sources) -> Order:
    """The sources as they are now; of an address no more is looked up than its ref.

    Of a folder with history it is what is checked out, of an address what the release names.
    Raises PaddockError `source-*`, `flag-needs`.
    """
    if "://" not in given.origin:
        found = source.find(_recipe(step), given.origin, given.ref, Network(context.remote.offline))
        return Order(found.origin, given.ref, found.identity)
    release = context.stack.releases[context.release]
    ref = given.ref or (release.plugin_ref if step.package else _recipe(step).ref)
    if not ref:
        raise PaddockError("flag-needs", one=f"--{step.flag} {hidden(given.origin)}",
                           other="--plugin-ref")  # fmt: skip
    return Order(given.origin, ref, ref)


def _wanted(step: Step, context: Context) -> Order:
    found = order(step, context)
    assert found is not None  # noqa: S101 - a step without sources is skipped
    return found


def _recipe(step: Step) -> recipe.Recipe:
    return recipe.load(step.recipe or "")


def _read(file: Path) -> dict[str, Any] | None:
    """A JSON object of a file; None where there is none."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
