"""Engines that are not there, may not be used, hang, refuse, or go away in the middle."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checks import containers
from provision import guard
from provision.container import box
from provision.container import engine as engines
from provision.container import inside as insides
from provision.container.inside import Inside
from provision.container.work import Work
from provision.errors import PaddockError
from provision.forms.volumes import volumes
from tests.conftest import Cli
from tests.container.engine import Engine, busy_image, engine
from tests.container.values import inside, settings, without_mounts
from tests.lab.needs import needs

pytestmark = pytest.mark.slow


def code(raised: pytest.ExceptionInfo[PaddockError]) -> str:
    return raised.value.code


def test_no_engine_is_told_with_what_to_install(cli: Cli, tmp_path: Path) -> None:
    for task in ("status", "shell", "down", "provision --target loopback --in container"):
        done = cli(*task.split(), DOCKER_HOST=f"unix://{tmp_path}/docker.sock")
        assert done.returncode == 4, task
        assert "apt-get install docker.io" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_socket_without_permission(running: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    needs(os.geteuid() == 0, "root, to become another user")
    monkeypatch.setenv("DOCKER_HOST", running.host)
    engines.connect().close()  # as the other user cannot read all of Python
    running.folder.chmod(0o755)
    running.socket.chmod(0o600)
    os.seteuid(65534)
    try:
        with pytest.raises(PaddockError) as raised:
            engines.connect()
    finally:
        os.seteuid(0)
    assert code(raised) == "engine-denied"
    assert "usermod" in str(raised.value)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("DOCKER_HOST", "ssh://me:word@host"), ("DOCKER_HOST", "garbage"),
     ("DOCKER_CONTEXT", "nosuch"), ("DOCKER_CONFIG", "")],
)  # fmt: skip
def test_an_engine_that_cannot_be_is_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, value: str
) -> None:
    """A context that is not there does not lead to the usual engine."""
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "config.json").write_text('{"currentContext": "gone"}')
    monkeypatch.setenv(variable, value or str(tmp_path))
    with pytest.raises(PaddockError) as raised:
        engines.connect()
    assert (code(raised), raised.value.status) == ("bad-option", 2)
    assert "word@" not in str(raised.value)


@pytest.fixture
def deaf(tmp_path: Path) -> Iterator[Path]:
    """A socket whose daemon takes calls and never answers."""
    path = tmp_path / "deaf.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        yield path


def test_a_daemon_that_hangs(deaf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{deaf}")
    monkeypatch.setattr(engines, "_LIMIT", 0.5)
    with pytest.raises(PaddockError) as raised:
        engines.connect()
    assert code(raised) == "engine-lost"


@pytest.mark.parametrize("at_start", [True, False])
def test_what_the_machine_lacks_is_named_and_no_container_stays(
    client: Any, at_start: bool
) -> None:
    """Docker refuses a missing path before the container is made, a missing node when it starts."""
    wanted = settings(client, "ascend910b", cards=(7,))
    wanted = without_mounts(wanted) if at_start else wanted
    with pytest.raises(PaddockError) as raised:
        box.running(client, wanted, box.fitting(client, wanted))
    assert code(raised) == "container-lacks", raised.value
    what = "/dev/davinci7" if at_start else "/usr/local/dcmi"
    assert what in raised.value.part("what")
    assert client.containers.list(all=True) == []


def test_it_gets_the_nodes_of_its_cards_and_the_memory(client: Any) -> None:
    """And not those of other cards."""
    heard = Heard()
    script = "echo /dev/gcu*; grep /dev/shm /proc/mounts"
    assert box.running(client, settings(client, "s60", cards=(0, 2)), None).run(
        ["sh", "-c", script], {}, heard, "test") == 0  # fmt: skip
    nodes, memory = heard.out.decode().splitlines()
    assert nodes == "/dev/gcu0 /dev/gcu2 /dev/gcuctl"
    assert f"size={128 << 20}k" in memory  # as the documents have it


def test_what_is_written_to_a_volume_is_the_machines(
    client: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not to one that is read-only; and a folder that is gone is no new one."""
    folder, file = tmp_path / 'a b "家$x', tmp_path / "one=file"
    folder.mkdir()
    file.write_text("seen")
    named = f"{folder}:/models,{folder}:/again:ro,{file}:/in/file:ro"
    given = volumes(named, settings(client).wanted.taken, here=True)
    heard, made = Heard(), inside(client, volumes=given)
    script = "cat /in/file > /models/copy; cat /again/copy; echo > /again/x || echo > /in/file"
    assert made.run(["sh", "-c", script], {}, heard, "test") != 0
    assert (heard.out, (folder / "copy").read_text()) == (b"seen", "seen")
    assert heard.err.count(b"Read-only") == 2
    containers.status(json=True)
    (row,) = json.loads(capsys.readouterr().out)["containers"]
    assert row["volumes"] == sorted(named.split(","))
    containers.status(json=False)
    assert f"{folder}:/again:ro" in capsys.readouterr().out
    with pytest.raises(PaddockError) as raised:
        box.fitting(client, settings(client))
    assert code(raised) == "container-differs" and "volumes" in raised.value.part("what")
    made.container.kill()
    for one in (*folder.iterdir(), folder):
        one.unlink() if one.is_file() else one.rmdir()
    for fresh in (False, True):  # it is started again, then made anew
        with pytest.raises(PaddockError) as raised:
            inside(client, volumes=given) if fresh else box.start(made.container)
        assert (code(raised), folder.exists()) == ("container-lacks", False)
        assert str(folder) in raised.value.part("what") and "--volume" in raised.value.part("cause")
        box.remove([made.container])


