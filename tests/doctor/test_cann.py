"""The checks of CANN, of the variables of Ascend machines, and of what Paddle needs of them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.doctor.examine import ask
from checks.machine.finding import Finding
from checks.machine.registry import CHECKS
from provision import words
from provision.facts import ascend
from provision.facts.linking.linkage import Needed, Unversioned, collect
from provision.facts.linking.process_libraries import Levels
from provision.facts.oddities import Oddity
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread
from provision.stack import load, stack_file
from tests.doctor.cann import (
    ASCEND,
    ATB_HOME,
    DRIVER_LIBRARIES,
    FILE,
    FOLDERS,
    HOME,
    LIBRARIES,
    LINKAGE,
    NEW_HOME,
    NEW_LIBRARIES,
    NODES,
    OLD,
    OUTPUTS,
    PYTHON,
    RUNTIME,
    atb,
    driver,
    environment,
    folder,
    inner,
    listed,
    machine,
    new_toolkit,
    old_toolkit,
    ops,
)
from tests.doctor.values import MACHINE, PLUGIN, changed
from tests.doctor.vendor import A2, S60, node, of, states
from tests.read.recorded import FOLDER, GIVEN

OURS = ("cann-", "driver-cann", "devices-visible", "hccl-", "paddle-flags", "plugin-pair",
        "plugin-cann", "plugin-libraries", "plugin-libc", "plugin-abi", "plugin-tag",
        "paddlenlp-", "torch-npu", "environment-duplicates")  # fmt: skip
CONTAINER = changed(MACHINE, arch="x86_64", container="docker")
MIXED = [NEW_LIBRARIES, *FOLDERS[:3], NEW_HOME, ATB_HOME]
BOTH = [*OUTPUTS, new_toolkit()]
NEWER = [driver("25.3.RC1"), new_toolkit(), ops(), atb("8.5.0")]
NEW = [NEW_LIBRARIES, DRIVER_LIBRARIES, NEW_HOME,
       folder("PYTHONPATH", f"{ASCEND}/cann-8.5.0/python/site-packages"),
       folder("ATB_HOME_PATH", f"{ASCEND}/nnal/atb/8.5.0/atb/cxx_abi_1")]  # fmt: skip
FIRST = changed(A2, device="d801", generation="Ascend 910")


@pytest.fixture(autouse=True)
def language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_LANG", "en")


def without(*sources: str) -> list[Output]:
    """The outputs but those whose source has one of these words."""
    return [one for one in OUTPUTS if not any(word in one.source for word in sources)]


def set_to(**variables: str) -> dict[str, Any]:
    return {"variables": variables}


def linked(**changes: Any) -> dict[str, Any]:
    return {"linkage": [changed(LINKAGE, **changes)]}


def lost(name: str, product: str | None, *near: str) -> dict[str, Any]:
    return linked(needed=[Needed(name, None, FILE, near=list(near), product=product)])


def has(removed: tuple[str, ...] = (), /, **more: Any) -> dict[str, Any]:
    return {"environment": environment(removed, **more)}


def odd(kind: Any) -> dict[str, Any]:
    oddity = Oddity(kind, ["demo"], ["/demo/packages/demo"])
    return {"environment": changed(environment(), oddities=[oddity])}


def tagged(tag: str) -> dict[str, Any]:
    return {"environment": changed(environment(), wheels={"paddle-custom-npu": [tag]})}


# check, state and case, the outputs (None: the healthy ones), other facts
CASES: list[tuple[str, str, list[Output] | None, dict[str, Any]]] = [
    ("cann-installed", "error none", [driver()], {"folders": []}),
    ("cann-installed", "absent elsewhere", [driver()], {"folders": [], "environment": None}),
    ("cann-installed", "unknown no-file", [driver()], {"folders": [HOME]}),
    ("cann-several", "error home", BOTH, {"folders": [LIBRARIES, PYTHON, NEW_HOME]}),
    ("cann-several", "error layouts", BOTH, {"folders": MIXED}),
    ("cann-several", "warning both", [*OUTPUTS, old_toolkit("8.1.RC1")],
     {"folders": [*FOLDERS, folder("LD_LIBRARY_PATH", f"{OLD}/8.1.RC1/lib64")]}),
    ("cann-environment", "error gone", None,
     {"folders": [folder("ASCEND_TOOLKIT_HOME", f"{OLD}/7.0.0", None)]}),
    ("cann-environment", "error gone", None,
     {"folders": [*FOLDERS, folder("ASCEND_OPP_PATH", f"{OLD}/7.0.0/opp", None)]}),
    ("cann-environment", "error unset", None, {"folders": [DRIVER_LIBRARIES]}),
    ("cann-environment", "absent unset", None,
     {"folders": [DRIVER_LIBRARIES], "environment": None, "linkage": None}),
    ("cann-environment", "error libraries", None, {"folders": [PYTHON, HOME, ATB_HOME]}),
    ("cann-environment", "error home", None, {"folders": [LIBRARIES, PYTHON, ATB_HOME]}),
    ("cann-environment", "warning python", None, {"folders": [LIBRARIES, HOME, ATB_HOME]}),
    ("cann-environment", "warning driver", None, {"folders": [LIBRARIES, PYTHON, HOME, ATB_HOME]}),
    ("cann-version", "error fails", [driver("25.5.0"), new_toolkit("8.5.1")],
     has(paddlepaddle="3.3.0", paddle_custom_npu="3.3.0")),
    ("cann-version", "warning unlisted", [old_toolkit("8.1.RC1")], {}),
    ("cann-version", "warning other", NEWER, {"folders": NEW, "environment": None}),
    ("driver-cann", "error fails", [driver("25.0.RC1"), new_toolkit("9.1.0")], {}),
    ("driver-cann", "error older", [driver("24.1.0"), new_toolkit()], {}),
    ("driver-cann", "error below", [driver("22.0.4"), *OUTPUTS[1:]], {}),
    ("driver-cann", "warning below", [driver("23.0.1"), *OUTPUTS[1:]], {}),
    ("cann-kernels", "error none", [*without("opp_kernel", "ls "), listed()], {}),
    ("cann-kernels", "error chip", [*without("ls "), listed("ascend310p", "ascend910_93")], {}),
    ("cann-kernels", "error chip", None, {"accelerators": [FIRST]}),
    ("cann-kernels", "error chip", [new_toolkit(), ops("310p")], {"folders": NEW}),
    ("cann-kernels", "error version", [*without("opp_kernel"), inner("8.0.RC3")], {}),
    ("cann-kernels", "error version", [new_toolkit(), ops(version="8.3.RC1")], {"folders": NEW}),
    ("cann-nnal", "error gone", None,
     {"folders": [*FOLDERS[:4], folder("ATB_HOME_PATH", "/demo/atb", None)]}),
    ("cann-nnal", "warning none", without("nnal"), {"folders": FOLDERS[:4], "linkage": None}),
    ("cann-nnal", "error none", without("nnal"),
     {"folders": FOLDERS[:4]} | lost("libatb.so", "nnal")),
    ("cann-nnal", "error unset", None,
     {"folders": FOLDERS[:4]} | lost("libatb.so", "nnal", f"{ASCEND}/nnal/atb/x/libatb.so")),
    ("cann-nnal", "warning unset", None, {"folders": FOLDERS[:4], "linkage": None}),
    ("cann-nnal", "warning version", [*without("nnal"), atb("7.0.0")],
     {"folders": [*FOLDERS[:4], folder("ATB_HOME_PATH", f"{ASCEND}/nnal/atb/7.0.0/atb/x")]}),
    ("cann-python", "error numpy", None, has(numpy="2.0.1")),
    ("cann-python", "warning missing", None, has(("attrs", "sympy"))),
    ("devices-visible", "error garbage", None, set_to(ASCEND_RT_VISIBLE_DEVICES="0, 1")),
    ("devices-visible", "error garbage", None, set_to(ASCEND_RT_VISIBLE_DEVICES="a")),
    ("devices-visible", "error absent", None, set_to(ASCEND_RT_VISIBLE_DEVICES="0,9")),
    ("devices-visible", "error host", None,
     set_to(ASCEND_RT_VISIBLE_DEVICES="6,7") | {"nodes": NODES[6:], "machine": CONTAINER}),
    ("devices-visible", "error absent", None,
     set_to(ASCEND_VISIBLE_DEVICES="4-6") | {"nodes": NODES[4:6], "machine": CONTAINER}),
    ("devices-visible", "error inactive", None,
     set_to(ASCEND_VISIBLE_DEVICES="0") | {"nodes": [], "machine": CONTAINER}),
    ("devices-visible", "warning twice", None, set_to(ASCEND_RT_VISIBLE_DEVICES="1,1")),
    ("devices-visible", "warning order", None, set_to(ASCEND_RT_VISIBLE_DEVICES="3,1")),
    ("hccl-settings", "error refused", None,
     set_to(HCCL_INTRA_PCIE_ENABLE="1", HCCL_INTRA_ROCE_ENABLE="1")),
    ("hccl-settings", "warning lacks", None, set_to(HCCL_INTRA_PCIE_ENABLE="0")),
    ("hccl-settings", "error lacks", None, set_to(HCCL_WHITELIST_DISABLE="0")),
    ("hccl-settings", "warning ignored", None,
     set_to(HCCL_IF_IP="192.0.2.1", HCCL_SOCKET_IFNAME="eth0")),
    *[("hccl-settings", "error value", None, set_to(**{name: value})) for name, value in (
        ("HCCL_CONNECT_TIMEOUT", "60"), ("HCCL_CONNECT_TIMEOUT", "7201"),
        ("HCCL_CONNECT_TIMEOUT", "two minutes"), ("HCCL_IF_BASE_PORT", "80"),
        ("HCCL_RDMA_TC", "133"), ("HCCL_BUFFSIZE", "0"), ("HCCL_IF_IP", "eth0"))],
    ("paddle-flags", "error garbage", None, set_to(FLAGS_selected_npus="npu:0")),
    ("paddle-flags", "error beyond", None, set_to(FLAGS_selected_npus="8")),
    ("paddle-flags", "error beyond", None,
     set_to(FLAGS_selected_npus="2", ASCEND_RT_VISIBLE_DEVICES="4,5")),
    ("paddle-flags", "warning jit", None, set_to(FLAGS_npu_jit_compile="1")),
    ("paddle-flags", "warning pir", None, set_to(FLAGS_enable_pir_api="True")),
    ("plugin-pair", "error two", None, has(paddlepaddle_gpu="3.0.0")),
    ("plugin-pair", "error differ", None,
     has(paddle_custom_npu="3.1.0") | {"plugin": changed(PLUGIN, verdict="broken")}),
    ("plugin-pair", "warning differ", None, has(paddle_custom_npu="3.1.0")),
    ("plugin-cann", "error unlisted", None,
     lost("libhccl.so", "CANN toolkit", f"{OLD}/8.0.0/lib64/libhccl.so")),
    ("plugin-cann", "error library", None, lost("libhccl.so", "CANN toolkit")),
    ("plugin-cann", "error symbol", None, linked(missing_symbols=["aclrtNewThing"])),
    ("plugin-cann", "error symbol", None, linked(
        missing_symbols=["x"], unprovided_by={"x": f"{OLD}/8.0.0/lib64/libopapi.so"})),
    ("plugin-cann", "warning further", None,
     linked(further={f"{OLD}/8.0.0/lib64/libruntime.so": ["halOfTomorrow"]})),
    ("plugin-libraries", "error unlisted", None, lost("libdemo.so", None, "/opt/x/libdemo.so")),
    ("plugin-libraries", "error missing", None, lost("libdemo.so", None)),
    ("plugin-libraries", "error product", None, lost("libdemo.so", "Demo SDK")),
    ("plugin-libraries", "error damaged", None, linked(
        needed=[Needed("libdemo.so", "/x/libdemo.so", FILE, "cache", "not an ELF file")])),
    ("plugin-libc", "error missing", None, linked(missing_versions=[
        Unversioned("GLIBCXX_3.4.32", "libstdc++.so.6", "/usr/lib/libstdc++.so.6", FILE)])),
    ("plugin-libc", "error missing", None, linked(glibc="2.38")),
    ("plugin-abi", "error new", None, linked(
        missing_symbols=["_ZN6paddle4nameERKNSt7__cxx1112basic_stringIcE"])),
    ("plugin-abi", "error old", None, linked(
        cxx11_abi=False, missing_symbols=["_ZN3phi4nameERKSs"])),
    ("plugin-tag", "error python", None, tagged("cp311-cp311-linux_x86_64")),
    ("plugin-tag", "error arch", None, tagged("cp310-cp310-linux_aarch64")),
    ("paddlenlp-pair", "warning paddle", None,
     has(paddlepaddle="3.1.1", paddle_custom_npu="3.1.1", paddlenlp="3.0.0b0")),
    ("paddlenlp-pair", "warning other", None,
     has(paddlepaddle="3.0.0b0", paddle_custom_npu="3.0.0b0", paddlenlp="3.0.0b4")),
    ("torch-npu", "error torch-missing", None, has(torch_npu="2.4.0")),
    ("torch-npu", "error torch-other", None, has(torch_npu="2.4.0.post2", torch="2.5.1")),
    ("torch-npu", "warning cuda", None, has(torch_npu="2.4.0.post2", torch="2.4.0+cu121")),
    ("torch-npu", "warning cuda", None,
     has(torch_npu="2.4.0.post2", torch="2.4.0", nvidia_cublas_cu12="12.1")),
    ("torch-npu", "warning triton", None,
     has(torch_npu="2.4.0.post2", torch="2.4.0", triton="3.2", triton_ascend="3.2")),
    ("torch-npu", "warning autoload", [driver()],
     {"folders": []} | has(torch_npu="2.5.1", torch="2.5.1")),
    ("torch-npu", "warning cann", None, has(torch_npu="2.9.0", torch="2.9.0")),
    *[("environment-duplicates", f"warning {kind}", None, odd(kind))
      for kind in ("twice", "shadowed", "leftover", "torn", "overwritten")],
]  # fmt: skip


@pytest.mark.parametrize(("own", "command"), [
    (True, "paddock provision --target ascend910b --from"),
    (False, "/demo/python -m pip install --force-reinstall"),
])  # fmt: skip
def test_a_torn_distribution_is_put_right(healthy: Facts, own: bool, command: str) -> None:
    """Paddock's own environment is made anew: it has no pip."""
    there = changed(odd("torn")["environment"], own=own)
    finding = of(machine(healthy, environment=there), "environment-duplicates")
    assert finding.state == "warning" and finding.command.startswith(command)


