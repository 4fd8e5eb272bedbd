"""The facts of machines with vendor cards, and what the tests ask of their findings."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from checks.doctor.examine import ask
from checks.machine.finding import Finding
from provision import words
from provision.facts.kernel import Kernel
from provision.facts.kernel_modules import Module, ModuleFile
from provision.facts.nodes import Node
from provision.facts.pci import Device
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.stack import load, stack_file
from tests.doctor.values import changed

MODULE = ModuleFile(
    "5.15.0-9-generic", "enflame", "Enflame", "/lib/modules/x/enflame.ko", "5.15.0-9-generic SMP",
    "1.2.0.301",
)  # fmt: skip
KERNEL = Kernel(
    release="5.15.0-9-generic", command_line=[], headers=True, others=[],
    loaded=[Module("enflame", "Enflame", "1.2.0.301")], files=[MODULE], dkms=[],
    secure_boot=False, vfio=[],
)  # fmt: skip
S60 = Device(
    slot="0000:01:00.0", vendor="1e36", device="c035", subsystem=None, numa_node=0,
    vendor_name="Enflame", name="Enflame S60", generation="GCU generation 3", board=None,
    target="s60", link_width=16, driver="enflame",
)  # fmt: skip
A2 = changed(S60, vendor="19e5", device="d802", vendor_name="Huawei", name="Ascend 910B",
             generation="Ascend 910B (A2)", target="ascend910b", driver="devdrv")  # fmt: skip


def node(path: str, **more: Any) -> Node:
    """A node that this user may open."""
    made = Node(path, "Enflame", "char", "0666", 0, 0, "root", "root", True, True, 240, 0)
    return msgspec.structs.replace(made, **more)


NODES = [node("/dev/gcu0"), node("/dev/gcu1"), node("/dev/gcuctl")]


def table(ecc: tuple[str, str] = ("Enable", "Enable"), tool: str = "1.2.0.301",
          driver: str = "1.2.0.301", cards: int = 2) -> str:  # fmt: skip
    """What `efsmi` prints, with values of our own."""
    rows = [
        f"| {n}      S60                 | 33.6.9          | 00:0{n}:00.0  {ecc[n]:<14}|\n"
        f"| 41 C   Sleep    101W  300W | {42976 if ecc[n] == 'Enable' else 49120}MiB Disable"
        f"|   0.0%      D000000000000 |\n"
        for n in range(cards)
    ]
    return (
        f"|EFSMI    V{tool}       Driver Ver: {driver}                           |\n"
        "| DEV    NAME                | FW VER          | BUS-ID      ECC           |\n"
        "| TEMP   Dpm   Pwr(Usage/Cap)| Mem     GCU Virt| DUsed       SN            |\n"
        + "".join(rows)
    )


def query(first: dict[str, str] | None = None, total_dbe: str = "Total DBE") -> str:
    """What `efsmi -q` prints for two cards; `first` are other values of the first card."""
    values = {"Health": "True", "Flags": "False", "DBE": "0", "Status": "Normal",
              "Current": "Enable", "Pending": "Enable", "Width": "X16"}  # fmt: skip
    return "".join(
        f"DEV ID {number}\n    Driver Info\n        Ver : 1.2.0.301\n    Device Info\n"
        f"        Dev Name : S60\n        Health : {card['Health']}\n    PCIe Info\n"
        f"        Link Info\n        Max Link Width : X16\n"
        f"        Cur Link Width : {card['Width']}\n"
        f"    ECC Mode\n        Current : {card['Current']}\n        Pending : {card['Pending']}\n"
        f"    RMA Info\n        Flags : {card['Flags']}\n        {total_dbe} : {card['DBE']}\n"
        f"    Power Cable\n        Status : {card['Status']}\n"
        for number, card in enumerate((values | (first or {}), values))
    )


def dpkg(**others: str) -> str:
    """`dpkg -l` of the Tops packages; `others` are other states or versions by a name's words."""
    names = {"topsfactor": "ii 1.5.0.601-1", "tops_sdk": "ii 1.5.0.601-1",
             "eccl": "ii 3.6.3.11", "topsaten": "ii 1.5.0.601-1"}  # fmt: skip
    rows = [value.split() for value in (names | others).values()]
    pairs = zip(names | others, rows, strict=True)
    return "ii  bash  5.2-1  amd64  shell\n" + "".join(
        f"{row[0]}  {name.replace('_', '-')}  {row[1]}  amd64  demo\n"
        for name, row in pairs if row[0] != "no"
    )  # fmt: skip


