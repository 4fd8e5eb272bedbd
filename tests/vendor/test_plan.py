"""What the plan makes of a vendor machine: what waits, what is asked, and in which order."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from checks import chain
from provision import order
from provision.engine import Options
from provision.errors import PaddockError
from provision.facts import pci, pci_text
from provision.forms.commands import commands, holds
from provision.forms.script import script
from provision.forms.wanted import Wanted
from provision.journal import Journal
from provision.plan import Planned, Wish, host_changes, plan
from provision.show import summary
from provision.steps import KINDS, loaded, system, vendor
from provision.steps.base import Context, NotSo
from provision.vendor import boot, kept
from provision.vendor.rows import Package
from provision.vendor.shown import Shown, shown
from tests.vendor.conftest import Make

CARD = pci.described(pci.catalogue(), "0000:01:00.0", "19e5", "d802", None)


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with a 910B, whose user is root, on a system that the vendor lists."""
    monkeypatch.setattr(pci_text, "collect", lambda: [CARD])
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(system, "_told", lambda: {"ID": "ubuntu", "VERSION": "22.04 LTS"})


def has(monkeypatch: pytest.MonkeyPatch, **states: Shown) -> None:
    """Let the machine show these packages, by their pins."""

    def told(package: Package, context: Context) -> Shown:
        return states.get(package.pin, Shown("absent"))

    monkeypatch.setattr(vendor, "shown", told)
    monkeypatch.setattr(order, "shown", told)


def planned(context: Context) -> dict[str, Planned]:
    return {one.name: one for one in plan(context)}


def test_what_is_missing_keeps_what_needs_it_waiting(make: Make) -> None:
    steps = planned(make())
    driver, firmware = steps["host/driver"], steps["host/firmware"]
    assert (driver.state, driver.lack and driver.lack.later) == ("blocked", True)
    assert driver.lack and "hiascend.com" in driver.lack.details[0]
    assert firmware.lack and "firmware_7.1.0.5.220" in firmware.lack.details[0]
    waiting = steps["host/loaded"]
    assert waiting.lack and not waiting.lack.details and "host/driver" in waiting.reason
    assert steps["framework/paddle"].state == "pending"


def test_without_the_card_nothing_later_counts(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pci_text, "collect", list)
    lack = planned(make())["host/card"].lack
    assert lack and (lack.code, lack.later) == ("no-card", False)


@pytest.mark.parametrize(
    ("target", "name", "fits"),
    [
        ("ascend910b", "ubuntu 20.04 x86_64", False),
        ("ascend910b", "debian 12 x86_64", False),
        ("ascend910b", "ubuntu 22.04 aarch64", True),
        ("ascend910b", "ubuntu 22.04 riscv64", False),
        ("ascend910b", "  x86_64", False),
        ("s60", "ubuntu 22.04 aarch64", False),
    ],
)
def test_other_systems_and_processors_are_refused(
    make: Make, monkeypatch: pytest.MonkeyPatch, target: str, name: str, fits: bool
) -> None:
    os_id, version, arch = name.split(" ")
    monkeypatch.setattr(system, "_told", lambda: {"ID": os_id, "VERSION": version})
    context = make(target, arch=arch)
    kind, step = system.System(), context.step("host/system")
    lack = kind.blocked(step, context)
    assert (lack is None) is fits
    assert kind.blocked(step, make(target, arch=arch, any_system=True)) is None


def test_an_upgrade_takes_the_firmware_first(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, driver=Shown("older", "23.0.0"), firmware=Shown("older", "7.1.0.3.220"))
    names = list(steps := planned(make()))
    assert names.index("host/firmware") < names.index("host/driver")
    assert "host/firmware" in steps["host/driver"].step.needs
    assert steps["host/firmware"].step.needs == ("host/account", "host/toolchain")
    assert "--upgrade" in steps["host/driver"].script