def test_a_list_of_packages_does_not_tell_what_is_odd(healthy: Facts) -> None:
    facts = machine(healthy, sent=True)
    assert of(facts, "environment-duplicates").state == "apart"


def test_settings_that_no_shell_needs_yet_are_no_fault(healthy: Facts) -> None:
    """CANN is there, nothing is provisioned, and set_env.sh was not sourced."""
    facts = machine(healthy, folders=[DRIVER_LIBRARIES], environment=None, linkage=None)
    assert of(facts, "cann-nnal").follows == "cann-environment"
    assert not {"error", "warning"} & {one.state for one in ask(facts) if one.id.startswith("cann")}


@pytest.mark.parametrize(("name", "wanted", "outputs", "facts"), CASES,
                         ids=[f"{case[0]} {case[1]}" for case in CASES])  # fmt: skip
def test_cases(
    healthy: Facts, name: str, wanted: str, outputs: list[Output] | None, facts: dict[str, Any]
) -> None:
    finding = of(machine(healthy, outputs, **facts), name)
    assert f"{finding.state} {finding.case}" == wanted, finding
    assert finding.source or finding.state in ("absent", "unknown")


def test_every_text_of_these_checks_belongs_to_a_case() -> None:
    ids = {case[0] for case in CASES}
    used = {f"check.{case[0]}.{case[1].split()[1]}" for case in CASES}
    keys = [key for key in words.catalogue() if key.count(".") == 3 and key.split(".")[1] in ids]
    assert {key.rpartition(".")[0] for key in keys} == used
    ours = {check.id for check in CHECKS if check.id.startswith(OURS)}
    assert ours == ids


