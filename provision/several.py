"""Several values on the command line, for which Invoke's parser has no word."""

from __future__ import annotations

from collections.abc import Sequence

SEPARATOR = "\0"  # no name of a file can have it
_PAIR = "--compare"
_HELP = {"-h", "--help"}
# Tasks with one positional parameter that stands for any number of files, and their flags that have
# a value.
TASKS: dict[str, tuple[str, ...]] = {
    "read": (), "explain": (), "verify-wheel": ("--target", "--env"), "data": (), "checkpoint": (),
}  # fmt: skip


def gather(argv: Sequence[str]) -> list[str]:
    """The command line with all files of such a task as one argument, joined by SEPARATOR.

    `-` (standard input) is a file; after `--` everything is one. Where help is asked for after any
    task, nothing but that.
    """
    task = next((i for i, word in enumerate(argv) if i and not word.startswith("-")), len(argv))
    rest = list(argv[task + 1 :])
    end = rest.index("--") if "--" in rest else len(rest)
    if _HELP & set(rest[:end]):
        return [*argv[:task], "--help", argv[task]]  # else it would be taken for the first file
    if task == len(argv) or argv[task] not in TASKS or _HELP & set(argv[:task]):
        return list(argv)
    flags, files = _apart(rest[:end], TASKS[argv[task]])
    files += rest[end + 1 :]
    joined = SEPARATOR.join(files)
    if joined != "-" and joined.startswith("-"):  # else it would be taken for a flag
        joined = SEPARATOR + joined
    return [*argv[: task + 1], joined, *flags]  # a misspelled flag would be taken for a file


def _apart(words: Sequence[str], valued: Sequence[str]) -> tuple[list[str], list[str]]:
    """The flags, those of `valued` with the word after them, and the files among the words."""
    flags: list[str] = []
    files: list[str] = []
    for word in words:
        is_value = bool(flags) and flags[-1] in valued
        is_flag = is_value or (word.startswith("-") and word != "-")
        (flags if is_flag else files).append(word)
    return flags, files


def split(files: str) -> list[str]:
    """The files that `gather` joined."""
    return [name for name in files.split(SEPARATOR) if name]


def pair(argv: Sequence[str]) -> list[str]:
    """The command line with `--compare A B` as Invoke reads it: `--compare A --compare B`."""
    words = list(argv)
    second = words.index(_PAIR) + 2 if words.count(_PAIR) == 1 else len(words)
    if second < len(words) and not words[second].startswith("--"):
        words.insert(second, _PAIR)
    return words
