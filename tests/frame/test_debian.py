"""A Python without pip and ensurepip: apt's package of pip is used, and left nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frame.conftest import Launcher
from tests.frame.test_bootstrap import refused

pytestmark = pytest.mark.slow  # each makes a whole environment


def asked(launcher: Launcher) -> list[str]:
    """What apt-get was told to do, without its options."""
    lines = (launcher.programs / "apt.log").read_text("utf-8").splitlines()
    return [line.split(" -o ")[-1].partition(" ")[2] for line in lines]


@pytest.mark.parametrize("mode", ["ready", "new"])
def test_pip_comes_from_apt_and_nothing_of_it_stays(stripped: Launcher, mode: str) -> None:
    (stripped.programs / "apt.mode").write_text(mode)
    env = Path(stripped.told()["prefix"])
    download = "download python3-pip-whl"
    assert asked(stripped) == ([download] if mode == "ready" else [download, "update", download])
    assert sorted(path.name for path in env.iterdir() if path.name[:3] == "tmp") == []
    assert not [path for path in stripped.tool.rglob("*") if path.suffix in (".deb", ".whl")]
    assert not [path for path in env.rglob("pip") if path.is_dir()]


def test_apt_is_not_asked_where_python_or_uv_will_do(quick: Launcher, stripped: Launcher) -> None:
    """`quick` is the same machine here, with uv on it."""
    quick.told()
    assert not (stripped.programs / "apt.log").exists()


def test_without_a_network_it_says_what_to_install(stripped: Launcher) -> None:
    (stripped.programs / "apt.mode").write_text("down")
    shown = refused(stripped, 4, "apt-get install python3-venv", "uv")
    assert "E: Unable to locate package python3-pip-whl" in shown
    (stripped.programs / "apt.mode").write_text("new")
    stripped.told()


def test_without_apt_it_says_what_to_install(stripped: Launcher) -> None:
    (stripped.programs / "apt-get").unlink()
    refused(stripped, 4, "apt-get: not found", "apt-get install python3-venv", "uv")
    done = stripped.run(LANG="zh_CN.UTF-8")
    assert (done.returncode, "ensurepip" in done.stderr, "请执行" in done.stderr) == (4, True, True)


def test_a_damaged_package_is_not_used(stripped: Launcher, tmp_path: Path) -> None:
    damaged = tmp_path / "python3-pip-whl_2_all.deb"
    damaged.write_bytes(b"!<arch>\n")
    stripped.add_script("apt-get", f'cp "{damaged}" .')
    refused(stripped, 4, "dpkg", "apt-get install python3-venv")