@pytest.mark.skipif(not GIVEN, reason="PADDOCK_TEST_RECORDINGS names no folder")
def test_the_toolkits_that_were_recorded() -> None:
    files = sorted((FOLDER / "versions").glob("cann-*_ascend_toolkit_install.info"))
    assert len(files) >= 5
    for file in files:
        tools = ascend.toolkits([Output(str(file), file.read_text())])
        version = file.name.removeprefix("cann-").partition("_")[0]
        layout = "new" if version.startswith("9") else "old"
        assert [(one.version, one.layout) for one in tools] == [(version, layout)]
        assert tools[0].root.endswith(version)


def test_a_healthy_machine_gets_nothing(healthy: Facts) -> None:
    assert states(machine(healthy), OURS) == {}


def test_neither_does_one_with_the_newer_layout(healthy: Facts) -> None:
    facts = machine(healthy, NEWER, folders=NEW, environment=None, linkage=None)
    assert states(facts, OURS) == {"cann-version": "warning other"}  # the releases are for 8.0


def test_nor_one_that_only_has_the_link_of_the_newer_layout(healthy: Facts) -> None:
    """The old name is kept as a link there: one toolkit, however often it is named."""
    folders = [folder(one.variable, one.path, (one.real or "").replace(f"{OLD}/8.0.0",
               f"{ASCEND}/cann-8.5.0")) for one in [*NEW, LIBRARIES]]  # fmt: skip
    found = of(machine(healthy, [*NEWER, ops()], folders=folders), "cann-several")
    assert found.state == "ok"


