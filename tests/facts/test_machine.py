"""The machine's files, as written by kernels and distributions, and damaged."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from provision.facts import machine

MEMORY = "MemTotal:       16384 kB\nMemFree:  12 kB\nMemAvailable:    8192 kB\nHugePages_Total: 0\n"


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def test_os_release_in_every_quoting() -> None:
    text = "# a comment\nID=demo\nPRETTY_NAME=\"Demo Linux 7 (O'Hara)\"\nNAME='Demo'\n\nBAD\n"
    text += 'X="open\n'
    fields = machine.os_release(text)
    assert fields == {"ID": "demo", "PRETTY_NAME": "Demo Linux 7 (O'Hara)", "NAME": "Demo",
                      "X": "open"}  # fmt: skip


@given(st.text())
def test_any_text_is_an_answer_or_nothing(text: str) -> None:
    assert isinstance(machine.os_release(text), dict)
    assert all(amount >= 0 for amount in machine.meminfo(text).values())


def test_memory_in_bytes() -> None:
    assert machine.meminfo(MEMORY) == {"MemTotal": 16384 * 1024, "MemFree": 12 * 1024,
                                       "MemAvailable": 8192 * 1024}  # fmt: skip


def test_the_lowest_limit_on_the_way_up_counts_v2(tmp_path: Path) -> None:
    write(tmp_path, "proc/self/cgroup", "0::/box/inner\n")
    write(tmp_path, "sys/fs/cgroup/box/inner/memory.max", "max\n")
    write(tmp_path, "sys/fs/cgroup/box/memory.max", "2097152\n")
    assert machine.memory_limit(tmp_path) == 2097152


def test_the_limit_of_v1(tmp_path: Path) -> None:
    write(tmp_path, "proc/self/cgroup", "5:cpu:/a\n4:memory:/a\n0::/\n")
    write(tmp_path, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    assert machine.memory_limit(tmp_path) is None
    write(tmp_path, "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4194304\n")
    assert machine.memory_limit(tmp_path) == 4194304


def test_the_marks_of_containers(tmp_path: Path) -> None:
    assert machine.container(tmp_path) is None
    write(tmp_path, "proc/1/cgroup", "0::/kubepods/pod7\n")
    assert machine.container(tmp_path) == "kubepods"
    write(tmp_path, "proc/1/environ", "HOME=/\0container=lxc\0")
    assert machine.container(tmp_path) == "lxc"
    write(tmp_path, "run/.containerenv", "")
    assert machine.container(tmp_path) == "podman"


def test_an_empty_root_gives_unknown_values_not_errors(tmp_path: Path) -> None:
    found = machine.collect(tmp_path)
    assert (found.memory, found.memory_limit, found.name) == (None, None, "")
    assert found.cpus and found.cpus >= 1
