"""What is asked of Docker's engine holds of Podman's, too, which answers in the same language.

Podman runs in a machine of its own, and is reached by its socket.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provision.container import box
from provision.container.engine import connect
from provision.errors import PaddockError
from provision.forms.volumes import Volume
from tests.container.engine import IMAGE, busy_archive
from tests.container.image import with_podman
from tests.container.test_engine import (
    Heard,
    test_a_name_that_another_container_has,
    test_a_program_that_is_missing,
    test_another_choice_needs_another_container,
    test_cancelling_ends_the_command_inside,
    test_it_gets_the_nodes_of_its_cards_and_the_memory,
    test_output_and_status_are_true,
    test_what_a_killed_run_left_is_ended_by_the_next,
)
from tests.container.values import inside, settings, without_mounts
from tests.lab.boxes.box import NESTED, run_in
from tests.lab.machine import running

__all__ = [
    "test_a_name_that_another_container_has",
    "test_a_program_that_is_missing",
    "test_another_choice_needs_another_container",
    "test_cancelling_ends_the_command_inside",
    "test_it_gets_the_nodes_of_its_cards_and_the_memory",
    "test_output_and_status_are_true",
    "test_what_a_killed_run_left_is_ended_by_the_next",
]
pytestmark = pytest.mark.slow
SERVE = """
cd /srv/podman
for folder in /sys/fs/cgroup/*; do mount -o remount,bind,rw $folder; done
for name in gcu0 gcu1 gcu2 gcuctl; do mknod /dev/$name c 1 3; done
setsid podman system service --time=0 unix://$PWD/podman.sock >/var/log/podman 2>&1 </dev/null &
for _ in $(seq 100); do [ -S podman.sock ] && exit 0; sleep 0.1; done
cat /var/log/podman >&2
exit 1
"""


@pytest.fixture(scope="module")
def podman(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What DOCKER_HOST has to be for a Podman that has the image."""
    folder = tmp_path_factory.mktemp("podman")
    image = with_podman()
    mounts = ("--volume=/var/lib/containers", f"--volume={folder}:/srv/podman",
              f"--volume={folder}:{folder}")  # fmt: skip
    with running(image, "--cgroupns", "private", *NESTED, *mounts) as machine:
        run_in(machine, SERVE)
        take = ["podman", "import", "-", f"docker.io/library/{IMAGE}"]
        given = ["docker", "exec", "-i", machine.name, *take]
        subprocess.run(given, input=busy_archive(), check=True, capture_output=True)
        yield f"unix://{folder}/podman.sock"


@pytest.fixture
def client(podman: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of it, in a home of the test's own; its containers are gone after."""
    assert not home.exists()
    monkeypatch.setenv("DOCKER_HOST", podman)
    monkeypatch.delenv("UV_CACHE_DIR")
    made = connect()
    yield made
    for one in made.containers.list(all=True):
        one.remove(force=True)


def test_a_node_that_is_missing_is_named_and_no_container_stays(client: Any) -> None:
    wanted = without_mounts(settings(client, "ascend910b", cards=(7,)))
    with pytest.raises(PaddockError) as raised:
        box.running(client, wanted, box.fitting(client, wanted))
    assert raised.value.code == "container-lacks"
    assert "/dev/davinci7" in raised.value.part("what")
    assert client.containers.list(all=True) == []


def test_a_volume_is_the_machines_and_one_that_is_missing_is_no_new_folder(
    client: Any, podman: str
) -> None:
    folder = Path(podman.removeprefix("unix://")).parent / "a b 家$x"
    folder.mkdir()
    given = (Volume(str(folder), "/models"), Volume(str(folder), "/again", read_only=True))
    heard, one = Heard(), inside(client, volumes=given)
    script = "echo seen > /models/file; cat /again/file; echo > /again/x"
    assert one.run(["sh", "-c", script], {}, heard, "test") != 0
    assert (heard.out, (folder / "file").read_text()) == (b"seen\n", "seen\n")
    assert b"Read-only" in heard.err
    box.remove([one.container])
    none = folder / "no such"
    with pytest.raises(PaddockError) as raised:
        inside(client, volumes=(Volume(str(none), "/models"),))
    assert (raised.value.code, none.exists()) == ("container-lacks", False)
    assert str(none) in raised.value.part("what")