def test_two_toolkits_of_which_one_is_in_force(healthy: Facts) -> None:
    facts = machine(healthy, [*OUTPUTS, old_toolkit("7.0.0"), new_toolkit()])
    assert states(facts, OURS) == {}
    tools = ascend.toolkits(facts.outputs)  # type: ignore[arg-type]
    assert [(one.version, one.layout) for one in tools] == [
        ("8.0.0", "old"), ("7.0.0", "old"), ("8.5.0", "new")
    ]  # fmt: skip
    assert ascend.in_force(tools, FOLDERS) == tools[0]
    assert ascend.in_force(tools, []) is None
    assert ascend.settings(tools[0]) == f"{OLD}/set_env.sh"
    assert ascend.settings(tools[2]) == f"{ASCEND}/cann-8.5.0/set_env.sh"


def test_where_nobody_asks_for_nnal_it_need_not_be_there(healthy: Facts) -> None:
    bare = without("nnal")
    assert of(machine(healthy, bare, folders=FOLDERS[:4]), "cann-nnal").state == "apart"
    before = [driver(), old_toolkit("7.0.1")]
    facts = machine(healthy, before, folders=FOLDERS[:4], linkage=None)
    assert of(facts, "cann-nnal").state == "apart"
    needed = [Needed("libatb.so", "/opt/atb/libatb.so", FILE, "cache")]
    assert of(machine(healthy, bare, folders=FOLDERS[:4], **linked(needed=needed)),
              "cann-nnal").state == "apart"  # fmt: skip


