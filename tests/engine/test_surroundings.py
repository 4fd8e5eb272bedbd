"""Odd machines: strange paths, no root, no compiler, no terminal, no reader, other languages."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from provision.errors import MACHINE, USAGE
from tests.conftest import ROOT
from tests.engine.world import STEPS, Result, World, is_root

TOOLS = ("sh", "rm", "mv", "mkdir", "sort", "sed", "comm", "cat", "ln", "xargs")
FAKE = {
    "dpkg": "exit 0",
    "dpkg-query": 'for p in base $(cat "$FAKE_HOST/added"); do echo "installed $p"; done',
    "apt-get": 'echo "$@" >> "$FAKE_HOST/asked"\n'
    'case "$*" in\n'
    '*install*) echo g++ > "$FAKE_HOST/added"; ln -sf /bin/true "$FAKE_HOST/bin/g++" ;;\n'
    '*purge*) : > "$FAKE_HOST/added"; rm "$FAKE_HOST/bin/g++" ;;\n'
    "esac",
}


@pytest.fixture
def bare(world: World) -> World:
    """A host without a compiler, whose package manager is a small script."""
    host = world.folder / "host"
    (host / "bin").mkdir(parents=True)
    (host / "added").touch()
    for name in TOOLS:
        (host / "bin" / name).symlink_to(str(shutil.which(name)))
    for name, text in FAKE.items():
        (host / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (host / "bin" / name).chmod(0o755)
    world.more |= {"PATH": str(host / "bin"), "FAKE_HOST": str(host), "CXX": ""}
    world.edit("[[steps]]\nname = \"env/python\"",
               "[[steps]]\nname = \"host/toolchain\"\nkind = \"toolchain\"\n\n"
               "[[steps]]\nname = \"env/python\"")  # fmt: skip
    world.edit('needs = ["env/alpha"]', 'needs = ["env/alpha", "host/toolchain"]')
    return world


ALL = ",".join(("host/toolchain", *STEPS))
root_only = pytest.mark.skipif(not is_root(), reason="a root's package manager is what is tested")


@pytest.mark.slow
@root_only
def test_a_change_of_the_host_needs_consent_and_can_be_undone(bare: World) -> None:
    asked = bare.folder / "host" / "asked"
    refused = bare.run(only=ALL)
    assert refused.returncode == USAGE
    assert "--yes" in refused.stderr
    assert "host/toolchain" in refused.stderr
    assert not asked.exists()
    assert not bare.env.exists()
    bare.good("--yes", only=ALL)
    assert "install g++" in asked.read_text()
    bare.good(only=ALL)  # nothing to do, so nothing to ask
    kept = bare.good("--undo", only="")  # nobody to ask: what was made goes, the packages stay
    assert "g++" in kept
    assert "purge" not in asked.read_text()
    assert not bare.env.exists()
    assert "nothing to undo" not in bare.good("--undo", "--yes", only="")
    assert "purge g++" in asked.read_text()


@root_only
@pytest.mark.slow
def test_a_compiler_that_came_by_other_means_will_do_after_a_failure(bare: World) -> None:
    programs = bare.folder / "host" / "bin"
    (programs / "apt-get").write_text("#!/bin/sh\necho Could not resolve host; exit 100\n")
    assert bare.run("--yes", only=ALL).returncode == 5
    assert bare.last()["host/toolchain"] == "failed"
    (programs / "g++").symlink_to("/bin/true")
    bare.good(only=ALL)
    (programs / "g++").unlink()
    (programs / "clang++").symlink_to("/bin/true")
    bare.good(only=ALL)


@root_only
@pytest.mark.skipif(not shutil.which("unshare"), reason="needs a user namespace")
def test_who_is_not_root_gets_the_command_to_type(bare: World) -> None:
    done = subprocess.run(
        [str(shutil.which("unshare")), "--user", *bare.command(only=ALL)], capture_output=True,
        env=bare.environment({}), text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == MACHINE, done.stderr
    assert "sudo apt-get install g++" in done.stderr.splitlines()[-1]
    assert not bare.env.exists()
    (bare.folder / "host" / "bin" / "apt-get").unlink()
    assert "clang++" in bare.run(only=ALL).stderr.splitlines()[-1]


def on_terminal(world: World, answer: str, **more: str) -> tuple[int, str]:
    """Run on a terminal and type one answer; returns the exit status and what was shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        world.command(only=ALL), env=world.environment({"TERM": "xterm", **more}), stdin=theirs,
        stdout=theirs, stderr=theirs, cwd=world.folder,
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, answer.encode())
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:
        pass  # the terminal is closed when the last process has ended
    os.close(ours)
    return process.wait(60), shown.decode()


