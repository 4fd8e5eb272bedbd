"""Kind `venv`: the Python environment that everything else is installed into."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from provision.stack import Step
from provision.steps.base import Context, Kind, Lack, NotSo
from provision.words import text


class Venv(Kind):
    """A fresh environment; what was in its place is removed."""

    template = "steps/venv.sh.j2"
    clears = True

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """The environment's folder and the interpreter it is made from."""
        return {
            "env": context.site.env,
            "interpreter": context.interpreter or "python3",
        }

    def verify(self, step: Step, context: Context) -> list[Path]:
        """Its configuration and its interpreter."""
        shown = [context.site.env / "pyvenv.cfg", context.site.python]
        for path in shown:
            if not path.exists():
                raise NotSo(str(path))
        return shown

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """Where no interpreter on this machine lies in the stack's range."""
        return None if context.interpreter else Lack("no-python", _wanted(context))


def _wanted(context: Context) -> str:
    """The Pythons that would do, and why not more."""
    pythons = context.stack.pythons(context.release)
    if pythons == context.stack.python:
        return f"python {pythons}"
    return text("lack.python-of-wheels", pythons=pythons, release=context.release)
