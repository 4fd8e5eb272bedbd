"""Enflame's packages for an S60: TopsRider, or the TopsPlatform of the article with its debs.

The installers behave after the project's guides: with `--driver` they install the driver on the
host, without it the software stack; they ask where `-y` is missing.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from tests.lab.boxes import enflame
from tests.lab.boxes.objects import library, module
from tests.lab.vendor.run_file import make

RIDER, DRIVER = "3.2.109", "1.2.0.301"
PLATFORM = "1.0.5.1-2c3111"
RUNTIME = "topsruntime"  # numbered as TopsPlatform is; it comes with the installer
# No source tells how these are numbered in each release: here as TopsPlatform, too.
DEBS = ("topsfactor", "tops-sdk", "eccl", "topsaten")
_INSTALL = """\
#!/bin/bash
lab=/var/lib/lab
mkdir -p $lab /tmp/topsinstaller
say() { echo "$1" | tee -a /tmp/topsinstaller/TopsRider.log; }
fail() { say "[ERROR] $1"; say "Install Failed."; exit "${2:-1}"; }
case " $* " in *" --driver "*) part=driver ;; *) part=tops ;; esac
echo "$part VERSION $*" >> $lab/calls
[ "$(id -u)" = 0 ] || fail "please run as root"
case " $* " in *" -y "*) ;; *) read -r answer || fail "no answer to the question [y/N]" ;; esac
if [[ " $* " = *" --uninstall "* ]]; then
    rm -rf /usr/local/efsmi /usr/sbin/efsmi /usr/lib/libefml.so /lib/modules/*/updates/enflame.ko
    say "Uninstall Finished."
    exit 0
fi
case $(cat $lab/fault-$part 2>/dev/null) in
    fail) fail "dkms: build of enflame failed" 3 ;;
    nothing) say "Install Finished. 1 installed."; exit 0 ;;
    slow) sleep 3 ;;
esac
if [ $part = driver ]; then
    say "[1/1] Install Driver Package"
    tar -c --owner=0 --group=0 -C payload . |
        tar -x -C / --keep-directory-symlink --no-overwrite-dir || fail "tar"
    chmod 0755 /usr/local/efsmi/*/efsmi
    ln -sf $(ls -d /usr/local/efsmi/*/efsmi | tail -n 1) /usr/sbin/efsmi
    sed -i 's/"tool": "[^"]*/"tool": "VERSION/' $lab/state.json
    [ ! -e $lab/needs-reboot ] || echo enflame > $lab/at-boot
else
    say "[1/1] Install TopsPlatform Package"
    dpkg -i debs/*.deb || fail "dpkg"
fi
say "Install Finished. 1 installed.  100%   MD5 checksums are OK.  100%"
"""


def rider(folder: Path, version: str = RIDER, driver: str = DRIVER, tops: str = DRIVER) -> Path:
    """TopsRider with the driver and the whole stack; `tops` is the TopsPlatform in it."""
    file = folder / f"TopsRider_i3x_{version}_deb_amd64.run"
    return _installer(file, driver, tops, (RUNTIME, *DEBS))


def platform(folder: Path, version: str = PLATFORM) -> Path:
    """TopsPlatform.tar.gz of the article: an installer, and debs beside it."""
    number = version.partition("-")[0]
    with tempfile.TemporaryDirectory() as scratch:
        inner = Path(scratch, "TopsPlatform")
        _installer(inner / f"TopsPlatform_{version}_deb_amd64.run", number, number, (RUNTIME,))
        _debs(inner, number, DEBS)
        file = folder / "TopsPlatform.tar.gz"
        pack = ["tar", "-c", "-z", "-f", str(file), "-C", scratch, "TopsPlatform"]
        subprocess.run(pack, check=True)
    return file


def _installer(file: Path, driver: str, tops: str, debs: tuple[str, ...]) -> Path:
    def fill(source: Path) -> None:
        tool = source / f"payload/usr/local/efsmi/efsmi-{driver}/efsmi"
        tool.parent.mkdir(parents=True)
        tool.write_text(enflame.FILES[f"{enflame.EFSMI}/efsmi"])
        library(tool.parent / "lib/libefml.so.1.0.0", ["efmlInit", "efmlGetDevCount"])
        (source / "payload/usr/lib").mkdir()
        link = f"/usr/local/efsmi/{tool.parent.name}/lib/libefml.so.1.0.0"
        (source / "payload/usr/lib/libefml.so").symlink_to(link)
        kernel = os.uname().release
        module(source / f"payload/lib/modules/{kernel}/updates/enflame.ko", kernel, driver)
        _debs(source / "debs", tops, debs)
        (source / "install.sh").write_text(_INSTALL.replace("VERSION", driver))

    return make(file, "ENFLAME TOPSRIDER PACKAGE", fill)


def _debs(folder: Path, tops: str, names: tuple[str, ...]) -> None:
    """Real packages, under the names that dpkg gives to files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        version = tops if name == RUNTIME else f"{tops}-1"
        enflame.package(folder / f"{name}_{version}_amd64.deb", name, version)