@pytest.mark.parametrize("event", ["start", "interrupted", "failed"])
def test_what_was_cut_short_is_no_upgrade(
    make: Make, monkeypatch: pytest.MonkeyPatch, event: str
) -> None:
    has(monkeypatch, driver=Shown("older", "23.0.0"))
    context = make()
    Journal(context.site.journal).record("host/driver", event, "key")  # type: ignore[arg-type]
    names = list(planned(context))
    assert names.index("host/driver") < names.index("host/firmware")


def test_half_an_installation_is_not_believed(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, driver=Shown("same", "23.0.3"))
    context = make()
    assert planned(context)["host/driver"].state == "satisfied"
    Journal(context.site.journal).record("host/driver", "failed", "key")
    assert planned(context)["host/driver"].state == "blocked"


@pytest.mark.parametrize("state", ["newer", "other"])
def test_another_version_is_asked_about_once(
    make: Make, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    has(monkeypatch, driver=Shown(state, "24.1.0"))  # type: ignore[arg-type]
    context = make()
    steps = planned(context)
    assert (steps["host/driver"].state, steps["host/driver"].asks) == ("satisfied", "24.1.0")
    assert "24.1.0" in host_changes(steps.values())
    kept.agree(context.site, {"host/driver": "24.1.0"})
    assert planned(context)["host/driver"].asks == ""
    has(monkeypatch, driver=Shown(state, "25.0.0"))  # type: ignore[arg-type]
    assert planned(context)["host/driver"].asks == "25.0.0"


@pytest.mark.parametrize("event", ["start", "interrupted", "failed", "asked for"])
@pytest.mark.parametrize("state", ["newer", "other"])
def test_a_newer_version_is_never_turned_back(
    make: Make, monkeypatch: pytest.MonkeyPatch, state: str, event: str
) -> None:
    """Not where a run failed before somebody installed it, and not where the step is named."""
    has(monkeypatch, driver=Shown(state, "24.1.0"))  # type: ignore[arg-type]
    context = make()
    if event != "asked for":
        Journal(context.site.journal).record("host/driver", event, "key")  # type: ignore[arg-type]
    wish = Wish("host/driver") if event == "asked for" else Wish()
    for _ in range(2):  # also when it was agreed to: who asks for the step is told once more
        steps = {one.name: one for one in plan(context, wish)}
        driver = steps["host/driver"]
        assert (driver.state, driver.asks) == ("satisfied", "24.1.0")
        assert "/usr/local/Ascend/driver/script/uninstall.sh" in driver.reason
        assert "24.1.0" in summary(list(steps.values()))
        kept.agree(context.site, {"host/driver": "24.1.0"})
    chain._note_healed(context, list(steps.values()))
    assert planned(context)["host/driver"].asks == ""


def test_an_older_one_is_not_asked_about(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, driver=Shown("older", "23.0.0"))
    steps = {one.name: one for one in plan(make(), Wish("host/driver"))}
    assert (steps["host/driver"].state, steps["host/driver"].asks) == ("blocked", "")


def test_what_removes_an_installed_version_is_named(make: Make) -> None:
    context = make("s60")
    steps = {step.name: KINDS[step.kind].removing(step, context) for step in context.stack.steps}
    assert "--driver --uninstall -y" in steps["host/driver"]
    assert steps["host/tops"] and not steps["env/python"]


@pytest.mark.parametrize(
    ("text", "state", "version"),
    [
        ("Version=23.0.3\n", "same", "23.0.3"),
        ("# x\nVersion = 23.0.3 \n", "same", "23.0.3"),
        ("Version=23.0.2.1\n", "older", "23.0.2.1"),
        ("Version=23.0.rc3\n", "older", "23.0.rc3"),
        ("Version=24.1.rc1\n", "newer", "24.1.rc1"),
        ("Version=23.0.t3\n", "other", "23.0.t3"),
        ("Version=\n", "absent", ""),
        ("MyVersion=23.0.3\n", "absent", ""),
        ("", "absent", ""),
    ],
)
def test_what_a_version_file_shows(
    make: Make, tmp_path: Path, text: str, state: str, version: str
) -> None:
    file = tmp_path / "version.info"
    file.write_text(text)
    context = make()
    package = replace(context.stack.packages["driver"], shows=str(file))
    there = shown(package, context)
    assert (there.state, there.version) == (state, version)


def test_a_reboot_is_waited_for_until_the_machine_has_started(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    context = make()
    (tmp_path / "drv_davinci_intf_host").mkdir()
    monkeypatch.setattr(loaded, "_MODULES", tmp_path)
    kind, step = loaded.Loaded(), context.step("host/loaded")
    kind.verify(step, context)
    context.site.reboot.parent.mkdir(parents=True)
    context.site.reboot.write_text(boot.current())
    with pytest.raises(NotSo):
        kind.verify(step, context)
    monkeypatch.setattr(boot, "current", lambda: "another\n1\n")
    kind.verify(step, context)


def test_where_the_packages_lay_decides_nothing(make: Make, tmp_path: Path) -> None:
    """A run without `--deps` finds the same keys, so nothing after the step is done again."""
    with_folder, without = planned(make()), planned(make(deps=None))
    assert [one.key for one in with_folder.values()] == [one.key for one in without.values()]


def test_a_torn_note_of_what_was_agreed_counts_as_none(make: Make) -> None:
    context = make()
    context.site.kept.parent.mkdir(parents=True)
    for text in ("", "{", "[]", "null"):
        context.site.kept.write_text(text)
        assert kept.agreed(context.site) == {}


def test_without_a_lock_the_release_says_why(make: Make) -> None:
    """`targets` has the sentence; here it is the cause."""
    context = make(release="3.0.0b0")
    waiting = [one for one in planned(context).values() if one.step.lock]
    runner = SimpleNamespace(context=context, postponed=[])
    with pytest.raises(PaddockError) as caught:
        chain._told_later(waiting, runner, Options("ascend910b"))  # type: ignore[arg-type]
    assert caught.value.code == "no-lock"
    assert "not on PyPI" in caught.value.part("cause")


@pytest.fixture
def unneeded(make: Make) -> Context:
    """A release that needs no toolkit, and does not say where one would be."""
    context = make()
    rows = context.stack.packages
    row = replace(rows["toolkit"], only_with="platform", shows="/opt/{platform}/version")
    return make(stack=replace(context.stack, packages={**rows, "toolkit": row}))


def test_an_unneeded_package_holds_and_runs_nothing_when_asked_for(
    unneeded: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shown(unneeded.stack.packages["toolkit"], unneeded).state == "absent"
    has(monkeypatch, driver=Shown("same", "23.0.3"), firmware=Shown("same", "7.1.0.5.220"))
    assert planned(unneeded)["host/toolkit"].state == "satisfied"
    forced = next(one for one in plan(unneeded, Wish(begin="host/toolkit"))
                  if one.name == "host/toolkit")  # fmt: skip
    assert (forced.state, forced.change) == ("pending", "")
    assert "bash" not in forced.script and "added/" not in forced.script


def test_an_unneeded_package_is_left_out_of_a_rendered_script(unneeded: Context) -> None:
    wanted = Wanted(unneeded.stack, unneeded.folder, unneeded.release)
    step = unneeded.step("host/toolkit")
    assert holds(step, wanted) == "" and "bash" not in commands(step, wanted)
    assert "host/toolkit" in script(wanted)


def test_an_unneeded_installer_lets_no_deb_take_its_place(make: Make) -> None:
    context = make("s60", "3.0.0b0")
    rows = context.stack.packages
    row = replace(rows["tops"], only_with="none")
    stack = replace(context.stack, packages={**rows, "tops": row})
    step = next(step for step in stack.steps if step.kind == "debs")
    text = commands(step, Wanted(stack, context.folder, context.release))
    install = next(line for line in text.splitlines() if line.startswith("heard dpkg --install"))
    assert install.count(".deb") == len(step.debs) and "bash" not in text
