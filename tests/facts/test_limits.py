"""Limits as kernels write them: none, unread, and the lowest on the way up."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provision.facts import limits
from provision.facts.limits import UNLIMITED, HugePages, Limit

ULIMITS = """\
Limit                     Soft Limit           Hard Limit           Units     
Max processes             7001                 unlimited            processes 
Max open files            1024                 524288               files     
Max locked memory         65536                unlimited            bytes     
"""  # noqa: W291 - as the kernel pads it


def put(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def test_none_is_told_apart_from_unread(tmp_path: Path) -> None:
    assert limits.collect(tmp_path).locked_memory == Limit(None, None)
    put(tmp_path, "proc/self/limits", ULIMITS)
    found = limits.collect(tmp_path)
    assert found.open_files == Limit(1024, 524288)
    assert found.locked_memory == Limit(65536, UNLIMITED)
    assert found.processes == Limit(7001, UNLIMITED)


@pytest.mark.parametrize("line", ["Max open files", "Max open files  x  7", "Max open files 1024"])
def test_a_damaged_line_tells_nothing(line: str) -> None:
    assert limits.ulimit(line, "open files") == Limit(None, None)


@given(st.text() | st.from_regex(r"[0-9u]+ +[0-9]+ *", fullmatch=True))
def test_any_text_is_an_answer_or_nothing(text: str) -> None:
    found = limits.ulimit(f"Max open files  {text}", "open files")
    assert (found.soft is None) is (found.hard is None)
    assert all(value is None or value >= UNLIMITED for value in (found.soft, found.hard))


def test_huge_pages_of_all_sizes(tmp_path: Path) -> None:
    base = "sys/kernel/mm/hugepages/hugepages-"
    put(tmp_path, base + "1048576kB/nr_hugepages", "2\n")
    put(tmp_path, base + "2048kB/nr_hugepages", "512\n")
    put(tmp_path, base + "2048kB/free_hugepages", "500\n")
    put(tmp_path, "sys/kernel/mm/hugepages/other/nr_hugepages", "9\n")
    small, large = limits.collect(tmp_path).hugepages or []
    assert small == HugePages(2 << 20, 512, 500)
    assert large == HugePages(1 << 30, 2, None)


def test_huge_pages_of_the_default_size_without_sysfs(tmp_path: Path) -> None:
    assert limits.collect(tmp_path).hugepages is None
    text = "MemTotal:  16384 kB\nHugePages_Total:      64\nHugePages_Free:        3\n"
    put(tmp_path, "proc/meminfo", text)
    assert limits.collect(tmp_path).hugepages is None
    put(tmp_path, "proc/meminfo", text + "Hugepagesize:       2048 kB\n")
    assert limits.collect(tmp_path).hugepages == [HugePages(2 << 20, 64, 3)]


def test_the_lowest_quota_on_the_way_up_counts_v2(tmp_path: Path) -> None:
    put(tmp_path, "proc/self/cgroup", "0::/box/inner\n")
    put(tmp_path, "sys/fs/cgroup/box/inner/cpu.max", "max 100000\n")
    assert limits.collect(tmp_path).cpu_quota is None
    put(tmp_path, "sys/fs/cgroup/box/cpu.max", "150000 100000\n")
    put(tmp_path, "sys/fs/cgroup/cpu.max", "400000 100000\n")
    assert limits.collect(tmp_path).cpu_quota == 1.5


@pytest.mark.parametrize("folder", ["cpu", "cpu,cpuacct"])
def test_the_quota_of_v1(tmp_path: Path, folder: str) -> None:
    put(tmp_path, "proc/self/cgroup", "4:cpu,cpuacct:/docker/a\n3:cpuset:/b\n0::/\n")
    base = f"sys/fs/cgroup/{folder}/"
    put(tmp_path, base + "cpu.cfs_quota_us", "-1\n")
    put(tmp_path, base + "cpu.cfs_period_us", "100000\n")
    assert limits.collect(tmp_path).cpu_quota is None
    put(tmp_path, base + "cpu.cfs_quota_us", "50000\n")
    assert limits.collect(tmp_path).cpu_quota == 0.5


def test_a_group_outside_of_what_is_seen_leaves_the_folder_alone(tmp_path: Path) -> None:
    put(tmp_path, "proc/self/cgroup", "0::/../../other\n")
    put(tmp_path, "sys/fs/cgroup/cgroup.procs", "")
    put(tmp_path, "sys/other/cpu.max", "100000 100000\n")
    assert limits.collect(tmp_path).cpu_quota is None


@pytest.mark.parametrize("text", ["0 0", "100000", "", "max", "5 0", "-1 100000", "x 1", "1 2 3"])
def test_a_damaged_quota_is_none(tmp_path: Path, text: str) -> None:
    put(tmp_path, "proc/self/cgroup", "0::/\n")
    put(tmp_path, "sys/fs/cgroup/cpu.max", text)
    assert limits.collect(tmp_path).cpu_quota is None


def test_shared_memory_and_numa(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = limits.collect(tmp_path)
    assert (empty.shm_size, empty.shm_free, empty.numa_balancing) == (None, None, None)
    (tmp_path / "dev/shm").mkdir(parents=True)
    put(tmp_path, "proc/sys/kernel/numa_balancing", "0\n")
    room = SimpleNamespace(f_blocks=100, f_bavail=7, f_bfree=9, f_frsize=4096, f_bsize=1)
    monkeypatch.setattr(os, "statvfs", lambda _: room)
    found = limits.collect(tmp_path)
    assert (found.shm_size, found.shm_free) == (409600, 28672)
    assert found.numa_balancing == 0
    room.f_blocks = 0  # a file system that tells no size
    assert limits.collect(tmp_path).shm_size is None


def test_this_machine() -> None:
    found = limits.collect()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert found.open_files == Limit(soft, hard)
    assert found.shm_free is None or 0 <= found.shm_free <= (found.shm_size or 0)
