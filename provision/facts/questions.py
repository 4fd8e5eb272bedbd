"""What is asked of a machine with vendor cards: commands and files, from `questions.toml`."""

from __future__ import annotations

import os
import shutil

import msgspec

from provision.document import Table, read
from provision.facts.command import run
from provision.paths import IMAGES


class Command(Table, frozen=True):
    """A question to a program; see `images/questions.toml` for the fields."""

    command: list[str]
    limit: float
    source: str
    seen: str
    device: str = ""
    folders: list[str] = msgspec.field(default_factory=list)


class File(Table, frozen=True):
    """A question to files; see `images/questions.toml` for the fields."""

    file: str
    source: str
    seen: str
    device: str = ""


class Questions(Table, frozen=True):
    """The whole of `images/questions.toml`."""

    commands: list[Command]
    files: list[File]


class Output(msgspec.Struct, frozen=True):
    """The answer to one question.

    `source` is the command line, or the path; `real` is the path behind links, or the program
    that ran. `status` is the exit status of a program, None for a file and for a program that
    was ended at its time limit. `problem` is "" or one word: "absent" (no such program),
    "silent" (no answer within its limit), "unreadable".
    """

    source: str
    text: str = ""
    real: str = ""
    status: int | None = None
    problem: str = ""


def questions() -> Questions:
    """All questions."""
    return read(IMAGES / "questions.toml", Questions, Command, File)


def complete(question: Command) -> bool:
    """Whether all variables of the environment that a question names are set."""
    return not any("$" in os.path.expandvars(word) for word in question.command)


def ask(question: Command, npu: int | None = None) -> Output:
    """The answer of one program."""
    words = [word.replace("{npu}", str(npu)) for word in question.command]
    argv = [os.path.expandvars(word) for word in words]
    source = " ".join(argv)
    where = os.pathsep.join([os.environ.get("PATH", os.defpath), *question.folders])
    program = shutil.which(argv[0], path=where)
    if program is None:
        return Output(source, problem="absent")
    try:
        answer = run([program, *argv[1:]], question.limit, {**os.environ, "LC_ALL": "C"})
    except OSError as error:
        return Output(source, f"{program}: {error.strerror}", program, problem="unreadable")
    said = answer.out
    if answer.status != 0 or not said.strip():  # why it failed is told on standard error
        said = "\n".join(part.rstrip() for part in (answer.out, answer.err) if part.strip())
    problem = "silent" if answer.status is None else ""
    return Output(source, said, program, answer.status, problem)


def concerns(device: str, wanted: set[str]) -> bool:
    """Whether a question about these device types (names apart by blanks) is to be asked."""
    return not device or bool(wanted & set(device.split()))
