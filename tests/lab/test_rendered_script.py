"""The rendered script on bare machines of the vendors: the host's part, over a reboot."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from provision import stack
from provision.forms.commands import packages
from provision.forms.script import script
from provision.forms.wanted import Wanted
from provision.paths import IMAGES
from tests.lab.test_ascend_install import ends, parts
from tests.lab.vendor import ascend, enflame
from tests.lab.vendor.bare import DEPS, Bare, bare

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
# Which installers run, and of the host's steps those before and after the one that wants a reboot.
ORDER = {
    "ascend910b": ["driver", "firmware", "toolkit", "kernels", "nnal"],
    "s60": ["driver", "tops"],
}
DONE_FIRST = {
    "ascend910b": ["host/account", "host/driver", "host/firmware"],
    "s60": ["host/driver"],
}
DONE_LATER = {"ascend910b": ["host/toolkit", "host/kernels", "host/nnal"], "s60": ["host/tops"]}
WRITE: dict[str, Callable[[Path], object]] = {"ascend910b": ascend.write, "s60": enflame.rider}


@pytest.fixture(params=ORDER)
def target(request: pytest.FixtureRequest) -> str:
    """A vendor's target."""
    return str(request.param)


@pytest.fixture
def wanted(target: str) -> Wanted:
    """Its default release."""
    loaded = stack.load(IMAGES / target / "stack.toml")
    return Wanted(loaded, IMAGES / target, loaded.default_release)


@pytest.fixture
def box(target: str, wanted: Wanted) -> Iterator[Bare]:
    """A bare machine with the vendor's packages, the script, and no uv."""
    with bare(target, IMAGES.parent) as machine:
        WRITE[target](machine.deps)
        for step in wanted.stack.steps:
            for name, *_ in packages(step, wanted):
                if name.endswith(".whl"):
                    (machine.deps / name).write_text("PK: not looked into on a host")
        (machine.deps / "script.sh").write_text(script(wanted))
        yield machine


def run(box: Bare) -> subprocess.CompletedProcess[str]:
    """Run the script as a person would."""
    return box.run(f"DEPS={DEPS} sh {DEPS}/script.sh", 300)


def marked(done: subprocess.CompletedProcess[str], sign: str) -> list[str]:
    """The host's steps that a run marks with this sign."""
    start = f"paddock: {sign} "
    names = [line.removeprefix(start) for line in done.stdout.splitlines() if start in line]
    return [name for name in names if name.startswith("host/")]


def test_the_host_is_set_up_over_a_reboot(box: Bare, target: str) -> None:
    """The plugin's wheel is none, so that the script ends with its installation."""
    box.run("touch /var/lib/lab/needs-reboot")
    first = run(box)
    ends(first, 1, "start the machine anew")
    assert marked(first, "+") == [*DONE_FIRST[target], "host/loaded"]
    box.reboot()
    second = run(box)
    held, made = marked(second, "="), marked(second, "+")
    assert ("host/loaded" in held) != ("host/loaded" in made)  # by the machine's start, or now
    assert [name for name in held if name != "host/loaded"] == [
        "host/toolchain",
        *DONE_FIRST[target],
    ]
    assert [name for name in made if name != "host/loaded"] == DONE_LATER[target]
    assert second.returncode != 0
    assert second.stdout.splitlines()[-1] == "paddock: + plugin/install"
    third = run(box)
    assert marked(third, "+") == []
    assert parts(box) == ORDER[target]


@pytest.mark.parametrize("target", ["ascend910b"])  # the same for both
def test_it_replaces_no_driver_that_is_there(box: Bare, target: str, wanted: Wanted) -> None:
    pinned = wanted.stack.releases[wanted.release].pins["driver"]
    assert run(box).returncode != 0
    before = parts(box)
    text = (box.deps / "script.sh").read_text()
    other = text.replace(f'"$version" = {pinned}', '"$version" = 99.9')
    (box.deps / "script.sh").write_text(other.replace(f'wanted "{pinned}', 'wanted "99.9'))
    ends(run(box), 1, f"installed is {pinned}, wanted 99.9")
    assert parts(box) == before


@pytest.mark.parametrize("target", ["s60"])  # the same for both
def test_an_installer_that_fails_or_changes_nothing_is_no_success(box: Bare, target: str) -> None:
    box.fault("driver", "fail")
    failed = run(box)
    assert failed.returncode != 0
    assert marked(failed, "+")[-1] == "host/driver"
    box.fault("driver", "")
    assert marked(run(box), "+")[:1] == ["host/driver"]