def test_the_runtime_alone_is_a_cann_too(healthy: Facts) -> None:
    name = f"{ASCEND}/nnae/8.0.0/ascend_nnae_install.info"
    text = f"package_name=Ascend-cann-nnae\nversion=8.0.0\narch=x86_64\npath={ASCEND}/nnae/8.0.0\n"
    nnae = Output(name, text, name)
    beside = [*FOLDERS, folder("LD_LIBRARY_PATH", f"{ASCEND}/nnae/8.0.0/lib64")]
    assert states(machine(healthy, [*OUTPUTS, nnae], folders=beside), OURS) == {}
    (tool,) = ascend.toolkits([nnae])
    assert (tool.root, ascend.settings(tool)) == (
        f"{ASCEND}/nnae/8.0.0",
        f"{ASCEND}/nnae/set_env.sh",
    )


def build(folder: Path, name: str, text: str, *more: str) -> Path:
    path = folder / name
    path.with_suffix(".c").write_text(text)
    command = ["gcc", "-shared", "-fPIC", "-o", str(path), str(path.with_suffix(".c"))]
    subprocess.run([*command, f"-Wl,-soname,{name}", f"-L{folder}", *more], check=True, timeout=60)
    return path


def test_a_real_plugin_built_for_another_cann(healthy: Facts, tmp_path: Path) -> None:
    cann = tmp_path / "Ascend/cann-9.9/lib64"
    cann.mkdir(parents=True)
    build(cann, "libopapi.so", "void aclnnCast(void){} void aclnnOfOld(void){}")
    source = "void aclnnCast(void); void aclnnOfOld(void);"
    source += "void InitPlugin(void) { aclnnCast(); aclnnOfOld(); }"
    plugin = build(cann, "libpaddle-custom-npu.so", source, "-lopapi")

    def found() -> Finding:
        linkage = collect([plugin], {"LD_LIBRARY_PATH": str(cann)})
        return of(machine(healthy, linkage=linkage), "plugin-cann")

    assert found().state == "ok"
    build(cann, "libopapi.so", "void aclnnCast(void){}")
    assert (found().case, found().values["symbol"]) == ("symbol", "aclnnOfOld")
    assert found().values["library"] == str(cann / "libopapi.so")
    (cann / "libopapi.so").unlink()
    assert (found().case, found().values["name"]) == ("library", "libopapi.so")