def test_a_name_that_another_container_has(client: Any) -> None:
    foreign = client.containers.create("busy:1", name="paddock-loopback", command=["sleep", "9"])
    with pytest.raises(PaddockError) as raised:
        inside(client)
    assert code(raised) == "container-name"
    assert "paddock-loopback" in raised.value.part("what")
    assert [one.id for one in client.containers.list(all=True)] == [foreign.id]


def test_another_choice_needs_another_container(client: Any) -> None:
    inside(client)
    with pytest.raises(PaddockError) as raised:
        box.fitting(client, settings(client, privileged=True))
    assert code(raised) == "container-differs"
    assert "privileged" in raised.value.part("what")
    assert box.fitting(client, settings(client)) is not None


def test_another_home_does_not_see_it(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    inside(client)
    assert len(box.ours(client)) == 1
    monkeypatch.setenv("PADDOCK_HOME", "/nonexistent")
    assert box.ours(client) == []


class Heard:
    """Collects what a command says, and calls `then` at its first word."""

    def __init__(self, then: Any = None) -> None:
        self.out, self.err, self.then = b"", b"", then

    def __call__(self, out: bytes | None, err: bytes | None) -> None:
        first = not self.out
        self.out += out or b""
        self.err += err or b""
        if first and out and self.then:
            self.then()


def test_output_and_status_are_true(client: Any) -> None:
    heard = Heard()
    status = inside(client).run(["sh", "-c", "echo out; echo $SOME >&2; exit 7"], {"SOME": "é x"},
                                heard, "test")  # fmt: skip
    assert (status, heard.out, heard.err) == (7, b"out\n", "é x\n".encode())


def test_a_program_that_is_missing(client: Any) -> None:
    assert inside(client).run(["nosuch"], {}, Heard(), "test") == 127


LOOP = ["sh", "-c", "echo begun; while true; do sleep 1; done"]


def processes(one: Inside) -> list[str]:
    """The command lines in the container."""
    script = "for file in /proc/[0-9]*/cmdline; do tr '\\0\\n' '  ' < $file; echo; done"
    said: str = one.container.exec_run(["sh", "-c", script]).output.decode()
    return [line.strip() for line in said.splitlines()]


def test_cancelling_ends_the_command_inside(client: Any) -> None:
    def cancel() -> None:
        raise KeyboardInterrupt

    one = inside(client)
    with pytest.raises(KeyboardInterrupt):
        one.run(LOOP, {}, Heard(cancel), "test")
    assert [line for line in processes(one) if "while true" in line] == []


RUN = """
asked() { echo "asked $((n = n + 1))"; [ $n -lt 2 ] || { echo ended; exit 130; }; }
n=0
trap asked TERM INT
echo begun
for _ in 1 2 3 4 5 6 7 8; do sleep 0.2; done
echo whole
"""


@pytest.mark.parametrize(
    ("numbers", "said"),
    [([signal.SIGINT], ["begun", "asked 1", "whole"]),
     ([signal.SIGTERM, signal.SIGINT], ["begun", "asked 1", "asked 2", "ended"])],
)  # fmt: skip
def test_a_run_there_gets_the_signals_and_ends_itself(
    client: Any, numbers: list[signal.Signals], said: list[str]
) -> None:
    """What it says meanwhile is heard: it has to tell what is waited for."""

    def cancel() -> None:
        for number in numbers:
            time.sleep(0.4)
            os.kill(os.getpid(), number)

    one = inside(client)
    heard = Heard(threading.Thread(target=cancel).start)
    with pytest.raises(KeyboardInterrupt), guard.signals():
        one.run(["sh", "-c", RUN], {}, heard, "test", is_run=True)
    assert heard.out.decode().split("\n")[:-1] == said
    assert [line for line in processes(one) if "begun" in line] == []


def test_what_a_killed_run_left_is_ended_by_the_next(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also a child that does not hear the question."""
    monkeypatch.setattr(insides, "_PATIENCE", 10)
    one = inside(client)
    deaf = "trap '' TERM; while true; do sleep 1; done"
    made = client.api.exec_create(
        one.container.id, one.command(["sh", "-c", f"({deaf}) & wait"], "test"),
        environment={"PADDOCK_INSIDE": "test"},
    )  # fmt: skip
    client.api.exec_start(made["Id"], detach=True)
    other = client.api.exec_create(one.container.id, ["sh", "-c", "while true; do sleep 2; done"])
    client.api.exec_start(other["Id"], detach=True)
    while not {"sleep 1", "sleep 2"} <= set(processes(one)):
        time.sleep(0.05)
    began = time.monotonic()
    assert one.end("test")
    assert time.monotonic() - began > 1  # it was asked first
    assert [line for line in processes(one) if "sleep 1" in line] == []
    assert [line for line in processes(one) if "sleep 2" in line]
    assert not one.end("test")


def test_an_installer_that_a_killed_run_left_is_waited_for(client: Any) -> None:
    """It is told where it takes longer, and nothing there is ended."""
    one = inside(client)
    assert one.lasting(0.1) is None
    script = 'PADDOCK_LASTING=run-1/host/toolkit sh -c "sleep $0; :" & wait'
    for seconds, patience, is_left in ((8, 0.1, True), (1, 10, False)):
        made = client.api.exec_create(one.container.id, ["sh", "-c", script, str(seconds)])
        client.api.exec_start(made["Id"], detach=True)
        while not one.lasting(0):
            time.sleep(0.05)
        found = one.lasting(patience)
        assert (found is not None) == is_left
        if found:
            assert found[1] == "host/toolkit"
            work = Work(None, one, None, Path())  # type: ignore[arg-type]
            with pytest.raises(PaddockError) as raised, pytest.MonkeyPatch.context() as patched:
                patched.setattr(Inside.lasting, "__defaults__", (0.1,))
                work.clear()
            assert code(raised) == "installer-busy" and "host/toolkit" in str(raised.value)
            assert one.lasting(60) is None  # it was not ended


@pytest.mark.parametrize("how", ["kill", "restart"])
def test_a_container_that_dies_meanwhile_and_goes_on(client: Any, how: str) -> None:
    one = inside(client)
    act = one.container.kill if how == "kill" else lambda: one.container.restart(timeout=0)
    dying = threading.Thread(target=act)
    with pytest.raises(PaddockError) as raised:
        one.run(LOOP, {}, Heard(dying.start), "test")
    dying.join()
    assert code(raised) == "container-died"
    box.start(one.container)
    assert one.run(["sh", "-c", "exit 3"], {}, Heard(), "test") == 3


def test_an_engine_that_dies_meanwhile_and_goes_on(client: Any, running: Engine) -> None:
    one = inside(client)
    with pytest.raises(PaddockError) as raised:
        one.run(LOOP, {}, Heard(running.restart), "test")
    assert code(raised) in ("engine-lost", "container-died", "engine-absent")
    running.answers()
    again = engines.connect()
    there = box.fitting(again, settings(again))
    assert there is not None
    assert box.running(again, settings(again), there).run(["cat"], {}, Heard(), "t") == 0


def test_a_full_disk_of_the_engine(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not home.exists()
    with engine("16m") as small:
        busy_image(small)
        monkeypatch.setenv("DOCKER_HOST", small.host)
        monkeypatch.delenv("UV_CACHE_DIR")
        one = inside(engines.connect())
        with pytest.raises(PaddockError) as raised, engines.translated():
            one.container.put_archive("/", _archive(30))
    assert code(raised) == "container-disk"


def _archive(megabytes: int) -> bytes:
    import io
    import tarfile

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("large")
        info.size = megabytes << 20
        archive.addfile(info, io.BytesIO(bytes(info.size)))
    return buffer.getvalue()
