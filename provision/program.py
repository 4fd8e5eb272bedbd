"""The command line: Invoke's, with the errors and statuses of the rest of the tool."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Sequence
from inspect import getdoc

from invoke.exceptions import Exit, ParseError
from invoke.parser.context import ParserContext
from invoke.program import Program

from provision.called import as_typed
from provision.columns import left, width, wrapped
from provision.console import report
from provision.errors import PaddockError
from provision.guard import storage
from provision.misread import explained
from provision.stream import replace_closed, standing
from provision.words import text

# The flags that mean something without a task. Invoke's others steer commands that its own runner
# starts; the tasks here start none with it, and `--dry` is easily taken for `--dry-run`.
_KEPT = ("help", "list", "version", "print-completion-script", "complete")

_NARROWEST = 20  # columns for a text


class Paddock(Program):
    """Invoke's program, whose own failures have a cause and a remedy too."""

    def run(self, argv: list[str] | None = None, exit: bool = True) -> None:
        """Run the tasks that the arguments name; leaves with their status."""
        replace_closed()
        if isinstance(sys.stdout, io.TextIOWrapper):  # what its encoding lacks is no error
            sys.stdout.reconfigure(errors="replace")
        try:
            with storage():
                self._carry_out(argv)
        except Exit as end:  # after a list, a help or a version
            raise SystemExit(end.code) from None
        except PaddockError as error:  # they could not be written, or a flag is empty
            raise SystemExit(report(error, json="--json" in self.argv)) from None
        except ParseError as error:
            told = explained(error, self.argv, self.initial_context, self.collection.task_names)
            raise SystemExit(report(told, json="--json" in self.argv)) from None
        except KeyboardInterrupt:
            raise SystemExit(report(PaddockError("interrupted"), json=False)) from None

    def _carry_out(self, argv: list[str] | None) -> None:
        """What Invoke's own `run` does, without its answers to errors."""
        try:
            self.create_config()
            self.parse_collection()
            self.parse_core(argv)
            self.parse_tasks()
            self._refuse_empty()
            self.parse_cleanup()
            self.update_config()
            self.execute()
        except Exit:
            with standing(sys.stdout):
                sys.stdout.flush()
            raise
        except OSError as error:
            if error.filename:
                raise
            with standing(sys.stdout):  # a list or a help could not be written
                raise

    def _refuse_empty(self) -> None:
        """Raises PaddockError `bad-option` for a flag without a value, as of an unset variable.

        The tasks themselves take "" for a flag that was not given.
        """
        for task in self.tasks:
            for one in task.args.values():
                value = one.value if one.got_value and not one.positional else None
                if value == "" or (isinstance(value, list) and "" in value):
                    flag = f"--{one.name.strip('_').replace('_', '-')}"
                    wanted = text("wanted.value")
                    raise PaddockError("bad-option", option=flag, value="", wanted=wanted)

    @property
    def binary_names(self) -> list[str]:
        """What the tab key is to complete: how the tool was called, where that is one word."""
        return ["paddock" if " " in self.binary else self.binary]

    @property
    def initial_context(self) -> ParserContext:
        """The flags of no task; those that mean nothing here cannot be typed."""
        known = {one.names[0]: one for one in self.core_args()}
        for name in _KEPT:
            known[name].help = text(f"core.{name}")
        known["list"].kind, known["list"].optional = bool, False  # no part of the tasks has a name
        context = ParserContext(args=[known[name] for name in _KEPT])
        for name in known.keys() - _KEPT:
            context.args[name] = known[name]
        return context

    def print_help(self) -> None:
        """The flags that mean something without a task, then the tasks."""
        print(text("command.usage", program=self.binary))  # noqa: T201
        print()  # noqa: T201
        self.print_columns(self.initial_context.help_tuples())
        self.list_tasks()

    def print_task_help(self, name: str) -> None:
        """How to type a task, what it does, and its flags."""
        context = self.parser.contexts[name]
        words = [str(one.name).upper() for one in context.positional_args]
        line = " ".join([self.binary, name, *words])
        print(text("command.usage-task", line=line))  # noqa: T201
        print()  # noqa: T201
        for row in _rows(getdoc(self.collection[name]) or "", 3):
            print(f"  {row}")  # noqa: T201
        print()  # noqa: T201
        first = [(word, one.help) for word, one in zip(words, context.positional_args, strict=True)]
        shown = {f"--{one.name}=STRING" for one in context.positional_args}
        self.print_columns([*first, *(row for row in context.help_tuples() if row[0] not in shown)])

    def display_with_columns(
        self, pairs: Sequence[tuple[str, str | None]], extra: str = ""
    ) -> None:
        """The tasks below a line that says so."""
        print(text("command.tasks"))  # noqa: T201
        print()  # noqa: T201
        self.print_columns(pairs)

    def print_columns(self, tuples: Sequence[tuple[str, str | None]]) -> None:
        """Names and what they mean, side by side, also on a terminal too narrow for that."""
        value = text("command.string")  # after a flag
        told = [(name.replace("STRING", value), said or "") for name, said in tuples]
        widest = max(width(name) for name, _ in told)
        for name, said in told:
            rows = _rows(said, widest + 6)
            for head, row in zip([name, *[""] * len(rows)], rows, strict=False):
                print(f"  {left(head, widest)}   {row}".rstrip())  # noqa: T201
        print()  # noqa: T201


def _rows(said: str, margin: int) -> list[str]:
    """A text of a help in rows that leave so many columns of the terminal."""
    return wrapped(as_typed(said), max(shutil.get_terminal_size().columns - margin, _NARROWEST))