def test_a_folder_belongs_to_where_it_really_is() -> None:
    """`latest` was found to be 8.0.0, but its libraries were linked to another version by hand."""
    tools = ascend.toolkits([old_toolkit(), old_toolkit("8.1.RC1")])
    moved = folder("LD_LIBRARY_PATH", f"{OLD}/latest/lib64", f"{OLD}/8.1.RC1/lib64")
    assert ascend.owner(tools, moved) == tools[1]
    assert ascend.owner(tools, HOME) == tools[0]
    assert ascend.owner(tools, folder("LD_LIBRARY_PATH", "/usr/lib")) is None


def test_what_the_driver_told_the_loader_is_enough(healthy: Facts) -> None:
    told = Output("/etc/ld.so.conf.d/ascend.conf", f"{ASCEND}/driver/lib64/driver\n", "x")
    folders = [LIBRARIES, PYTHON, HOME, ATB_HOME]
    facts = machine(healthy, [*OUTPUTS, told], folders=folders)
    assert of(facts, "cann-environment").state == "ok"


@pytest.mark.parametrize("value", ["", "0", "1,3,7", "0,1,2,3,4,5,6,7"])
def test_cards_that_are_there(healthy: Facts, value: str) -> None:
    facts = machine(healthy, **set_to(ASCEND_RT_VISIBLE_DEVICES=value))
    assert of(facts, "devices-visible").state == "ok"


@pytest.mark.parametrize("value", ["all", "0-2,4", "Ascend910-4", "4"])
def test_what_a_container_runtime_takes(healthy: Facts, value: str) -> None:
    facts = machine(healthy, machine=CONTAINER, **set_to(ASCEND_VISIBLE_DEVICES=value))
    assert of(facts, "devices-visible").state == "ok"


def test_of_what_cannot_be_counted_nothing_is_said(healthy: Facts) -> None:
    facts = machine(healthy, nodes=Unread("x"), **set_to(ASCEND_RT_VISIBLE_DEVICES="0,9"))
    assert of(facts, "devices-visible").state == "ok"


def gcu(healthy: Facts, **changes: Any) -> Facts:
    """A container with card 3 of a machine with S60."""
    values = {"target": "s60", "device": "gcu", "stack": load(stack_file("s60")), "outputs": [],
              "nodes": [node("/dev/gcu3"), node("/dev/gcuctl")], "accelerators": [S60],
              "machine": CONTAINER}  # fmt: skip
    return msgspec.structs.replace(healthy, **(values | changes))


@pytest.mark.parametrize(("value", "case"), [("0", "ok"), ("3", "ok"), ("0,1", "absent")])
def test_the_cards_of_enflame(healthy: Facts, value: str, case: str) -> None:
    assert of(gcu(healthy, **set_to(TOPS_VISIBLE_DEVICES=value)), "devices-visible").case == case


@pytest.mark.parametrize(
    ("value", "case"), [("all", "inactive"), ("0", "inactive"), ("none", "ok")]
)
def test_a_container_that_got_no_card(healthy: Facts, value: str, case: str) -> None:
    facts = gcu(healthy, nodes=[], **set_to(ENFLAME_VISIBLE_DEVICES=value))
    assert of(facts, "devices-visible").case == case


@pytest.mark.parametrize(("version", "state"), [("3.0.0", "ok"), ("3.1.1", "warning")])
def test_the_plugin_of_enflame(healthy: Facts, version: str, state: str) -> None:
    there = environment(("paddle-custom-npu",), paddle_custom_gcu=version)
    assert of(gcu(healthy, environment=there), "plugin-pair").state == state


