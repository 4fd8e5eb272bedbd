"""Huawei's packages for a 910B: driver, firmware, CANN toolkit and kernels, as installers.

What they install is what a healthy box has; how they behave follows the vendor's guides: they want
the account HwHiAiUser and root, ask where `--quiet` is missing, refuse while a card is in use,
upgrade only what is there, and ask for a reboot.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.lab.boxes import ascend_files as files
from tests.lab.boxes.objects import library, module
from tests.lab.vendor.run_file import make

DRIVER, FIRMWARE, CANN = "23.0.3", "7.1.0.5.220", "8.0.0"
_ASCEND = files.ASCEND
_KERNELS = ("opp_kernel", "/kernel/")
# Shared by all: what goes wrong is told by a file, one word a package; a call is noted.
_HEAD = """\
#!/bin/bash
part=PART version=VERSION lab=/var/lib/lab
mkdir -p $lab /var/log/ascend_seclog
log=/var/log/ascend_seclog/ascend_install.log
say() { echo "[LABEL] [$(date '+%F %T')] [$1]$2" | tee -a $log; }
fail() {
    say ERROR "$1"
    say ERROR "LABEL package install failed, details in : $log."
    exit "${2:-1}"
}
installed="LABEL package installed successfully!"
effect="for the installation/upgrade to take effect"
echo "$part $version $*" >> $lab/calls
[ "$(id -u)" = 0 ] || fail "Only the root user can install this package!"
case " $* " in *" --quiet "*) ;; *) read -r answer || fail "no answer to the question [Y/n]";; esac
fault=$(cat $lab/fault-$part 2>/dev/null)
case $fault in
    fail) fail "rpm or dkms: build of the modules failed" 7 ;;
    busy) fail "the davinci device is in use, please stop the process first" ;;
    hang) say INFO "Waiting for device startup..."; sleep 600 ;;
    half) mkdir -p /usr/local/Ascend/$part
        echo "Version=$version" > /usr/local/Ascend/$part/version.info
        fail "the flash tool has ended early" 5 ;;
    nothing) say INFO "$installed"; exit 0 ;;
esac
"""
_COPY = """\
for piece in $(cd payload && find . -mindepth 1 -maxdepth 1); do
    tar -c --owner=0 --group=0 -C payload "$piece" |
        tar -x -C / --keep-directory-symlink --no-overwrite-dir || fail "tar"
    say INFO "upgradePercentage:50%"
    [ "$fault" != slow ] || sleep 1
done
"""
_DRIVER = """\
id HwHiAiUser >/dev/null 2>&1 || fail "HwHiAiUser does not exist, please create the user first"
lacking=$(for tool in gcc lspci ifconfig; do command -v $tool >/dev/null || echo -n "$tool,"; done)
[ -z "$lacking" ] || fail "The list of missing tools: $lacking"
shown=/usr/local/Ascend/driver/version.info
case " $* " in
    *" --upgrade "*) [ -e $shown ] || fail "There is no driver to upgrade" ;;
    *" --full "*) ;;
    *) fail "the operation is missing" ;;
esac
"""
_DRIVER_END = """\
chown -R HwHiAiUser:HwHiAiUser /usr/local/Ascend/driver
chmod 0755 /usr/local/bin/npu-smi /usr/local/Ascend/driver/script/uninstall.sh
sed -i 's/"tool": "[^"]*/"tool": "'$version/ $lab/state.json
if [ -e $lab/needs-reboot ]; then
    echo "MODULES" > $lab/at-boot
    say INFO "$installed Reboot needed ${effect#for the }!"
else
    for name in MODULES; do modprobe $name || fail "modprobe $name"; done
    say INFO "$installed The new version takes effect immediately."
fi
"""
_FIRMWARE = """\
[ -e /usr/local/Ascend/driver/version.info ] || fail "The driver is not installed"
"""
_FIRMWARE_END = """\
chmod 0755 /usr/local/Ascend/firmware/script/uninstall.sh
say INFO "$installed Reboot now or after driver installation $effect"
"""
_REMOVE = """\
#!/bin/bash
echo "remove PART $*" >> /var/lib/lab/calls
rm -rf PLACES
echo "[INFO]PART package uninstalled successfully! Reboot needed for uninstallation to take effect!"
"""


def write(
    folder: Path, driver: str = DRIVER, firmware: str = FIRMWARE, cann: str = CANN, nnal: str = CANN
) -> None:
    """The packages that a release wants, under their vendors' names; of `nnal` "" for none."""
    driver_package(folder / f"Ascend-hdk-910b-npu-driver_{driver}_linux-x86-64.run", driver)
    firmware_package(folder / f"Ascend-hdk-910b-npu-firmware_{firmware}.run", firmware, driver)
    toolkit_package(folder / f"Ascend-cann-toolkit_{cann}_linux-x86_64.run", cann)
    kernels_package(folder / f"Ascend-cann-kernels-910b_{cann}_linux-x86_64.run", cann)
    if nnal:
        nnal_package(folder / f"Ascend-cann-nnal_{nnal}_linux-x86_64.run", nnal)


