"""A visit to the doctor: what its flags ask for, from the question to the exit status."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from checks.doctor import examine as doctor
from checks.doctor.examine import Report
from checks.doctor.report import lines, status, to_json
from provision import words
from provision.console import show, show_json
from provision.errors import PaddockError
from provision.words import text

_ALONE = ("--list", "--compare")  # these answer another question than what this machine has
# What is about this machine and its own stack cannot be asked of another one.
_APART = {"--from": ("--fresh", "--container", "--env", "--fix"), "--fix": ("--env",)}
_FORMS = ("snapshot", "junit", "sarif", "html")  # each is a document of its own
_OUT = "-"  # as a file: standard output


def speak(language: str) -> None:
    """Answer in this language, "" for the user's own. Raises PaddockError `bad-option`."""
    if language not in ("", *words.LANGUAGES):
        wanted = text("wanted.language")
        raise PaddockError("bad-option", option="--lang", value=language, wanted=wanted)
    if language:
        words.speak(language)


def refuse_mixed(given: Mapping[str, object]) -> None:
    """Raises PaddockError `flags-apart` for flags, by name, that exclude each other.

    And `flag-needs` for one that means nothing without another.
    """
    names = [f"--{name}" for name, value in given.items() if value]
    for one, other in itertools.chain(_apart(names), _into_one_file(given)):
        raise PaddockError("flags-apart", one=one, other=other)
    if "--yes" in names and "--fix" not in names:
        raise PaddockError("flag-needs", one="--yes", other="--fix")


def _apart(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The pairs of flags that ask for different things. `--json` only says how to answer."""
    asked = [name for name in names if name != "--json"]
    for alone in _ALONE:
        if alone in asked:
            yield from ((alone, other) for other in asked if other != alone)
    for one, others in _APART.items():
        if one in asked:
            yield from ((one, other) for other in others if other in asked)


def _into_one_file(given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The pairs of flags whose answers would come into one file, where only one can be read."""
    shown = [(f"--{name}", _OUT) for name in ("fix", "json") if given.get(name)][:1]
    forms = [(f"--{name} {given[name]}", given[name]) for name in _FORMS if given.get(name)]
    for (one, file), (other, same) in itertools.combinations([*shown, *forms], 2):
        if file == same:
            yield one, other


def catalogue(*, json: bool) -> int:
    """Show what checks there are."""
    from checks.doctor import catalogue

    if json:
        show_json(catalogue.to_json())
    else:
        _show(catalogue.lines())
    return 0


def compare(files: Sequence[str], *, json: bool) -> int:
    """Show what differs between two snapshots. Raises PaddockError `bad-option`, `bad-snapshot`."""
    from checks.doctor import compare, compare_report

    if len(files) != 2:  # noqa: PLR2004 - it takes two to differ
        wanted, value = text("wanted.two-snapshots"), " ".join(files)
        raise PaddockError("bad-option", option="--compare", value=value, wanted=wanted)
    made = compare.compare(*files)
    if json:
        show_json(compare_report.to_json(made))
    else:
        _show(compare_report.lines(made))
    return made.status


def examine(  # noqa: PLR0913 - a flag each
    target: str, file: str, *, fresh: bool, container: str = "", env: str = "", json: bool = False
) -> Report:
    """Examine this machine or, with a file, the one of that snapshot; "" is any target.

    The file may be a folder of saved outputs; `json`: nothing else may be shown. Raises
    PaddockError `unknown-target`, `bad-snapshot`, and `bad-option` where a snapshot is of another
    target than the one that was asked for; what snapshot.collect and sent_folder.examine raise.
    """
    if not file:
        return doctor.examine(target or None, fresh=fresh, container=container, env=env)
    if Path(file).is_dir():
        from checks.doctor import sent_folder

        return sent_folder.examine(target, Path(file), json=json)
    from provision.facts.snapshot_file import read

    begin = time.monotonic()
    saved = read(file)
    if target not in ("", saved.facts.target):
        wanted = text("wanted.snapshot-target", name=saved.facts.target)
        raise PaddockError("bad-option", option="--target", value=target, wanted=wanted)
    findings = doctor.ask(saved.facts)
    return Report(saved.facts, findings, time.monotonic() - begin, saved.time)


def mend(
    report: Report, again: Callable[[], Report], *, yes: bool, json: bool
) -> tuple[Report, dict[str, object]]:
    """Carry out what is safe, and examine again; returns the last report, and what was done.

    Raises PaddockError `fix-consent`, and what `provision` raises.
    """
    from checks.doctor import fix

    made = fix.offer(report)
    if not json:
        if made.command:
            _show([*lines(report), ""])
        _show([*fix.lines(made), ""])
    if not made.command or not fix.agreed(made, yes=yes):
        return report, fix.to_json(made, ran=False)
    fix.carry_out(made, report.facts.target, json=json)
    return again(), fix.to_json(made, ran=True)


def tell(
    report: Report, files: Mapping[str, str], *, json: bool, strict: bool,
    fixed: Mapping[str, object] | None = None,
) -> int:  # fmt: skip
    """Show a report and write it to these files, by form: `snapshot`, `junit`, `sarif`, `html`.

    A file `-` is standard output, in place of what is shown otherwise; `fixed` is what `mend` did.
    Returns the exit status.
    """
    declined = bool(fixed and fixed["command"] and not fixed["ran"])
    if _OUT not in files.values():
        if json:
            show_json(to_json(report, strict) | ({"fix": fixed} if fixed else {}))
        elif not declined:  # before it asked, `mend` showed the report
            _show(lines(report))
    for form, file in files.items():
        if file:
            _write(form, file, report)
    return status(report, strict)


def _write(form: str, file: str, report: Report) -> None:
    from provision.files import write

    write(f"--{form}", file, _encoder(form)(report))


def _encoder(form: str) -> Callable[[Report], bytes]:
    """What turns a report into one of the forms; loaded only when it is asked for."""
    if form == "snapshot":
        from provision.facts import snapshot_file

        return lambda report: snapshot_file.encode(report.facts)
    if form == "junit":
        from checks.doctor import junit

        return junit.encode
    if form == "html":
        from checks.doctor import html

        return html.encode
    from checks.doctor import sarif

    return sarif.encode


def _show(shown: Iterable[str]) -> None:
    for line in shown:
        show(line)
