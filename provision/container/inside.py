"""Commands in a container: their output as it comes, their true exit status, and their end."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from provision.container.engine import translated
from provision.errors import PaddockError
from provision.orphans import LASTING
from provision.patience import passed_on
from provision.render import render

_MARK = "PADDOCK_INSIDE"
_KILLED = 137
_SETTLES = 20  # tenths of a second until a container that was killed says so
_PATIENCE = 150  # tenths of a second: a run that is asked to end first ends its own processes

Listen = Callable[["bytes | None", "bytes | None"], None]


def _follow(api: Any, made: str, listen: Listen) -> None:
    """Start a command that was made, and pass on what it says, to its end."""
    for out, err in api.exec_start(made, stream=True, demux=True):
        listen(out, err)


@dataclass(frozen=True)
class Inside:
    """A container that runs. `home` is Paddock's folder in it, `settings` are scripts of the vendor
    that a shell sources before Paddle starts."""

    client: Any
    container: Any
    home: Path
    settings: Sequence[str]

    def run(
        self, words: Sequence[str], variables: Mapping[str, str], listen: Listen, mark: str,
        *, is_run: bool = False,
    ) -> int:  # fmt: skip
        """Run a command to its end; `listen` gets pieces of standard output and of errors.

        Whatever ends this call ends the command too; a run of Paddock gets the signals instead, and
        comes to its end by itself. `mark` names the run: a later one of the same name can `end` it.
        Raises PaddockError `container-died`, `engine-lost`.
        """
        api, began = self.client.api, self.started()
        try:
            with translated(container=self.container.name):
                made = api.exec_create(
                    self.container.id, self.command(words, mark), user="0:0",
                    environment={**variables, _MARK: mark},
                )["Id"]  # fmt: skip
                work = partial(_follow, api, made, listen)
                passed_on(work, partial(self._send, mark)) if is_run else work()
        except KeyboardInterrupt:
            self.end(mark)  # the end of the stream would leave the command at work
            raise
        return self._status(made, began)

    def _send(self, mark: str, number: signal.Signals) -> None:
        """Send a signal to the command that a run of this name has started."""
        script = 'kill -s "$0" "$(cat "$1")" 2>/dev/null || :'
        name = number.name.removeprefix("SIG")
        self.container.exec_run(["sh", "-c", script, name, str(self._file(mark))], user="0:0")

    def _file(self, mark: str) -> Path:
        """The file there with the number of the process."""
        return self.home / "running" / mark

    def command(self, words: Sequence[str], mark: str) -> list[str]:
        """The argument list that runs this command, marked, with the vendor's settings."""
        values = {"settings": list(self.settings), "marks": self.home / "running", "mark": mark}
        # The settings of the vendors are written for bash, which their images have.
        shell = "bash" if self.settings else "sh"
        return [shell, "-c", render("container/inside.sh.j2", values), shell, *words]

    def _status(self, made: str, began: str) -> int:
        """The exit status. A command that was killed may have been so with its container."""
        with translated(container=self.container.name):
            status = self.client.api.exec_inspect(made)["ExitCode"]
        patience = _SETTLES if status == _KILLED else 0
        while self.started() == began and self.container.attrs["State"]["Running"] and patience:
            patience -= 1
            time.sleep(0.1)
        state = self.container.attrs["State"]
        if status is None or state["StartedAt"] != began or not state["Running"]:
            raise PaddockError(
                "container-died",
                container=self.container.name,
                what=state.get("Error") or f"{state['Status']} {state['ExitCode']}",
            )
        return int(status)

    def started(self) -> str:
        """When the container was last started."""
        with translated(container=self.container.name):
            self.container.reload()
        return str(self.container.attrs["State"]["StartedAt"])

    def read(self, file: Path) -> str:
        """The text of a file there; "" where there is none."""
        with translated(container=self.container.name):
            done = self.container.exec_run(["cat", str(file)], user="0:0")
        return done.output.decode(errors="replace") if done.exit_code == 0 else ""

    def replace(self, old: Sequence[Path], archive: Path) -> None:
        """Unpack a tar archive at the root, in place of what was there: that goes first.

        What a full disk has cut off goes again. Raises PaddockError `container-disk`.
        """
        remove = ["rm", "-rf", *map(str, old)]
        with translated(container=self.container.name), archive.open("rb") as file:
            self.container.exec_run(remove, user="0:0")
            try:
                self.container.put_archive("/", file)
            except BaseException:
                self.container.exec_run(remove, user="0:0")
                raise

    def lasting(self, patience: float = 10.0) -> tuple[int, str] | None:
        """A vendor's installer that goes on there after its run was killed: process and step.

        None where none is at work, or each ends within `patience` seconds.
        """
        expression = f"s|^{LASTING}=[^/]*/||p"
        script = render("container/lasting.sh.j2", {"expression": expression})
        deadline = time.monotonic() + patience
        while True:
            with translated(container=self.container.name):
                done = self.container.exec_run(["sh", "-c", script], user="0:0")
            found = re.search(r"^(\d+) (\S+)$", done.output.decode(errors="replace"), re.MULTILINE)
            if not found or time.monotonic() > deadline:
                return (int(found[1]), found[2]) if found else None
            time.sleep(0.5)

    def end(self, mark: str) -> bool:
        """End what a run of this name has left at work; returns whether there was anything."""
        script = render("container/end.sh.j2", {
            "variable": f"{_MARK}={mark}", "file": self._file(mark),
            "patience": _PATIENCE,
        })  # fmt: skip
        with translated(container=self.container.name):
            done = self.container.exec_run(["sh", "-c", script], user="0:0")
        return bool(done.output.endswith(b"ended\n"))
