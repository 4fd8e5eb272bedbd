"""From a bare machine with eight 910B to a host with driver, firmware and CANN, and back."""

from __future__ import annotations

import shutil
import subprocess
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.vendor import ascend
from tests.lab.vendor.bare import DEPS, Bare, bare

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
STEPS = ("card", "system", "toolchain", "account", "driver", "firmware", "loaded", "toolkit",
         "kernels", "nnal")  # fmt: skip
HOST = f"--target ascend910b --deps {DEPS} --only " + ",".join(f"host/{name}" for name in STEPS)
ORDER = ["driver", "firmware", "kernels", "nnal", "toolkit"]
RUN = f"Ascend-hdk-910b-npu-driver_{ascend.DRIVER}_linux-x86-64.run"
TRUNCATE = "truncate -s -2000"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of the default release."""
    folder = tmp_path_factory.mktemp("packages")
    ascend.write(folder)
    return folder


@pytest.fixture
def box(clone: Path, packages: Path) -> Iterator[Bare]:
    """A bare machine with the packages in its folder."""
    with bare("ascend910b", clone) as machine:
        shutil.copytree(packages, machine.deps, dirs_exist_ok=True)
        yield machine


def parts(box: Bare) -> list[str]:
    """Which packages were run, in their order."""
    return [call.split()[0] for call in box.calls()]


def ends(done: subprocess.CompletedProcess[str], status: int, *words: str) -> None:
    """A run has ended so, and says all of these."""
    assert done.returncode == status, done.stdout + done.stderr
    for word in words:
        assert word in done.stdout + done.stderr


def test_a_bare_host_is_set_up_over_a_reboot_and_back(box: Bare) -> None:
    ends(box.provision(f"{HOST} --dry-run"), 0, RUN, "publishes no digest")
    ends(box.provision(HOST), 2, "--yes")
    assert parts(box) == []
    box.run("touch /var/lib/lab/needs-reboot")
    ends(box.provision(f"{HOST} --yes"), 4, "rebooted")
    assert parts(box).index("driver") < parts(box).index("firmware")
    assert sorted(parts(box)) == ORDER
    assert box.run("id -gn HwHiAiUser").stdout == "HwHiAiUser\n"
    ends(box.provision(f"{HOST} --yes"), 4, "rebooted")
    box.reboot()
    ends(box.provision(f"{HOST} --yes"), 0)
    ends(box.provision(f"{HOST} --yes"), 0, "nothing to do")
    assert len(parts(box)) == 5
    ends(box.run("./paddock provision --target ascend910b --undo --yes", 120), 0, "host/driver")
    removed = [call.split()[1] for call in box.calls() if call.startswith("remove")]
    assert removed == ["toolkit", "firmware", "driver"]
    left = "/usr/local/Ascend/driver /usr/local/Ascend/firmware /usr/local/Ascend/ascend-toolkit"
    assert box.run(f"ls {left}").stdout == ""
    assert box.run("id HwHiAiUser").returncode != 0


def test_a_missing_package_is_named_after_the_rest_was_done(box: Bare) -> None:
    (box.deps / RUN).unlink()
    ends(box.provision(f"{HOST} --yes"), 4, RUN, "Huawei", "hiascend.com", "--deps")
    assert sorted(parts(box)) == ["kernels", "nnal", "toolkit"]
    assert box.run("id HwHiAiUser").returncode == 0
    ends(box.provision("--target ascend910b --dry-run"), 0, RUN, "firmware")


def test_damaged_files_are_not_run(box: Bare) -> None:
    box.run(f"{TRUNCATE} {DEPS}/{RUN}")
    ends(box.provision(f"{HOST} --yes"), 6, "host/driver")
    assert parts(box) == []


def test_a_file_that_was_replaced_after_its_first_use_is_refused(box: Bare) -> None:
    box.fault("driver", "fail")
    ends(box.provision(f"{HOST} --yes"), 7, "dkms")
    box.fault("driver", "")
    ends(box.provision(f"{HOST} --yes"), 4, "rebooted")
    box.run(f"rm -rf /usr/local/Ascend/driver; echo >> {DEPS}/{RUN}")
    ends(box.provision(f"{HOST} --yes"), 6, "not the file that was used before")
    assert parts(box).count("driver") == 2


def test_of_two_versions_the_pinned_one_is_taken(box: Bare, packages: Path) -> None:
    other = "Ascend-hdk-910b-npu-driver_24.1.0_linux-x86-64.run"
    shutil.copy(packages / RUN, box.deps / other)
    folder = box.deps / "drivers"
    folder.mkdir()
    (box.deps / RUN).rename(folder / RUN)
    ends(box.provision(f"{HOST} --dry-run"), 0, "left alone", other)
    ends(box.provision(f"{HOST} --yes"), 4, "rebooted")
    assert box.calls()[0] == "driver 23.0.3 --full --install-for-all --quiet"


def test_an_installer_that_fails_stops_the_run(box: Bare) -> None:
    faults = {"fail": (7, "dkms"), "busy": (4, "in use"), "nothing": (7, "host/driver 23.0.3")}
    for fault, (status, words) in faults.items():
        box.fault("driver", fault)
        ends(box.provision(f"{HOST} --yes"), status, words)
    assert parts(box) == ["driver"] * 3
    box.fault("driver", "half")
    for _ in range(2):  # what it left behind is not taken for whole
        ends(box.provision(f"{HOST} --yes"), 7, "ended early")
    assert len(parts(box)) == 5
    box.fault("driver", "")
    box.run("mv /usr/sbin/ifconfig /usr/sbin/_")
    ends(box.provision(f"{HOST} --yes"), 4, "missing tools: ifconfig", "net-tools")


def test_a_flash_is_not_cut_short_by_a_step_that_fails_beside_it(box: Bare) -> None:
    box.fault("firmware", "slow")
    box.fault("toolkit", "fail")
    ends(box.provision(f"{HOST} --yes"), 7, "host/firmware: a vendor's installer", "host/toolkit")
    journal = box.run("grep host/firmware /root/.local/state/paddock/ascend910b/journal.jsonl")
    assert '"event":"done"' in journal.stdout.splitlines()[-1]
    assert sorted(parts(box)) == ["driver", "firmware", "toolkit"]


def test_an_installer_that_hangs_is_stopped(box: Bare) -> None:
    box.run("mkdir /srv/own && cp -r images/ascend910b/. /srv/own")
    box.run("sed -i 's/^install = /limit = 2\\n&/' /srv/own/stack.toml")
    box.fault("driver", "hang")
    ends(box.provision(f"{HOST} --stack /srv/own/stack.toml --yes"), 7, "no end", "host/driver")
    assert box.run("pgrep -f '[s]leep 600'").stdout == ""


def test_an_upgrade_goes_the_other_way(box: Bare, tmp_path: Path) -> None:
    old = ascend.driver_package(tmp_path / "driver.run", "23.0.0")
    shutil.copy(old, box.deps / "old.run")
    box.run(f"useradd HwHiAiUser; bash {DEPS}/old.run --full --quiet; rm /var/lib/lab/calls")
    ends(box.provision(f"{HOST} --yes"), 4, "rebooted")
    assert [call for call in box.calls() if call.split()[0] in ("driver", "firmware")] == [
        "firmware 7.1.0.5.220 --full --quiet", "driver 23.0.3 --upgrade --quiet",
    ]  # fmt: skip
    ends(box.run("./paddock provision --target ascend910b --undo --yes", 120), 0)
    assert "remove driver" not in "\n".join(box.calls())


def test_a_newer_driver_stays_once_the_person_agrees(box: Bare, tmp_path: Path) -> None:
    new = ascend.driver_package(tmp_path / "driver.run", "24.1.0")
    shutil.copy(new, box.deps / "new.run")
    box.run(f"useradd HwHiAiUser; bash {DEPS}/new.run --full --quiet; rm /var/lib/lab/calls")
    steps = ("host/card", "host/system", "host/toolchain", "host/account", "host/driver")
    only = f"--target ascend910b --only {','.join(steps)}"
    ends(box.provision(only), 2, "24.1.0")
    ends(box.provision(f"{only} --yes"), 0)
    ends(box.provision(only), 0, "nothing to do")
    forced = f"{only} --from host/driver --deps {DEPS}"
    ends(box.provision(forced), 2, "24.1.0", "driver/script/uninstall.sh")
    ends(box.provision(f"{forced} --yes"), 0, "24.1.0")
    assert box.calls() == []


def test_the_archive_of_the_vendor_is_taken_as_it_comes(box: Bare) -> None:
    files = [file for file in box.deps.iterdir() if "npu" in file.name]
    with zipfile.ZipFile(box.deps / "Ascend-hdk-910b-npu_23.0.3_linux-x86-64.zip", "w") as archive:
        for file in files:
            archive.write(file, file.name)
            archive.writestr(f"{file.name}.cms", "a signature")
            file.unlink()
    ends(box.provision(f"{HOST} --yes"), 4, "rebooted")
    assert sorted(parts(box)) == ORDER


@pytest.mark.parametrize("part", ["driver", "firmware", "toolkit"])
def test_a_killed_run_is_taken_up_again(box: Bare, part: str) -> None:
    box.fault(part, "slow")
    script = f"echo $$ >/run/tool.pid; exec ./paddock provision {HOST} --yes"
    with subprocess.Popen(box.command(script, 120, "root"), stdout=subprocess.DEVNULL) as run:
        while part not in parts(box):
            assert run.poll() is None
            time.sleep(0.1)
        time.sleep(0.5)
        box.run("kill -9 $(cat /run/tool.pid); pkill -9 -f install.sh; pkill -9 -f /srv/deps")
        assert run.wait(30) == 137
    box.fault(part, "")
    ends(box.provision(f"{HOST} --yes"), 4, "rebooted")
    box.reboot()
    ends(box.provision(f"{HOST} --yes"), 0)
    assert parts(box).count(part) == 2
    assert sorted(set(parts(box))) == ORDER


def test_other_cards_and_systems_are_refused(box: Bare, clone: Path, packages: Path) -> None:
    with bare("s60", clone) as other:
        shutil.copytree(packages, other.deps, dirs_exist_ok=True)
        ends(other.provision(f"{HOST} --yes"), 4, "Enflame S60")
        assert other.calls() == []
    box.run("sed -i 's/^VERSION=.*/VERSION=\"20.04 LTS\"/' /etc/os-release")
    ends(box.provision(f"{HOST} --yes"), 4, "--unsupported-os")
    assert box.calls() == []
    ends(box.provision(f"{HOST} --yes --unsupported-os --from host/card"), 4, "rebooted")
