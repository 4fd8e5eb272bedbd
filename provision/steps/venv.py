"""Kind `venv`: the Python environment that everything else is installed into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from provision.stack import Step
from provision.steps.base import Context, NotSo


class Venv:
    """A fresh environment; what was in its place is removed."""

    template = "steps/venv.sh.j2"
    changes_host = ""
    clears = True
    lacks = "no-python"

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """The environment's folder and the interpreter it is made from."""
        return {
            "env": context.site.env,
            "interpreter": context.interpreter or "python3",
        }

    def inputs(self, step: Step, context: Context) -> Iterable[Path]:
        """Nothing beyond the interpreter's path."""
        return ()

    def verify(self, step: Step, context: Context) -> list[Path]:
        """Its configuration and its interpreter."""
        shown = [context.site.env / "pyvenv.cfg", context.site.python]
        for path in shown:
            if not path.exists():
                raise NotSo(str(path))
        return shown

    def blocked(self, step: Step, context: Context) -> str | None:
        """The stack's Python range, where no interpreter on this machine lies in it."""
        return None if context.interpreter else f"python {context.stack.python}"
