"""Making the environment: every way in which it can go wrong, and that it heals itself."""

from __future__ import annotations

import ast
import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from provision.paths import ROOT
from tests.frame.conftest import BASE, Launcher
from tests.frame.index import served
from tests.lab.needs import needs, succeeds

pytestmark = pytest.mark.slow  # each makes a whole environment


def environments(launcher: Launcher) -> list[Path]:
    """The folders of environments, complete or not, without the links that name them."""
    found = launcher.tool.glob("[0-9]*")
    return [path for path in found if path.is_dir() and not path.is_symlink()]


def refused(
    launcher: Launcher, status: int, *words: str, flags: Sequence[str] = (), **more: str
) -> str:
    """A start that must fail with this status, these words, and nothing left behind."""
    done = launcher.run(*flags, **more)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    for word in ("x ", "\n  cause   ", "\n  do      ", *words):
        assert word in done.stderr
    assert environments(launcher) == []
    return done.stderr


def test_no_network(launcher: Launcher) -> None:
    refused(launcher, 5, "PADDOCK_INDEX_URL", PADDOCK_INDEX_URL="http://localhost:1/simple",
            PIP_RETRIES="1", UV_HTTP_RETRIES="0")  # fmt: skip
    launcher.told()


def test_credentials_of_an_index_are_not_shown(launcher: Launcher) -> None:
    url = "http://someone:hunter2@localhost:1/simple"
    shown = refused(launcher, 5, PADDOCK_INDEX_URL=url, PIP_RETRIES="1", UV_HTTP_RETRIES="0")
    assert "hunter2" not in shown


def test_a_package_with_another_hash_is_refused(launcher: Launcher) -> None:
    lock = launcher.root / "requirements.lock"
    good = lock.read_text()
    digest = good.partition("sha256:")[2][:64]
    lock.write_text(good.replace(digest, "0" * 64))
    refused(launcher, 6, "tiny==1.0", "0" * 64)
    lock.write_text(good)
    launcher.told()


def test_a_package_without_a_hash_is_refused(launcher: Launcher) -> None:
    lock = launcher.root / "requirements.lock"
    lock.write_text("tiny==1.0\n")
    refused(launcher, 7, "hash")