@root_only
@pytest.mark.slow
def test_on_a_terminal_the_person_is_asked(bare: World) -> None:
    status, shown = on_terminal(bare, "n\n")
    assert (status, "[Y/n]" in shown) == (USAGE, True)
    assert not bare.env.exists()
    status, shown = on_terminal(bare, "是\n", PADDOCK_LANG="zh")
    assert status == 0, shown
    assert "lib/install" in shown
    assert bare.last() == dict.fromkeys(("host/toolchain", *STEPS), "done")


HOSTILE = "家 $(touch x) `touch y` 'q\" ; touch z & \\n *\n-rf"


@pytest.mark.slow
def test_hostile_names_of_the_home_and_of_the_checkout(world: World) -> None:
    checkout = world.folder / "检出 of 'it'"
    for name in ("provision", "checks", "templates", "images"):
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, checkout / name, ignore=left_out)
    shutil.copy2(ROOT / "tasks.py", checkout)
    world.tool = checkout
    world.home_name = HOSTILE
    shutil.move(world.stack.parent, world.folder / "源 $(x)")
    (world.folder / "stack").symlink_to(world.folder / "源 $(x)")
    world.good()
    before = {path.name for path in world.folder.iterdir()}
    assert not before & {"x", "y", "z"}
    python = world.env / "bin" / "python"
    shown = subprocess.run(
        [python, "-c", "import alpha, gamma; print(alpha.VERSION, gamma.ANSWER)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shown.stdout == "1.0 42\n"
    assert "nothing to do" in world.good()
    world.good("--undo")
    assert not world.env.exists()


@pytest.mark.slow
def test_the_current_folder_and_its_configuration_do_not_matter(world: World) -> None:
    elsewhere = world.folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "uv.toml").write_text("broken = [")
    (elsewhere / "pyproject.toml").write_text("broken = [")
    (elsewhere / "alpha.py").write_text("raise SystemExit('the wrong one')")
    done = subprocess.run(
        world.command(), env=world.environment({"PYTHONPATH": str(elsewhere)}), cwd=elsewhere,
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def redirected(world: World, redirection: str, **more: str) -> Result:
    """Run with a redirection of the shell; the exit status is the tool's own."""
    script = f'{{ "$@"; echo $? > {world.folder}/status; }} {redirection}'
    done = subprocess.run(
        ["bash", "-c", script, "x", *world.command()], env=world.environment(more),
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    done.returncode = int((world.folder / "status").read_text())
    return done


@pytest.mark.parametrize(
    "redirection",
    [">&-", *(pytest.param(r, marks=pytest.mark.slow)
              for r in ("2>&-", "<&- >&- 2>&-", "| true", "| head -1"))],
)  # fmt: skip
def test_without_a_reader_the_work_is_done_all_the_same(world: World, redirection: str) -> None:
    done = redirected(world, redirection)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert world.last() == dict.fromkeys(STEPS, "done")


@pytest.mark.slow
def test_output_that_no_disk_has_room_for_is_an_error(world: World) -> None:
    done = redirected(world, "> /dev/full")
    assert done.returncode == MACHINE
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "locale",
    [{"LC_ALL": "C"}, {"LC_ALL": "zh_CN.UTF-8", "PADDOCK_LANG": ""}, {"PYTHONIOENCODING": "ascii"},
     {"PYTHONIOENCODING": "gbk"}],
    ids=str,
)  # fmt: skip
def test_in_chinese_on_any_terminal(world: World, locale: dict[str, str]) -> None:
    world.more |= {"PADDOCK_LANG": "zh", **locale}
    done = subprocess.run(
        world.command(), env=world.environment({"SMALL_BUILD": "fail"}), capture_output=True,
        check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 7, done.stderr
    assert b"Traceback" not in done.stderr
    encoding = locale.get("PYTHONIOENCODING", "utf-8")
    if encoding != "ascii":
        assert "失败" in done.stdout.decode(encoding)
        assert "原因" in done.stderr.decode(encoding)
    document = subprocess.run(
        world.command("--json"), env=world.environment({"SMALL_BUILD": "fail"}),
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert "失败" in json.loads(document.stdout.decode(encoding))["what"]


def test_the_tool_itself_is_of_this_checkout(world: World) -> None:
    """Guard of these tests: they would prove nothing about an installed copy."""
    assert world.command()[1] == str(ROOT / "tasks.py")
    assert Path(sys.executable).with_name("uv").exists()
