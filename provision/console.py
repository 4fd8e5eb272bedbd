"""Between the tasks and the terminal: options, consent, errors and exit statuses."""

from __future__ import annotations

import functools
import inspect
import json as json_module
import os
import sys
from collections.abc import Callable
from pathlib import Path

from invoke.tasks import Task

from provision.engine import Options
from provision.errors import PaddockError
from provision.network import Network, hide_secrets
from provision.paths import ROOT, cache_dir, data_dir, state_dir
from provision.stream import is_unicode, replace_closed, say
from provision.words import text


def command(body: Callable[..., int]) -> Task[Callable[..., None]]:
    """An Invoke task of a function that returns its exit status.

    Its texts come from the catalogue; what it raises becomes sentences and a status.
    """

    @functools.wraps(body)
    def wrapped(*args: object, **kwargs: object) -> None:
        # Invoke switches this off; every start would compile all that the task imports anew.
        sys.dont_write_bytecode = bool(sys.flags.dont_write_bytecode)
        if status := _status(body, args, kwargs):
            raise SystemExit(status)

    wrapped.__doc__ = text(f"task.{body.__name__.replace('_', '-')}")
    flags = list(inspect.signature(body).parameters)[1:]
    helps = {flag: text(f"flag.{flag.strip('_')}") for flag in flags}
    return Task(wrapped, help=helps, auto_shortflags=False)


def _status(body: Callable[..., int], args: tuple[object, ...], kwargs: dict[str, object]) -> int:
    """The exit status of a task, whatever happens in it."""
    from provision.guard import storage

    json = bool(kwargs.get("json"))
    replace_closed()
    try:
        with storage():
            return body(*args, **kwargs)
    except KeyboardInterrupt:
        return _say(PaddockError("interrupted"), json=json)
    except PaddockError as error:
        return _say(error, json=json)
    except Exception as error:
        import traceback

        trace = tuple(traceback.format_exc().rstrip().splitlines())
        return _say(PaddockError("internal", trace, reason=repr(error)), json=json)


def _say(error: PaddockError, *, json: bool) -> int:
    """Print a failure: sentences to standard error, with --json the object to standard output."""
    from provision.show import error_lines

    if json:
        show_json({"schema": "paddock/error/1", **error.to_json()})
    for line in error_lines(error):
        say(sys.stderr, line)
    return error.status


def show_json(value: object) -> None:
    """One JSON document on standard output."""
    ascii_only = not is_unicode(sys.stdout)
    say(sys.stdout, json_module.dumps(value, ensure_ascii=ascii_only, indent=2))


def show(line: str = "") -> None:
    """One line for a person; what the terminal's encoding lacks is replaced, never an error."""
    say(sys.stdout, line)


def options(  # noqa: PLR0913 - one parameter a flag
    target: str, release: str, stack: str, begin: str, only: str, offline: bool,
    ca_bundle: str, index_url: str, jobs: str,
) -> Options:  # fmt: skip
    """The flags as options; `auto` is resolved to the machine's accelerator, else loopback.

    Raises PaddockError `bad-option`, `no-target-for-card`.
    """
    bundle = Path(ca_bundle).expanduser() if ca_bundle else None
    if bundle and not bundle.is_file():
        raise PaddockError(
            "bad-option", option="--ca-bundle", value=bundle, wanted=text("wanted.file")
        )
    if index_url and not index_url.startswith(("https://", "http://", "file://")):
        raise PaddockError(
            "bad-option", option="--index-url", value=hide_secrets(index_url),
            wanted=text("wanted.url"),
        )  # fmt: skip
    network = Network(offline, bundle.resolve() if bundle else None, index_url or None)
    _check_home()
    own = Path(stack).expanduser().absolute() if stack else None
    return Options(
        target=_of_stack(own, target) if own else named(target),
        release=release or None,
        stack=own,
        begin=begin or None,
        only=tuple(name for name in only.split(",") if name),
        network=network,
        jobs=count("--jobs", jobs) if jobs else os.cpu_count() or 1,
    )


def count(option: str, value: str, lowest: int = 1) -> int:
    """A flag's value as a whole number. Raises PaddockError `bad-option`.

    Invoke's own conversion would answer a wrong one with a traceback.
    """
    if not value.isascii() or not value.isdigit() or int(value) < lowest:
        wanted = text("wanted.count", lowest=lowest)
        raise PaddockError("bad-option", option=option, value=value, wanted=wanted)
    return int(value)


def _check_home() -> None:
    """What PATH and uv cannot take as a folder is refused before anything is written there."""
    for folder in (cache_dir(), state_dir(), data_dir()):
        name = str(folder)
        if ":" in name or name.encode("utf-8", "replace").decode() != name:
            wanted = text("wanted.home")
            raise PaddockError("bad-option", option="PADDOCK_HOME", value=name, wanted=wanted)


def _of_stack(stack: Path, target: str) -> str:
    """The target of a stack file of the user's own; one asked for by name must be the same.

    Raises PaddockError `bad-option`, `stack-*`.
    """
    from provision.stack import load

    own = load(stack).target
    if target not in ("auto", own):
        wanted = text("wanted.stack-target", name=own)
        raise PaddockError("bad-option", option="--target", value=target, wanted=wanted)
    return own


ALIASES = {"npu": "ascend910b", "gcu": "s60"}


def named(target: str) -> str:
    """The target's own name: aliases resolved, and `auto` by the machine."""
    return found_target() if target == "auto" else ALIASES.get(target, target)


def found_target() -> str:
    """The target of the accelerator in this machine; loopback where there is none.

    Raises PaddockError `no-target-for-card` when this version has none for the card found.
    """
    from provision.facts.pci import devices, target_for
    from provision.stack import targets

    name = target_for(devices()) or "loopback"
    if name != "loopback" and name not in targets():
        raise PaddockError("no-target-for-card", card=name)
    return name


def consent(what: str, *, yes: bool) -> bool:
    """Whether the host may be changed. Raises PaddockError `consent-needed` without a terminal."""
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise PaddockError("consent-needed", what=what)
    try:
        answer = input(f"  {text('consent.ask', what=what)} ").strip().lower()
    except EOFError:
        return False
    return answer in ("", "y", "yes", "是", "好")


def run_tool(name: str, *arguments: str) -> int:
    """Run pytest or the benchmarks in the development environment, made when it is not there."""
    import subprocess

    from provision import bootstrap

    env = bootstrap.environment(ROOT / "requirements-dev.lock")
    return subprocess.call([env / "bin" / "python", "-m", name, *arguments], cwd=ROOT)