def test_what_a_failed_installer_said_is_in_the_log(launcher: Launcher) -> None:
    (launcher.root / "requirements.lock").write_text("tiny==1.0\n")
    shown = refused(launcher, 7)
    (log,) = launcher.tool.glob("*.log")
    assert str(log) in shown
    assert "hash" in log.read_text("utf-8")


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the certificate of a private authority, and one for localhost with its key."""
    needs(shutil.which("openssl") is not None, "openssl, to make a certificate authority")
    folder = tmp_path_factory.mktemp("tls")

    def sign(*arguments: str) -> None:
        kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        argv = ["openssl", "req", "-x509", *kind, *arguments]
        subprocess.run(argv, cwd=folder, check=True, capture_output=True)

    sign("-subj", "/CN=private authority", "-keyout", "ca.key", "-out", "ca.pem")
    sign("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-addext",
         "basicConstraints=critical,CA:FALSE", "-CA", "ca.pem", "-CAkey", "ca.key",
         "-keyout", "own.key", "-out", "own.pem")  # fmt: skip
    own = [(folder / name).read_text() for name in ("own.key", "own.pem")]
    (folder / "server.pem").write_text("".join(own))
    return folder


def test_a_private_certificate_authority(
    launcher: Launcher, wheels: list[Path], authority: Path
) -> None:
    with served(wheels, authority / "server.pem") as index:
        launcher.variables["PADDOCK_INDEX_URL"] = index.url
        refused(launcher, 5, "SSL_CERT_FILE", PIP_RETRIES="1", UV_HTTP_RETRIES="0")
        launcher.told(SSL_CERT_FILE=str(authority / "ca.pem"))


@pytest.mark.parametrize("variable", ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "file"])
def test_the_index_is_the_one_that_the_user_has_configured(
    launcher: Launcher, variable: str
) -> None:
    del launcher.index.asked[:]
    more = {variable: launcher.index.url}
    if variable == "file":
        own = launcher.home / ".config" / "pip" / "pip.conf"
        own.parent.mkdir(parents=True)
        own.write_text(f"[global]\nindex-url = {launcher.index.url}\n")
        more = {}
    launcher.told(PADDOCK_INDEX_URL="", **more)
    assert any("tiny" in path for path in launcher.index.asked)


def test_flags_of_the_first_command_count_before_variables(
    launcher: Launcher, wheels: list[Path], authority: Path
) -> None:
    wrong = {"PADDOCK_INDEX_URL": "http://localhost:1/simple", "SSL_CERT_FILE": "/nowhere"}
    shutil.copy(authority / "ca.pem", launcher.home)
    with served(wheels, authority / "server.pem") as index:
        launcher.told("provision", "--index-url", index.url, "--ca-bundle=~/ca.pem", **wrong)
    assert any("tiny" in path for path in index.asked)


def test_offline_the_first_start_asks_nobody(launcher: Launcher) -> None:
    has_pip = not (launcher.programs / "apt-get").exists()
    status, word = (5, "not in the cache") if has_pip else (4, "python3-venv")
    refused(launcher, status, word, flags=["provision", "--offline"])
    assert launcher.index.asked == []


def test_wrong_flags_of_the_first_command_are_refused(quick: Launcher) -> None:
    for flag, value in (("--index-url", "here"), ("--ca-bundle", "/nowhere/ca.pem")):
        refused(quick, 2, flag, f"`{value}`", flags=["provision", flag, value])
    assert quick.told("provision", "--index-url")["argv"][-1] == "--index-url"  # the task's to say


def test_variables_that_would_install_elsewhere_do_not(launcher: Launcher, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    launcher.told(PIP_TARGET=str(target), UV_SYSTEM_PYTHON="1", PIP_USER="1", VIRTUAL_ENV="/x")
    assert not target.exists()


def test_paddock_home_moves_the_package_caches_too(launcher: Launcher) -> None:
    launcher.told(PADDOCK_HOME="~/all of it")
    assert not (launcher.home / ".cache").exists()


def test_a_file_in_the_way(quick: Launcher) -> None:
    (quick.home / ".cache").write_text("")
    refused(quick, 4, "PADDOCK_HOME")
    assert "处理" in quick.run(LC_ALL="zh_CN.UTF-8").stderr


def mounted(launcher: Launcher, options: str) -> subprocess.CompletedProcess[str]:
    """A start whose cache folder is a file system of its own, seen by nobody else."""
    cache = launcher.home / ".cache"
    cache.mkdir()
    own = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    needs(succeeds(*own, "true"), "the right to mount a file system of its own")
    script = f'mount -t tmpfs -o {options} none "$1" && shift && exec env -i "$@"'
    variables = [f"{name}={value}" for name, value in launcher.environment().items()]
    argv = [*own, "sh", "-c", script, "sh", str(cache), *variables, str(launcher.root / "paddock")]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)


def test_a_read_only_disk(quick: Launcher) -> None:
    done = mounted(quick, "ro")
    assert done.returncode == 4
    assert "Read-only file system" in done.stderr
    assert "cannot be written" in done.stderr


def test_a_full_disk(launcher: Launcher) -> None:
    done = mounted(launcher, "size=64k")
    assert done.returncode == 4
    assert "There is no space left" in done.stderr


def test_a_disk_without_room_for_a_folder(bare: Launcher) -> None:
    done = mounted(bare, "nr_inodes=2")
    assert done.returncode == 4
    assert "There is no space left" in done.stderr


def test_an_environment_whose_python_is_gone_is_made_anew(quick: Launcher) -> None:
    old = Path(quick.told()["prefix"]).resolve()
    (old / "bin" / "python").unlink()
    (old / "bin" / "python").symlink_to("/nowhere/python3.10")
    done = quick.run()
    assert done.returncode == 0
    assert "making" in done.stderr
    assert environments(quick) != [old]
    assert len(environments(quick)) == 1


def test_an_upgrade_of_python_cannot_redirect_the_environment(bare: Launcher) -> None:
    """The link names the very interpreter, not `python3`, which may become another version."""
    links = Path(bare.told()["prefix"], "bin").glob("python*")
    assert {link.readlink() for link in links if link.readlink().is_absolute()} == {BASE}


def test_many_first_starts_at_once(quick: Launcher) -> None:
    quick.index.delay = 0.2
    processes = [quick.start(str(number)) for number in range(5)]
    results = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0] * 5, results
    assert sum("(once)" in err for _, err in results) == 1
    assert sum("waiting for it" in err for _, err in results) >= 1
    assert len(environments(quick)) == 1


@pytest.mark.slow
def test_killed_at_any_moment_the_next_start_works(launcher: Launcher) -> None:
    launcher.index.delay = 0.3
    chance = random.Random(7)  # noqa: S311 - the same moments each time
    for _ in range(8):
        with launcher.start() as process:
            time.sleep(chance.uniform(0.02, 1.0))
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=5)
    launcher.told()
    assert len(environments(launcher)) == 1


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_stopped_it_leaves_nothing(quick: Launcher, sign: signal.Signals) -> None:
    quick.index.delay = 3
    with quick.start() as process:
        while not quick.index.asked:
            time.sleep(0.01)
        process.send_signal(sign)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert environments(quick) == []


def old_pythons() -> Iterator[Path]:
    """Pythons of this machine that are too old, where there are some."""
    for version in ("3.6", "3.7", "3.8", "3.9"):
        places = [*Path.home().glob(f".pyenv/versions/{version}.*/bin/python3")]
        places += [Path(found)] if (found := shutil.which(f"python{version}")) else []
        yield from (place for place in places[:1] if "shims" not in place.parts)


def pretend_old(launcher: Launcher) -> None:
    """Make `python3` one that believes to be 3.9: the same code runs, the version is another."""
    site = launcher.home / "old"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import sys\nsys.version_info = (3, 9, 2, 'final', 0)\n", "utf-8"
    )
    launcher.add_script("python3", f'PYTHONPATH="{site}" exec "{BASE}" "$@"')


def test_a_python_that_is_too_old_is_refused(quick: Launcher) -> None:
    pretend_old(quick)
    refused(quick, 4, "Python 3.9.2 is too old", "apt-get install python3", "PADDOCK_PYTHON")
    done = quick.run(LANG="zh_CN.UTF-8")
    assert (done.returncode, "过旧" in done.stderr) == (4, True)


def test_real_old_pythons_are_refused(quick: Launcher) -> None:
    """Where the machine has some; the test above and the one below hold everywhere."""
    for python in old_pythons():
        quick.add_program("python3", python)
        refused(quick, 4, "is too old", "apt-get install python3")


def test_the_refusal_parses_on_old_pythons() -> None:
    source = (ROOT / "provision" / "bootstrap.py").read_text("utf-8")
    ast.parse(source, feature_version=(3, 7))


def test_a_newer_python_beside_the_old_one_is_taken(quick: Launcher) -> None:
    pretend_old(quick)
    quick.add_program("python3.12", BASE)
    quick.told()


def test_the_python_that_was_asked_for_is_taken_or_refused(quick: Launcher) -> None:
    quick.told(PADDOCK_PYTHON=str(BASE))
    done = quick.run(PADDOCK_PYTHON="/nowhere/python9")
    assert done.returncode == 4
    assert "/nowhere/python9 is missing" in done.stderr


def test_no_python_at_all(quick: Launcher) -> None:
    (quick.programs / "python3").unlink()
    done = quick.run()
    assert done.returncode == 4
    assert "python3 is missing" in done.stderr
    assert "apt-get install python3" in done.stderr