def driver_package(file: Path, version: str) -> Path:
    """Its files, tools and modules."""

    def fill(source: Path) -> None:
        root = source / "payload"
        _files(root, _is_driver, {files.DRIVER: version})
        kernel = os.uname().release
        for name in files.MODULES:
            module(root / f"lib/modules/{kernel}/updates/{name}.ko", kernel)
        places = ("/usr/local/Ascend/driver /usr/local/dcmi /usr/local/bin/npu-smi "
                  "/etc/ascend_install.info")  # fmt: skip
        _script(root / f"{_ASCEND}/driver/script/uninstall.sh", _REMOVE, "driver", version, places)
        text = _HEAD + _DRIVER + _COPY + _DRIVER_END.replace("MODULES", " ".join(files.MODULES))
        _script(source / "install.sh", text, "driver", version)

    return make(file, "ASCEND DRIVER RUN PACKAGE", fill)


def firmware_package(file: Path, version: str, driver: str) -> Path:
    """Its version file; nothing is written into a card here."""

    def fill(source: Path) -> None:
        root = source / "payload"
        _files(root, lambda name: name.startswith(f"{_ASCEND}/firmware/"),
               {files.FIRMWARE: version, files.DRIVER: driver})  # fmt: skip
        place = root / f"{_ASCEND}/firmware/script/uninstall.sh"
        _script(place, _REMOVE, "firmware", version, "/usr/local/Ascend/firmware")
        text = _HEAD + _FIRMWARE + _COPY + _FIRMWARE_END
        _script(source / "install.sh", text, "firmware", version)

    return make(file, "ASCEND FIRMWARE RUN PACKAGE", fill)


def toolkit_package(file: Path, version: str) -> Path:
    """CANN without operator kernels."""

    def fill(source: Path) -> None:
        root = source / "payload"
        _files(root, lambda name: _is_cann(name) and not _is_kernel(name),
               {CANN: version})  # fmt: skip
        place = root / f"{files.TOOLKIT}/{version}/x86_64-linux/script/uninstall.sh"
        _script(place, _REMOVE, "toolkit", version, f"/{files.TOOLKIT}")
        end = 'say INFO "Ascend-cann-toolkit install success"\n'
        _script(source / "install.sh", _HEAD + _COPY + end, "toolkit", version)

    return make(file, "ASCEND_CANN_TOOLKIT", fill)


def kernels_package(file: Path, version: str) -> Path:
    """The operator kernels for the 910B: a toolkit has to be there."""

    def fill(source: Path) -> None:
        _files(source / "payload", lambda name: _is_cann(name) and _is_kernel(name),
               {CANN: version})  # fmt: skip
        gone = f"rm -rf /{files.TOOLKIT}/{version}/opp_kernel; exit 0"
        want = f'case " $* " in *" --uninstall "*) {gone} ;; esac\n'
        want += f'[ -d /{files.TOOLKIT}/{version} ] || fail "no Ascend-cann-toolkit {version}"\n'
        end = 'say INFO "Ascend-cann-kernels-910b install success"\n'
        _script(source / "install.sh", _HEAD + want + _COPY + end, "kernels", version)

    return make(file, "ASCEND_CANN_KERNELS_910B", fill)


def nnal_package(file: Path, version: str) -> Path:
    """ATB, which wants the variables of a toolkit."""

    def fill(source: Path) -> None:
        _files(source / "payload", _is_nnal, {CANN: version})
        want = 'case " $* " in *" --uninstall "*) rm -rf /usr/local/Ascend/nnal; exit 0 ;; esac\n'
        want += '[ -d "$ASCEND_HOME_PATH" ] || fail "no ASCEND_HOME_PATH: source set_env.sh"\n'
        end = 'say INFO "Ascend-cann-nnal install success"\n'
        _script(source / "install.sh", _HEAD + want + _COPY + end, "nnal", version)

    return make(file, "ASCEND_CANN_NNAL", fill)


def _is_driver(name: str) -> bool:
    return name.startswith((f"{_ASCEND}/driver/", "etc/", "usr/local/bin/", "usr/local/dcmi/"))


def _is_nnal(name: str) -> bool:
    return name.startswith(f"{_ASCEND}/nnal/")


def _is_cann(name: str) -> bool:
    return name.startswith(f"{files.TOOLKIT}/")


def _is_kernel(name: str) -> bool:
    return any(part in name for part in _KERNELS)


def _files(root: Path, wanted: Callable[[str], bool], versions: dict[str, str]) -> None:
    """The healthy box's files of a part, with other versions in their names and texts."""
    root.mkdir()

    def place(name: str) -> Path:
        path = root / _replaced(name, versions)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    for name, text in files.FILES.items():
        if wanted(name):
            place(name).write_text(_replaced(text, versions))
    for name, target in files.LINKS.items():
        if wanted(name):
            place(name).symlink_to(_replaced(target, versions))
    for name, functions in files.LIBRARIES.items():
        if wanted(name):
            library(place(name), functions)


def _script(file: Path, text: str, part: str, version: str, places: str = "") -> None:
    """A script of a package, its words filled in."""
    words = {"PART": part, "VERSION": version, "LABEL": part.capitalize(), "PLACES": places}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_replaced(text, words))


def _replaced(text: str, words: Mapping[str, str]) -> str:
    for old, new in words.items():
        text = text.replace(old, new)
    return text
