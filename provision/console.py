"""Between the tasks and the terminal: lines, consent, errors and exit statuses."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable

from invoke.tasks import Task

from provision.called import VARIABLE, as_typed, called
from provision.errors import PaddockError
from provision.paths import ROOT, at_home
from provision.several import SEPARATOR
from provision.stream import printable, replace_closed, say, say_json
from provision.words import catalogue, text

# What names a file or a folder of this machine. A shell fills in `~` except in `--flag=~/file`.
_FILES = (
    "ca_bundle", "checkout", "compare", "config", "deps", "diagnose", "env", "files", "from_",
    "html", "junit", "logs", "model", "ops_source", "plugin_source", "python", "sarif", "snapshot",
    "source", "stack", "text",
)  # fmt: skip


def command(body: Callable[..., int]) -> Task[Callable[..., None]]:
    """An Invoke task of a function that returns its exit status.

    Its texts come from the catalogue; what it raises becomes sentences and a status.
    """

    @functools.wraps(body)
    def wrapped(*args: object, **kwargs: object) -> None:
        # Invoke switches this off; every start would compile all that the task imports anew.
        sys.dont_write_bytecode = bool(sys.flags.dont_write_bytecode)
        given = {name: _at_home(value) if name in _FILES else value
                 for name, value in kwargs.items()}  # fmt: skip
        if status := _status(body, args, given):
            raise SystemExit(status)

    name = body.__name__.replace("_", "-")
    wrapped.__doc__ = text(f"task.{name}")
    flags = list(inspect.signature(body).parameters.values())[1:]
    helps = {flag.name: _help(name, flag.name.strip("_")) for flag in flags}
    several = [flag.name for flag in flags if flag.default is None]  # may be given more than once
    return Task(wrapped, help=helps, iterable=several, auto_shortflags=False)


def _at_home(value: object) -> object:
    """The files of a flag's value with `~` filled in."""
    if isinstance(value, list):
        return [_at_home(one) for one in value]
    if isinstance(value, str):
        return SEPARATOR.join(map(at_home, value.split(SEPARATOR)))
    return value


def _help(task: str, flag: str) -> str:
    """The text of a flag: the task's own where the flag means something else there."""
    own = f"flag.{task}.{flag}"
    return text(own if own in catalogue() else f"flag.{flag}")


def _status(body: Callable[..., int], args: tuple[object, ...], kwargs: dict[str, object]) -> int:
    """The exit status of a task, whatever happens in it."""
    from provision.guard import signals, storage

    json = bool(kwargs.get("json"))
    replace_closed()
    try:
        with storage(), signals():
            return body(*args, **kwargs)
    except KeyboardInterrupt:
        return report(PaddockError("interrupted"), json=json)
    except PaddockError as error:
        return report(error, json=json)
    except Exception as error:
        import traceback

        trace = tuple(traceback.format_exc().rstrip().splitlines())
        return report(PaddockError("internal", trace, reason=repr(error)), json=json)


def report(error: PaddockError, *, json: bool) -> int:
    """Print a failure: sentences to standard error, with --json the object to standard output."""
    from provision.show import error_lines

    if json:
        show_json({"schema": "paddock/error/1", **error.to_json()})
    for line in error_lines(error):
        say(sys.stderr, line)
    return error.status


def show_json(value: object) -> None:
    """One JSON document on standard output."""
    say_json(sys.stdout, value)


def show(line: str = "") -> None:
    """One line for a person; what the terminal cannot show is replaced, never an error."""
    say(sys.stdout, line)


def consent(what: str, *, yes: bool, ask: str = "consent.ask") -> bool:
    """Whether the host may be changed. Raises PaddockError `consent-needed` without a terminal.

    `ask` is the key of the question.
    """
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise PaddockError("consent-needed", what=what)
    try:
        answer = input(f"  {as_typed(printable(text(ask, what=what)))} ").strip().lower()
    except EOFError:
        return False
    return answer in ("", "y", "yes", "是", "好")


def run_tool(name: str, *arguments: str) -> int:
    """Run pytest or the benchmarks in the development environment, made when it is not there.

    Raises PaddockError `no-checkout` in an installed wheel, which has neither.
    """
    from provision import bootstrap

    lock = ROOT / "requirements-dev.lock"
    if not lock.exists():
        raise PaddockError("no-checkout", folder=ROOT)
    env = bootstrap.environment(lock)
    return _handed_on([str(env / "bin" / "python"), "-m", name, *arguments])


def _handed_on(command: list[str]) -> int:
    """Run a program to its end, and leave it to tidy up when a signal comes.

    A signal for this process is passed on; but a Ctrl-C at a terminal has reached both.
    """
    import signal
    import subprocess

    heard = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    spelled = {**os.environ, VARIABLE: called()}
    with subprocess.Popen(command, cwd=ROOT, env=spelled) as process:

        def pass_on(number: int, _: object) -> None:
            if number != signal.SIGINT or not (sys.stdin and sys.stdin.isatty()):
                process.send_signal(number)

        before = {name: signal.getsignal(name) for name in heard}
        try:
            for name in heard:
                if before[name] is not signal.SIG_IGN:
                    signal.signal(name, pass_on)
            status = process.wait()
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)
    return status if status >= 0 else 128 - status
