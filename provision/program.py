"""The command line: Invoke's, with the errors and statuses of the rest of the tool."""

from __future__ import annotations

import difflib
import io
import re
import shutil
import sys
from collections.abc import Sequence

from invoke.exceptions import Exit, ParseError
from invoke.program import Program

from provision.called import as_typed
from provision.columns import wrapped
from provision.console import report
from provision.errors import PaddockError
from provision.guard import storage
from provision.stream import replace_closed, standing
from provision.words import text

# Invoke's others steer commands that its own runner starts; the tasks here start none with it.
_KEPT = re.compile(r"--(help|list|version|complete|print-completion-script)\b")

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
            raise SystemExit(report(self._explained(error), json="--json" in self.argv)) from None
        except KeyboardInterrupt:
            raise SystemExit(report(PaddockError("interrupted"), json=False)) from None

    def _carry_out(self, argv: list[str] | None) -> None:
        """What Invoke's own `run` does, without its answers to errors."""
        try:
            self.create_config()
            self.parse_core(argv)
            self.parse_collection()
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

    def _explained(self, error: ParseError) -> PaddockError:
        """What the parser did not understand, with the nearest name that it would have."""
        if found := re.search(r"Flag <Argument: ([\w-]+)", str(error)):
            reason = text("command.value", flag=f"--{found[1]}")
            return PaddockError("bad-command", reason=reason, hint="")
        unknown = re.search(r"No idea what '(.+)' is!", str(error))
        if not unknown:
            return PaddockError("bad-command", reason=str(error), hint="")
        word = unknown[1]
        flags = (error.context or self.initial_context).flags
        known = [str(name) for name in (flags if word[0] == "-" else self.collection.task_names)]
        near = difflib.get_close_matches(word, known, n=1)
        hint = text("nearest", name=near[0]) if near else ""
        return PaddockError("bad-command", reason=text("command.unknown", word=word), hint=hint)

    def print_help(self) -> None:
        """The flags that mean something here, then the tasks."""
        print(text("command.usage", program=self.binary))  # noqa: T201
        print()  # noqa: T201
        rows = self.initial_context.help_tuples()
        self.print_columns([row for row in rows if _KEPT.search(row[0])])
        self.list_tasks()

    def print_columns(self, tuples: Sequence[tuple[str, str | None]]) -> None:
        """Names and what they mean, side by side, also on a terminal too narrow for that."""
        names = max(len(name) for name, _ in tuples)
        width = max(shutil.get_terminal_size().columns - names - 6, _NARROWEST)
        for name, said in tuples:
            rows = wrapped(as_typed(said or ""), width)
            for head, row in zip([name, *[""] * len(rows)], rows, strict=False):
                print(f"  {head:<{names}}   {row}".rstrip())  # noqa: T201
        print()  # noqa: T201
