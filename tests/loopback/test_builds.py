"""The two wheels build cleanly for every release of Paddle, and refuse the wrong one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.loopback.builds import RELEASES, SOURCES, Environment, build, library, make
from tests.loopback.conftest import run_probe

pytestmark = pytest.mark.slow

PACKAGES = ("plugin", "ops")
Ready = Callable[[str], Environment]


@pytest.fixture(scope="session")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Ready:
    """For a release: an environment with both wheels, built with warnings as errors."""
    made: dict[str, Environment] = {}

    def get(release: str) -> Environment:
        if release not in made:
            base = tmp_path_factory.mktemp("builds")
            environment = make(base / "environment", release)
            for package in PACKAGES:
                wheel, output = build(
                    environment, SOURCES / package, base / package,
                    "cmake.define.LOOPBACK_WERROR=ON",
                )  # fmt: skip
                assert "warning:" not in output
                assert "[1/" in output, "ninja's progress is not visible"
                environment.install(wheel)
            made[release] = environment
        return made[release]

    return get


@pytest.mark.parametrize("release", RELEASES)
def test_builds_without_warnings_and_computes(ready: Ready, release: str) -> None:
    environment = ready(release)
    product = run_probe(environment.folder, "device.py", "product").report
    assert product == {"place": "Place(loopback:0)", "right": True, "release": release}
    kernels = run_probe(environment.folder, "kernels.py").report
    assert kernels["wrong"] == []
    errors = run_probe(environment.folder, "ops_checks.py", "differences").report
    assert max(errors.values()) < 1e-7


@pytest.mark.parametrize(("built", "running"), [("3.3.1", "3.0.0"), ("3.0.0", "3.3.1")])
def test_the_wrong_release_is_declined(ready: Ready, built: str, running: str) -> None:
    plugins = str(ready(built).plugins)
    outcome = run_probe(
        ready(running).folder, "device.py", "types", limit=60, CUSTOM_DEVICE_ROOT=plugins
    )
    assert outcome.report == {"types": []}
    assert f"loopback: declined: built for paddlepaddle {built}" in outcome.stderr


def test_the_operators_of_another_release_are_refused(ready: Ready, tmp_path: Path) -> None:
    package = ready("3.3.1").paddle.parent / "paddle_loopback_ops"
    shutil.copytree(package, tmp_path / "paddle_loopback_ops")
    outcome = run_probe(
        ready("3.0.0").folder, "ops_checks.py", "refusals", PYTHONPATH=str(tmp_path)
    )
    assert outcome.status == 1
    assert "built for paddlepaddle 3.3.1, but 3.0.0 is running" in outcome.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_the_same_bytes_come_from_any_folder(ready: Ready, tmp_path: Path, package: str) -> None:
    environment = ready("3.3.1")
    source = tmp_path / "源 码 dir" / package
    shutil.copytree(SOURCES / package, source, ignore=shutil.ignore_patterns("__pycache__"))
    before = sorted(source.rglob("*"))
    wheels = [
        build(environment, folder, tmp_path / f"构 建 {number}")[0]
        for number, folder in enumerate((SOURCES / package, source))
    ]
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    assert wheels[0].name.endswith("-3.3.1-py3-none-linux_x86_64.whl")
    assert sorted(source.rglob("*")) == before, "the build wrote into its source"
    for path in (str(environment.paddle), str(tmp_path), str(SOURCES)):
        assert path.encode() not in library(wheels[0])


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("PADDLE_DIR", "", "PADDLE_DIR"),
        ("PADDLE_DIR", "/nowhere", "is no installed paddle package"),
        ("PADDLE_VERSION", "", "PADDLE_VERSION"),
    ],
)
def test_a_missing_input_is_named(
    ready: Ready, tmp_path: Path, variable: str, value: str, message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        build(ready("3.3.1"), SOURCES / "plugin", tmp_path, **{variable: value})
