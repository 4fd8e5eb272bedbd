"""What all tests share: a home of their own, the command line, and one provisioned stack."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from provision.tools import uv  # noqa: E402

# As users have it: without it each of some hundred starts of the tool would compile all of it anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A machine that has other work to do is no fault of a test.
hypothesis.settings.register_profile("paddock", deadline=None)
hypothesis.settings.load_profile("paddock")

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


def package_cache() -> Path:
    """The package cache that all test homes share, so that each download happens once."""
    given = os.environ.get("UV_CACHE_DIR")
    return Path(given) if given else Path.home() / ".cache" / "uv"


def variables(home: Path) -> dict[str, str]:
    """The environment of a command whose cache, state and data are below `home`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PADDOCK_", "LOOPBACK_"))}
    return {
        **kept,
        "PADDOCK_HOME": str(home),
        "PADDOCK_CALLED": "paddock",
        "UV_CACHE_DIR": str(package_cache()),
        "LC_ALL": "C.UTF-8",
    }


def run_cli(
    home: Path, *arguments: str, timeout: float = 900, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run the tool as `paddock ARGUMENTS` does, with `more` environment variables."""
    return subprocess.run(
        [sys.executable, str(ROOT / "tasks.py"), *arguments], env=variables(home) | more,
        capture_output=True, text=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def pytest_configure() -> None:
    """As it is called by its name, so that what is printed does not depend on who tests it."""
    os.environ["PADDOCK_CALLED"] = "paddock"


def pytest_sessionstart(session: pytest.Session) -> None:
    """A whole run leaves gigabytes in the package cache that nothing refers to any more."""
    if os.environ.get("PADDOCK_TEST_ALL") and not hasattr(session.config, "workerinput"):
        subprocess.run([uv(), "cache", "prune", "--quiet"], env=variables(Path()), check=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs the whole stack is slow, whether it says so or not; such files come first."""
    for item in items:
        if {"stack", "stack_home"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of this test alone, in this process and for `cli`."""
    monkeypatch.setenv("PADDOCK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("UV_CACHE_DIR", str(package_cache()))
    monkeypatch.delenv("PADDOCK_LANG", raising=False)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return tmp_path / "home"


@pytest.fixture
def cli(home: Path) -> Cli:
    """Run the tool in this test's home."""
    return lambda *arguments, **more: run_cli(home, *arguments, **more)


@pytest.fixture
def here(home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The same in this process: for many starts of one kind, where one of its own is tried too."""
    import tasks

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = ["paddock", *arguments]
        with monkeypatch.context() as patch:
            for name, value in {"PADDOCK_LANG": "en", **more}.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", command)
            capfd.readouterr()
            try:
                tasks.main()
            except SystemExit as end:
                return subprocess.CompletedProcess(command, int(end.code or 0), *capfd.readouterr())
        return subprocess.CompletedProcess(command, 0, *capfd.readouterr())

    return run


def shared_home(name: str) -> Path:
    """A home that is kept between runs of the tests, since a second provision does nothing."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = base / "paddock-tests" / name
    home.mkdir(parents=True, exist_ok=True)
    return home


@pytest.fixture
def spare_home() -> Iterator[Path]:
    """A home in which tests provision, change and undo as they like, one after the other."""
    home = shared_home("spare")
    with FileLock(home / "tests.lock"):
        yield home


@pytest.fixture(scope="session")
def stack_home() -> Path:
    """The home of a provisioned and verified loopback stack, which no test may change."""
    home = shared_home("stack")
    with FileLock(home / "tests.lock"):
        result = run_cli(home, "provision", "--target", "loopback", "--yes")
    assert result.returncode == 0, result.stdout + result.stderr
    return home


@pytest.fixture(scope="session")
def stack(stack_home: Path) -> Path:
    """The environment of that stack."""
    return stack_home / "data" / "envs" / "loopback"
