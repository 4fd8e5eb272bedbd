"""Real plugins and real broken files, loaded into a real Paddle."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from provision.facts import plugin
from provision.facts.loading import Verdict, load
from provision.site import Site

HEAD = 'extern "C" __attribute__((visibility("default"))) void InitPlugin(void*) '
SOURCES = {
    "skipped": HEAD + "{}",
    "symbol": 'extern "C" void PD_RegisterPhiKernel(const char*);' + HEAD
    + '{ PD_RegisterPhiKernel("x"); }',
    "crashes": "#include <csignal>\n" + HEAD + "{ raise(SIGSEGV); }",
    "hangs": "#include <unistd.h>\n" + HEAD + "{ for (;;) sleep(1); }",
    "no plugin": 'extern "C" int nothing() { return 0; }',
}  # fmt: skip

pytestmark = pytest.mark.slow


@pytest.fixture
def site(stack: Path, home: Path) -> Site:
    """A site whose environment is the provisioned one, with a state of its own."""
    (home / "data/envs").mkdir(parents=True)
    (home / "data/envs/loopback").symlink_to(stack)
    return Site("loopback")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own plugin folder in force."""
    folder = tmp_path / "root"
    folder.mkdir()
    monkeypatch.setenv("CUSTOM_DEVICE_ROOT", str(folder))
    return folder


def build(root: Path, text: str, *more: str) -> Path:
    source, library = root.parent / "plugin.cc", root / "libplugin.so"
    source.write_text(text)
    command = ["g++", "-shared", "-fPIC", str(source), "-o", str(library), *more]
    subprocess.run(command, check=True, timeout=120)
    return library


def verdict(site: Site) -> plugin.Plugin:
    made = plugin.collect(site, "loopback")
    assert made is not None
    return made


def test_the_installed_plugin_loads_and_is_remembered(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUSTOM_DEVICE_ROOT", raising=False)
    first = verdict(site)
    assert (first.verdict, first.types, first.proved) == ("loads", ["loopback"], None)
    monkeypatch.setattr(plugin, "load", lambda *_: pytest.fail("loaded again"))
    assert verdict(site).proved is not None
    monkeypatch.setenv("LOOPBACK_DEVICES", "2")
    with pytest.raises(pytest.fail.Exception):
        verdict(site)


def test_another_environment_leaves_no_proof(
    site: Site, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUSTOM_DEVICE_ROOT", raising=False)
    assert site.site_packages is not None
    before = sorted(home.rglob("*"))
    made = plugin.examine(plugin.Place(site.python, site.site_packages), "loopback")
    assert (made.verdict, made.types, made.proved) == ("loads", ["loopback"], None)
    assert sorted(home.rglob("*")) == before


@pytest.mark.parametrize(
    ("source", "expected"),
    [("skipped", "skipped"), ("symbol", "symbol"), ("crashes", "crashes"),
     ("no plugin", "skipped")],
)  # fmt: skip
def test_plugins_that_do_not_fit(site: Site, root: Path, source: str, expected: Verdict) -> None:
    build(root, SOURCES[source])
    made = verdict(site)
    assert made.verdict == expected
    assert bool(made.hints) == (expected == "symbol")
    assert not (site.state / "plugin.json").exists()


def test_a_plugin_that_hangs(site: Site, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(root, SOURCES["hangs"])
    monkeypatch.setattr(plugin, "load", lambda python, device: load(python, device, limit=8.0))
    assert verdict(site).verdict == "hangs"


def truncated(root: Path) -> None:
    library = build(root, SOURCES["skipped"])
    library.write_bytes(library.read_bytes()[:9000])


def text(root: Path) -> None:
    (root / "libplugin.so").write_text("not a library")


def without_its_library(root: Path) -> None:
    needed = root.parent / "libgone.so"
    subprocess.run(["g++", "-shared", "-x", "c++", "/dev/null", "-o", str(needed)], check=True)
    build(root, SOURCES["skipped"], "-Wl,--no-as-needed", str(needed))
    needed.unlink()


@pytest.mark.parametrize("damage", [truncated, text, without_its_library])
def test_broken_files(site: Site, root: Path, damage: Callable[[Path], None]) -> None:
    damage(root)
    made = verdict(site)
    assert made.verdict == "broken" and "lib" in made.line


def test_no_plugin_at_all(site: Site, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdict(site).verdict == "absent"
    monkeypatch.setenv("CUSTOM_DEVICE_ROOT", "")
    assert verdict(site).verdict == "absent"


def test_a_broken_paddle_is_not_blamed_on_the_plugin(
    stack: Path, home: Path, tmp_path: Path, root: Path
) -> None:
    build(root, SOURCES["skipped"])
    env = home / "data/envs/loopback"
    (env / "bin").mkdir(parents=True)
    packages = env / f"lib/{next((stack / 'lib').glob('python3.*')).name}/site-packages"
    (packages / "paddle").mkdir(parents=True)
    (packages / "paddle/__init__.py").write_text("raise ImportError('half an installation')")
    shutil.copy(stack / "pyvenv.cfg", env)
    (env / "bin/python").symlink_to((stack / "bin/python").resolve())
    made = verdict(Site("loopback"))
    assert (made.verdict, "half an installation" in made.line) == ("paddle", True)
