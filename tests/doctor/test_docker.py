"""The checks of the container engine, and of the limits of this process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from checks.doctor.examine import ask
from provision.facts import container_engine
from provision.facts.limits import UNLIMITED, Limit
from provision.facts.questions import Command, Output
from provision.facts.questions import ask as ask_program
from provision.facts.snapshot import Facts, Unread
from tests.doctor.values import LIMITS, MACHINE, changed
from tests.doctor.vendor import OUTPUTS, docker_info, docker_version, gcu, npu, of, states, told

_ASKED = "docker info --format {{json .}}"
_DOWN = "Cannot connect to the Docker daemon at unix:///demo.sock. Is the docker daemon running?"
_CLIENT = json.dumps({"ServerVersion": "", "Driver": "", "Runtimes": None})
_DENIED = "permission denied while trying to connect to the Docker daemon socket at unix:///demo"
_FILE = "/etc/docker/daemon.json"
_TOOLKIT = "ii  enflame-container-toolkit  2.0.48  amd64  x\n"


@pytest.fixture(autouse=True)
def language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_LANG", "en")


def info(text: str = "", **more: Any) -> dict[str, Output]:
    return {"info": Output(_ASKED, text, "/usr/bin/docker", **more)}


def daemon(text: str) -> dict[str, Output]:
    return {"daemon": Output(_FILE, text)}


def engine(**changes: Any) -> dict[str, Output]:
    return {"info": docker_info(**changes)}


def runc(version: str) -> dict[str, Output]:
    return {"version": docker_version(version)}


BARE = engine(Runtimes={"runc": {}}, DefaultRuntime="runc")
RUNTIMES = '"runtimes": {"enflame": {"path": "/usr/bin/enflame-container-runtime"}}'

CASES: list[tuple[str, str, dict[str, Output]]] = [
    ("docker-settings", "error broken", daemon('{"default-runtime": "enflame",}')),
    ("docker-settings", "ok ok", daemon('{"log-driver": "journald"}')),
    ("docker-settings", "ok ok", daemon("")),
    ("docker-settings", "apart ok", {}),
    ("docker-reachable", "absent none", info(problem="absent")),
    ("docker-reachable", "warning silent", info(problem="silent")),
    ("docker-reachable", "warning down", info(f"{_CLIENT}\n{_DOWN}", status=1)),
    ("docker-reachable", "warning permission", info(f"{_CLIENT}\n{_DENIED}", status=1)),
    ("docker-reachable", "unknown strange", info("what is this", status=0)),
    ("docker-runtime", "warning default", engine(DefaultRuntime="runc")),
    ("docker-runtime", "absent none", BARE),
    ("docker-runtime", "warning kept",
     BARE | {"dpkg": changed(OUTPUTS["dpkg"], text=OUTPUTS["dpkg"].text + _TOOLKIT)}),
    ("docker-runtime", "warning restart", BARE | daemon(f"{{{RUNTIMES}}}")),
    ("docker-runtime", "warning restart",
     engine(DefaultRuntime="runc") | daemon(f'{{{RUNTIMES}, "default-runtime": "enflame"}}')),
    ("docker-runtime", "ok ok", daemon(f'{{{RUNTIMES}, "default-runtime": "enflame"}}')),
    ("docker-runtime", "apart ok", info(f"{_CLIENT}\n{_DOWN}", status=1)),
    ("docker-runc", "warning old", runc("1.1.3")),
    ("docker-runc", "warning old", runc("1.1.5+ds1")),
    ("docker-runc", "ok ok", runc("1.1.7")),
    ("docker-runc", "ok ok", runc("1.2.0-rc.1")),
    ("docker-runc", "ok ok", runc("1.1.3") | engine(CgroupDriver="cgroupfs")),
    ("docker-runc", "unknown version", runc("unknown")),
    ("docker-runc", "unknown unread", {"version": Output("")}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ({"Engine": "20.10.12", "containerd": "1.5.9", "enflame": "1.1.3"}, "1.1.3"),
        ({"ascend": "1.1.13", "docker-init": "0.19.0"}, "1.1.13"),
        ({"rootlesskit": "2.0.2", "slirp4netns": "1.2.1", "runc": "1.2.5"}, "1.2.5"),
        ({"Engine": "28.1", "containerd": "1.7", "crun": "1.14", "docker-init": "0.19.0"}, None),
        ({"rootlesskit": "2.0.2", "VPNKit": "1"}, None),
    ],
)
def test_runc_has_the_name_of_the_runtime_by_default(
    parts: dict[str, str], wanted: str | None
) -> None:
    rows = [{"Name": name, "Version": version} for name, version in parts.items()]
    client = {"Version": "28.1", "ApiVersion": "1.45"}
    text = "\n".join(
        ["Client:", " Version: 28.1", " API version: 1.45", "", "Server:"]
        + [f" {name}:\n  Version: {version}" for name, version in parts.items()]
    )
    asked = json.dumps({"Client": client, "Server": {"Version": "28.1", "Components": rows}})
    for said in (asked, text):
        output = Output("docker version", said, "/usr/bin/docker", 0)
        found = container_engine.runc_version([output])
        assert (found and found[0]) == wanted


def test_every_sentence_belongs_to_a_case() -> None:
    shown = {(name, wanted.split()[1]) for name, wanted, *_ in CASES}
    assert told(("docker-",)) - shown == set()


@pytest.mark.parametrize("given", CASES, ids=lambda given: f"{given[0]}-{given[1]}")
def test_cases(healthy: Facts, given: tuple[str, str, dict[str, Output]]) -> None:
    name, wanted, outputs = given
    finding = of(gcu(healthy, outputs), name)
    assert f"{finding.state} {finding.case}" == wanted


def test_a_broken_file_explains_an_engine_that_is_down(healthy: Facts) -> None:
    outputs = info(f"{_CLIENT}\n{_DOWN}", status=1) | daemon("{")
    assert list(states(gcu(healthy, outputs), ("docker-",))) == ["docker-settings"]
    evidence = of(gcu(healthy, outputs), "docker-settings").evidence[0]
    assert "line 1" in evidence.line and evidence.where == _FILE


def test_without_an_engine_nothing_else_is_asked(healthy: Facts) -> None:
    facts = gcu(healthy, info(problem="absent") | {"version": Output("")})
    assert list(states(facts, ("docker-",))) == ["docker-reachable"]


def test_in_a_container_no_engine_is_missed(healthy: Facts) -> None:
    inside = {"machine": changed(MACHINE, container="docker")}
    facts = gcu(healthy, info(problem="absent") | {"version": Output("")}, **inside)
    assert states(facts, ("docker-",)) == {}


def test_a_program_that_fails_is_quoted_with_both_of_its_streams() -> None:
    def said(script: str) -> str:
        asked = Command(command=["sh", "-c", script], limit=10, source="demo", seen="2026-11")
        return ask_program(asked).text

    assert said("echo out; echo err >&2; exit 1") == "out\nerr"
    assert said("echo out; echo err >&2") == "out\n"
    assert said("echo err >&2") == "err"


def test_the_reason_of_the_client_is_the_evidence(healthy: Facts) -> None:
    finding = of(gcu(healthy, info(f"{_CLIENT}\n{_DENIED}", status=1)), "docker-reachable")
    assert finding.evidence[0].line == _DENIED


def test_ascend_is_fine_with_runc_as_default_and_told_when_its_runtime_is_not_known(
    healthy: Facts,
) -> None:
    known = docker_info(Runtimes={"runc": {}, "ascend": {}}, DefaultRuntime="runc")
    assert of(npu(healthy, [known]), "docker-runtime").state == "ok"
    listed = Output("/etc/ascend-docker-runtime.d/base.list", "/usr/local/dcmi\n")
    bare = docker_info(Runtimes={"runc": {}}, DefaultRuntime="runc")
    assert of(npu(healthy, [bare, listed]), "docker-runtime").case == "kept"
    assert of(npu(healthy, [bare]), "docker-runtime").case == "none"


def test_a_loopback_machine_is_not_asked(healthy: Facts) -> None:
    found = [one for one in ask(healthy) if one.id.startswith(("docker-", "gcu-", "container-"))]
    assert found and {one.state for one in found} == {"apart"}
    assert of(healthy, "machine-shm").state == "apart"


@pytest.mark.parametrize(
    ("changes", "name", "wanted"),
    [
        ({"open_files": Limit(256, 4096)}, "machine-limits", "warning files"),
        ({"open_files": Limit(256, 256)}, "machine-limits", "warning files"),
        ({"processes": Limit(100, UNLIMITED)}, "machine-limits", "warning threads"),
        ({"processes": Limit(UNLIMITED, UNLIMITED)}, "machine-limits", "ok ok"),
        ({"processes": Limit(None, None)}, "machine-limits", "ok ok"),
        ({"shm_size": 64 << 20}, "machine-shm", "warning host"),
        ({"shm_size": 1 << 30}, "machine-shm", "ok ok"),
        ({"shm_size": None}, "machine-shm", "unknown unread"),
    ],
)
def test_limits(healthy: Facts, changes: dict[str, Any], name: str, wanted: str) -> None:
    finding = of(gcu(healthy, limits=changed(LIMITS, **changes)), name)
    assert f"{finding.state} {finding.case}" == wanted


def test_a_command_that_cannot_help_is_not_given(healthy: Facts) -> None:
    low = gcu(healthy, limits=changed(LIMITS, open_files=Limit(256, 256)))
    assert of(low, "machine-limits").command == ""
    raised = gcu(healthy, limits=changed(LIMITS, open_files=Limit(256, 4096)))
    assert of(raised, "machine-limits").command == "ulimit -n 1024"


def test_shared_memory_in_a_container_and_unread_limits(healthy: Facts) -> None:
    inside = {"machine": changed(MACHINE, container="docker")}
    small = gcu(healthy, limits=changed(LIMITS, shm_size=64 << 20), **inside)
    assert of(small, "machine-shm").case == "container"
    unread = changed(healthy, limits=Unread("no answer"))
    assert of(unread, "machine-limits").state == "unknown"