@pytest.mark.parametrize("values", [
    {"HCCL_INTRA_PCIE_ENABLE": "0", "HCCL_INTRA_ROCE_ENABLE": "1"},  # as PaddleNLP's scripts do
    {"HCCL_CONNECT_TIMEOUT": "7200", "HCCL_EXEC_TIMEOUT": "0.05", "HCCL_BUFFSIZE": "120"},
    {"HCCL_WHITELIST_DISABLE": "1", "HCCL_IF_IP": "fe80::1%eth0", "HCCL_RDMA_TC": "132"},
    {"HCCL_OF_TOMORROW": "x"},
])  # fmt: skip
def test_hccl_settings_that_are_fine(healthy: Facts, values: dict[str, str]) -> None:
    assert of(machine(healthy, **set_to(**values)), "hccl-settings").state == "ok"


@pytest.mark.parametrize("version", ["3.0.0", "3.0.0+git1", "0.0.0.c8ed610", "0.0.0"])
def test_plugins_against_which_nothing_is_known(healthy: Facts, version: str) -> None:
    facts = machine(healthy, **has(paddle_custom_npu=version))
    assert of(facts, "plugin-pair").state == "ok"


@pytest.mark.parametrize("tag", ["cp310-cp310-manylinux_2_28_x86_64", "py3-none-any",
                                 "cp38-abi3-linux_x86_64"])  # fmt: skip
def test_wheels_that_fit(healthy: Facts, tag: str) -> None:
    assert of(machine(healthy, **tagged(tag)), "plugin-tag").state == "ok"


def test_a_toolkit_that_is_not_in_force_explains_a_library_that_is_not_found(
    healthy: Facts,
) -> None:
    facts = machine(healthy, folders=[], **lost("libhccl.so", "CANN toolkit", f"{OLD}/x.so"))
    found = of(facts, "plugin-cann")
    assert (found.state, found.follows) == ("follows", "cann-environment")


def test_a_version_of_the_c_library_that_is_higher_here(healthy: Facts) -> None:
    runtime = changed(RUNTIME, libc=Levels("/usr/lib/libc.so.6", "2.9", None, None))
    facts = machine(healthy, runtime=runtime)
    assert of(facts, "plugin-libc").values["version"] == "GLIBC_2.31"


@pytest.mark.parametrize("field", ["outputs", "folders", "variables", "environment", "linkage",
                                   "accelerators", "nodes", "machine", "runtime"])  # fmt: skip
def test_a_fact_that_could_not_be_read(healthy: Facts, field: str) -> None:
    found = ask(changed(machine(healthy), **{field: Unread("no answer within 10 s")}))
    ours = [one for one in found if one.id.startswith(OURS)]
    assert {one.state for one in ours} <= {"ok", "apart", "unknown", "follows"}
    assert all(one.case in ("ok", "unread") for one in ours)


@pytest.mark.parametrize("text", ["", "Version=\n", "version=x\npackage_name=Ascend-cann-toolkit",
                                  "a layout of tomorrow"])  # fmt: skip
def test_a_version_file_of_tomorrow(healthy: Facts, text: str) -> None:
    outputs = [changed(one, text=text) for one in OUTPUTS]
    assert all(one.case != "crashed" for one in ask(machine(healthy, outputs)))


VALUES = st.text(st.characters(max_codepoint=0x2FF), max_size=40)
NAMES = st.sampled_from(["ASCEND_RT_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES", "HCCL_IF_IP",
                         "HCCL_CONNECT_TIMEOUT", "FLAGS_selected_npus"])  # fmt: skip


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_no_text_makes_a_check_crash(healthy: Facts, data: st.DataObject) -> None:
    outputs = []
    for one in OUTPUTS:
        cut = data.draw(st.integers(0, len(one.text)))
        outputs.append(changed(one, text=one.text[:cut] + data.draw(VALUES) + one.text[cut + 3 :]))
    versions = data.draw(st.dictionaries(
        st.sampled_from(["numpy", "paddlepaddle", "paddle_custom_npu", "paddlenlp", "torch",
                         "torch_npu"]), VALUES))  # fmt: skip
    wheel = data.draw(VALUES)
    facts = machine(
        healthy, outputs, variables=data.draw(st.dictionaries(NAMES, VALUES)),
        environment=changed(environment(**versions), wheels={"paddle-custom-npu": [wheel]}),
    )  # fmt: skip
    assert [one for one in ask(facts) if one.case == "crashed"] == []
