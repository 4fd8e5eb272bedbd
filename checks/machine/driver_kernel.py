"""Are the driver's modules there for the kernel that runs?"""

from __future__ import annotations

from checks.machine import here
from checks.machine.finding import APART, Check, Evidence, Finding, UnreadError, known
from provision.facts import ascend_driver
from provision.facts.dkms import Dkms
from provision.facts.kernel import Kernel
from provision.facts.kernel_modules import ModuleFile
from provision.facts.snapshot import Facts

_SOURCE = "hicann/driver scripts, `current kernel primary version is different from the driver`"
_DKMS = ("davinci", "ascend")  # parts of the driver's name in DKMS


def _run(facts: Facts) -> Finding:
    kernel = known(facts.kernel)
    if ascend_driver.modules(kernel) or here.npu_answers(facts):
        return Finding("ok", evidence=[Evidence(f"loaded in {kernel.release}", "/sys/module")])
    files = ascend_driver.files(kernel)
    if files is None:
        if here.in_container(facts):
            return APART  # the modules are the host's
        raise UnreadError("/lib/modules")
    own = [file for file in files if file.kernel == kernel.release]
    wrong = [file for file in own if file.built_for not in (None, kernel.release)]
    if own and len(wrong) < len(own):
        return Finding("ok", evidence=[_shown(file) for file in own[:5]])
    if wrong:
        values = {"kernel": kernel.release, "built": wrong[0].built_for or ""}
        return _finding(kernel, "vermagic", values, [_shown(file) for file in wrong[:5]])
    return _none(kernel, files)


def _none(kernel: Kernel, files: list[ModuleFile]) -> Finding:
    """No module for this kernel: why not, as far as can be told."""
    values = {"kernel": kernel.release,
              "others": ", ".join(dict.fromkeys(file.kernel for file in files)) or "-"}  # fmt: skip
    evidence = [Evidence(f"kernel {kernel.release}, headers: {kernel.headers}", "/lib/modules"),
                *(_shown(file) for file in files[:3]), *map(_build, _builds(kernel))]  # fmt: skip
    if any(one.failed for one in _builds(kernel)):
        return _finding(kernel, "build", values, evidence)
    if not files and not _builds(kernel):
        return _finding(kernel, "missing", values, evidence)
    return _finding(kernel, "headers" if kernel.headers is False else "other", values, evidence)


def _finding(
    kernel: Kernel, case: str, values: dict[str, str], evidence: list[Evidence]
) -> Finding:
    command = f"dkms autoinstall -k {kernel.release}" if _builds(kernel) else ""
    return Finding("error", case, values, evidence, command, _SOURCE)


def _builds(kernel: Kernel) -> list[Dkms]:
    """The driver in DKMS."""
    return [one for one in kernel.dkms or () if any(part in one.name.lower() for part in _DKMS)]


def _build(one: Dkms) -> Evidence:
    failed = ", make.log is there" if one.failed else ""
    line = f"{one.name}/{one.version}, {one.kernel or '-'}: {one.state}{failed}"
    return Evidence(line, "/var/lib/dkms")


def _shown(file: ModuleFile) -> Evidence:
    return Evidence(f"{file.name}: {file.vermagic or file.kernel}", file.path)


CHECK = Check("driver-kernel", _run, needs=("driver-installed",), devices=("npu",))
