"""From a bare machine with eight S60 to a host with driver and Tops stack, and back."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from provision.stack import load, stack_file
from tests.lab.test_ascend_install import ends, parts
from tests.lab.vendor import deps, enflame
from tests.lab.vendor.bare import DEPS, Bare, bare

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
STEPS = ("card", "system", "toolchain", "driver", "loaded", "tops")
HOST = f"--target s60 --deps {DEPS} --only " + ",".join(f"host/{name}" for name in STEPS)
OLD = f"{HOST} --release 3.0.0b0"
VERSION = "dpkg-query -W -f '${Version}' topsruntime"
STATES = "dpkg-query -W -f '${db:Status-Status} ' topsfactor tops-sdk eccl topsaten"


@pytest.fixture
def box(clone: Path) -> Iterator[Bare]:
    with bare("s60", clone) as machine:
        yield machine


def test_a_bare_host_is_set_up_with_topsrider_and_back(box: Bare) -> None:
    enflame.rider(box.deps)
    ends(box.provision(f"{HOST} --yes"), 0)
    assert parts(box) == ["driver", "tops"]
    assert box.run("cat /sys/module/enflame/version").stdout == "1.2.0.301\n"
    assert box.run(STATES).stdout.split() == ["installed"] * 4
    ends(box.provision(HOST), 0, "nothing to do")
    ends(box.run("./paddock provision --target s60 --undo --yes", 120), 0, "host/tops host/driver")
    assert "installed" not in box.run(f"{STATES} 2>/dev/null").stdout.replace("not-installed", "")
    assert box.run("ls /usr/local/efsmi").returncode != 0


def test_the_archive_of_the_article_is_unpacked_and_used(box: Bare) -> None:
    enflame.platform(box.deps)
    ends(box.provision(f"{OLD} --dry-run"), 0, "to be unpacked from TopsPlatform.tar.gz")
    assert box.run("ls /root/.cache/paddock/unpacked").returncode != 0
    ends(box.provision(f"{OLD} --yes"), 0)
    assert box.run(STATES).stdout.split() == ["installed"] * 4
    assert len(parts(box)) == 2


def test_each_release_has_its_own_stack(box: Bare) -> None:
    """From release to release; what is newer than the pin stays, and is told."""
    releases = load(stack_file("s60")).releases
    for name in ("3.0.0b0", "3.0.0", "3.3.0"):
        deps.PACKAGES["s60"](box.deps, releases[name].pins)
    ends(box.provision(f"{OLD} --yes"), 0)
    assert box.run(VERSION).stdout == "1.0.5.1"
    ends(box.provision(f"{HOST} --dry-run"), 0, "topsruntime 1.0.5.1 < 1.2.0.301")
    for name, driver, tops in (
        ("3.0.0", "1.2.0.301", "1.2.0.301"),
        ("3.3.0", "1.5.0.5", "1.5.0.601"),
    ):
        ends(box.provision(f"{HOST} --release {name} --yes"), 4, "host/tops", "reboot")
        assert box.run(VERSION).stdout == tops
        box.reboot()
        ends(box.provision(f"{HOST} --release {name} --yes"), 0)
        assert box.run("cat /sys/module/enflame/version").stdout == f"{driver}\n"
    ends(box.provision(f"{HOST} --release 3.3.0"), 0, "nothing to do")
    ends(box.provision(f"{HOST} --dry-run"), 0, "1.5.0.601 is there, not the pinned one")
    assert len(parts(box)) == 6
    ends(box.run("./paddock provision --target s60 --undo --yes", 120), 0, "host/tops host/driver")
    assert "installed" not in box.run(f"{STATES} 2>/dev/null").stdout.replace("not-installed", "")


def test_packages_come_from_a_server(box: Bare) -> None:
    """A file that is gone, then another one than the server's sums say, then the right one."""
    file = enflame.platform(box.deps)
    sums, there = box.deps / "SHA256SUMS", box.deps.parent / "elsewhere"
    box.run(f"cd {DEPS}; nohup python3 -m http.server 8080 >/dev/null 2>&1 &")
    old = OLD.replace(DEPS, "http://someone:s3cret@127.0.0.1:8080/")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    sums.write_text(f"{digest}  {file.name}\n")
    file.rename(there)
    done = box.provision(f"{old} --yes")
    ends(done, 5, "HTTP 404", "fetch/driver")
    there.rename(file)
    sums.write_text(f"{'0' * 64}  {file.name}\n")
    ends(box.provision(f"{old} --yes"), 6, "not the published file")
    assert parts(box) == []
    sums.write_text(f"{digest}  {file.name}\n")
    ends(box.provision(f"{old} --dry-run"), 0, "fetch/driver", "8080")
    ends(box.provision(f"{old} --yes"), 0, "+ fetch/driver")
    assert box.run(STATES).stdout.split() == ["installed"] * 4
    ends(box.provision(OLD.replace(f"--deps {DEPS}", "")), 0, "nothing to do")
    assert box.run("grep -rl s3cret /root /tmp /var/log").stdout == ""
    ends(box.run("./paddock provision --target s60 --undo --yes", 120), 0, "host/tops host/driver")
    assert box.run("ls /root/.cache/paddock/downloads/s60").returncode != 0


def test_without_packages_it_says_whom_to_ask(box: Bare) -> None:
    done = box.provision(f"{OLD} --yes")
    ends(done, 4, "TopsPlatform_1.0.5.1-2c3111_deb_amd64.run", "eccl_*_amd64.deb",
         "developer-enflame@enflame-tech.com")  # fmt: skip


def test_an_archive_that_reaches_out_is_refused(box: Bare) -> None:
    with tarfile.open(box.deps / "TopsPlatform.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("TopsPlatform/../../../../etc/profile.d/evil.sh")
        member.size = 4
        archive.addfile(member, io.BytesIO(b"evil"))
    ends(box.provision(f"{OLD} --yes"), 6, "evil.sh")
    assert box.run("ls /etc/profile.d/evil.sh").returncode != 0


def test_a_module_that_does_not_load_asks_for_a_reboot(box: Bare) -> None:
    enflame.rider(box.deps)
    box.run("touch /var/lib/lab/needs-reboot")
    ends(box.provision(f"{HOST} --yes"), 4, "enflame")
    box.reboot()
    ends(box.provision(f"{HOST} --yes"), 0)
    assert parts(box) == ["driver", "tops"]


def test_half_installed_packages_are_healed(box: Bare) -> None:
    """The tool and all that it started are killed while dpkg works."""
    enflame.platform(box.deps)
    box.fault("tops", "slow")
    script = f"echo $$ >/run/tool.pid; exec ./paddock provision {OLD} --yes"
    with subprocess.Popen(box.command(script, 120, "root"), stdout=subprocess.DEVNULL) as run:
        while "tops" not in parts(box):
            assert run.poll() is None
            time.sleep(0.1)
        box.run("kill -9 $(cat /run/tool.pid); pkill -9 -f install.sh; pkill -9 -f unpacked")
        assert run.wait(30) == 137
    box.fault("tops", "")
    box.run("dpkg --unpack /root/.cache/paddock/unpacked/s60/*/*/topsaten_*.deb")
    ends(box.provision(f"{OLD} --yes"), 0)
    assert box.run(STATES).stdout.split() == ["installed"] * 4
    assert box.run("dpkg --audit").stdout == ""