INFO = {"ServerVersion": "26.1", "Driver": "overlay2", "DefaultRuntime": "enflame",
        "Runtimes": {"runc": {}, "enflame": {}}, "CgroupDriver": "systemd"}  # fmt: skip


def docker_info(**others: Any) -> Output:
    """The answer of an engine."""
    return Output(
        "docker info --format {{json .}}", json.dumps(INFO | others), "/usr/bin/docker", 0
    )


def docker_version(runc: str) -> Output:
    """The versions of an engine's parts."""
    client = {"Client": {"Version": "26.1", "ApiVersion": "1.45"}}
    server = {"Server": {"Version": "26.1", "Components": [{"Name": "runc", "Version": runc}]}}
    text = json.dumps(client | server)
    return Output("docker version --format {{json .}}", text, "/usr/bin/docker", 0)


OUTPUTS = {
    "efsmi": Output("efsmi", table(), "/usr/local/bin/efsmi", 0),
    "query": Output("efsmi -q", query(), "/usr/local/bin/efsmi", 0),
    "dpkg": Output("dpkg -l", dpkg(), "/usr/bin/dpkg", 0),
    "info": docker_info(),
    "version": docker_version("1.1.12"),
}


def gcu(healthy: Facts, outputs: dict[str, Output] | None = None, **changes: Any) -> Facts:
    """A healthy machine with two S60; `outputs` replace those of these names, "" takes one away."""
    shown = [one for one in (OUTPUTS | (outputs or {})).values() if one.source]
    values = {
        "target": "s60", "device": "gcu", "stack": load(stack_file("s60")), "kernel": KERNEL,
        "accelerators": [S60, changed(S60, slot="0000:02:00.0")], "nodes": NODES, "outputs": shown,
        "variables": {"PATH": "/usr/local/bin:/usr/bin"}, "environment": None,
    }  # fmt: skip
    return msgspec.structs.replace(healthy, **(values | changes))


def npu(healthy: Facts, outputs: list[Output], **changes: Any) -> Facts:
    """A machine with an Ascend 910B, of which these outputs are known."""
    values = {"target": "ascend910b", "device": "npu", "stack": load(stack_file("ascend910b")),
              "accelerators": [A2], "outputs": outputs, "environment": None}  # fmt: skip
    return msgspec.structs.replace(healthy, **(values | changes))


def of(facts: Facts, name: str) -> Finding:
    """The finding of one check, with all sentences that its state asks for."""
    finding = next(finding for finding in ask(facts) if finding.id == name)
    if finding.state not in ("ok", "apart", "follows") and finding.case != "unread":
        for language in words.LANGUAGES:
            words.speak(language)
            parts = [finding.part(part) for part in ("what", "cause", "fix")]
            assert all(parts) and not any("{" in part for part in parts), finding
        words.speak("en")
        assert finding.evidence and all(one.line and one.where for one in finding.evidence)
    return finding


def states(facts: Facts, beginnings: tuple[str, ...]) -> dict[str, str]:
    """What is not well among the checks whose ids begin so: `case` by id."""
    well = ("ok", "apart", "follows")
    found = [one for one in ask(facts) if one.id.startswith(beginnings) and one.state not in well]
    return {one.id: f"{one.state} {one.case}" for one in found}


def told(beginnings: tuple[str, ...]) -> set[tuple[str, str]]:
    """The cases that the catalogue has sentences for: id and case."""
    keys = [key.split(".") for key in words.catalogue() if key.endswith(".what")]
    return {(key[1], key[2]) for key in keys if key[0] == "check" and key[1].startswith(beginnings)}
