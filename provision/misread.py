"""What Invoke's parser does not understand, in our words and with the nearest right name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from invoke.exceptions import ParseError
from invoke.parser.context import ParserContext

from provision.errors import PaddockError
from provision.words import text

# Invoke's messages are its only account of what was wrong.
_NO_VALUE = re.compile(r"Flag <Argument: ([\w-]+)")
_UNKNOWN = re.compile(r"(?s)No idea what (['\"])(.*)\1 is!")
_NO_SHELL = re.compile(r'(?s)Completion for shell "(.*)" not supported \(options are: (.*)\)')
_LACKING = re.compile(r"'(.+)' did not receive required positional arguments")


def explained(
    error: ParseError, argv: Sequence[str], core: ParserContext, tasks: Iterable[str]
) -> PaddockError:
    """A ParseError as `bad-command`; `core` has the flags of no task, `tasks` are the names."""
    if found := _NO_SHELL.search(str(error)):
        wanted = text("wanted.one-of", names=found[2])
        option = "--print-completion-script"
        return PaddockError("bad-option", option=option, value=found[1], wanted=wanted)
    reason, near = _reason(error, argv, core, list(tasks))
    task = (error.context and error.context.name) or "TASK"
    hint = text("nearest", name=near) if near else ""
    return PaddockError("bad-command", reason=reason, hint=hint, task=task)


def _reason(
    error: ParseError, argv: Sequence[str], core: ParserContext, tasks: Sequence[str]
) -> tuple[str, str]:
    """What was not understood, and the name that was meant, "" where none is near."""
    if found := _NO_VALUE.search(str(error)):
        return text("command.value", flag=f"--{found[1]}"), ""
    if _LACKING.search(str(error)) and error.context:
        lacking = error.context.missing_positional_args[0]
        values = {"task": error.context.name, "name": str(lacking.name).upper()}
        return text("command.lacking", **values, help=lacking.help), ""
    unknown = _UNKNOWN.search(str(error))
    if not unknown:
        return str(error), ""
    word = unknown[2]
    if flag := next((one[: -len(word) - 1] for one in argv if re.match("--.+=", one)
                     and one.endswith(f"={word}")), ""):  # fmt: skip
        return text("command.no-value", flag=flag, value=word), ""
    flags = [one for context in (error.context, core) if context for one in context.flag_names()]
    return text("command.unknown", word=word), _nearest(word, flags, tasks)


def _nearest(word: str, flags: Sequence[str], tasks: Sequence[str]) -> str:
    """The flag or task that was meant; "" where none is near."""
    known = flags if word.startswith("-") else tasks
    near = difflib.get_close_matches(word, known, n=1)
    as_flag = [f"--{word}"] if f"--{word}" in flags else []  # `help`, or `json` without its dashes
    return (as_flag or near or [""])[0]
