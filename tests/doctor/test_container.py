"""The checks of a container that the user names, and how its engine is asked."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.doctor import visit
from checks.doctor.examine import ask
from checks.machine import in_container
from provision.errors import PaddockError
from provision.facts import image_name, named_container
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from tests.doctor.values import changed
from tests.doctor.vendor import A2, gcu, npu, of, states, table, told

_NPU = ["/dev/davinci0", "/dev/davinci1", "/dev/davinci_manager", "/dev/devmm_svm",
        "/dev/hisi_hdc"]  # fmt: skip
_MOUNTS = ["/usr/local/dcmi", "/usr/local/sbin/npu-smi", "/usr/local/Ascend/driver",
           "/etc/ascend_install.info"]  # fmt: skip
_DRIVER = "Version=23.0.3\nascendhal_version=7.35.19\ncompatible_version_fw=[7.0.0,7.1.99]\n"


@pytest.fixture(autouse=True)
def language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_LANG", "en")


def inspect(**changes: Any) -> Output:
    """What an engine says about a container that is well on an Ascend machine."""
    given: dict[str, Any] = {
        "devices": _NPU, "mounts": _MOUNTS, "env": [], "image": "demo:1", "shm": 4 << 30,
        "state": {"Status": "running"}, "host": {},
    } | changes  # fmt: skip
    row = {
        "Name": "/demo",
        "State": given["state"],
        "Config": {"Image": given["image"], "Env": given["env"]},
        "HostConfig": {
            "Runtime": "runc", "Privileged": False, "ShmSize": given["shm"], "IpcMode": "private",
            "Devices": [{"PathOnHost": path, "PathInContainer": path} for path in given["devices"]],
        } | given["host"],
        "Mounts": [{"Source": path, "Destination": path, "RW": False} for path in given["mounts"]],
    }  # fmt: skip
    return Output("docker inspect demo", json.dumps([row]), "/usr/bin/docker", 0)


BARE: dict[str, Any] = {"devices": [], "mounts": []}
RUNTIME = {"host": {"Runtime": "ascend"}}
ASKS = {"env": ["ASCEND_VISIBLE_DEVICES=0-1"]}
PRIVILEGED = {"host": {"Privileged": True}}

CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("container-running", "error memory", {"state": {"Status": "exited", "OOMKilled": True}}),
    ("container-running", "error refused", {"state": {"Status": "created", "Error": "no\n x"}}),
    ("container-running", "error paused", {"state": {"Status": "paused"}}),
    ("container-running", "error created", {"state": {"Status": "created"}}),
    ("container-running", "error restarting", {"state": {"Status": "restarting", "ExitCode": 1}}),
    ("container-running", "error killed", {"state": {"Status": "exited", "ExitCode": 137}}),
    ("container-running", "error ended", {"state": {"Status": "exited", "ExitCode": 3}}),
    ("container-running", "unknown unread", {"state": {}}),
    ("container-runtime", "error other", BARE | ASKS),
    ("container-runtime", "error not-asked", BARE | RUNTIME),
    ("container-runtime", "error not-asked", BARE | RUNTIME | {"env": ["ASCEND_VISIBLE_DEVICES="]}),
    ("container-runtime", "ok ok", BARE | RUNTIME | ASKS),
    ("container-runtime", "ok ok", BARE | ASKS | PRIVILEGED),
    ("container-environment", "error host-ids", {"env": ["ASCEND_RT_VISIBLE_DEVICES=0,2"]}),
    ("container-environment", "ok ok", {"env": ["ASCEND_RT_VISIBLE_DEVICES=0,1"]}),
    ("container-environment", "ok ok", {"env": ["ASCEND_RT_VISIBLE_DEVICES=all"]}),
    ("container-environment", "error host-ids", BARE | RUNTIME | {
        "env": ["ASCEND_VISIBLE_DEVICES=4,5", "ASCEND_RT_VISIBLE_DEVICES=4,5"]}),
    ("container-devices", "error none", BARE),
    ("container-devices", "error missing", {"devices": _NPU[:-1]}),
    ("container-devices", "error missing", {"devices": _NPU[2:]}),
    ("container-devices", "error misnamed", {
        "devices": [*_NPU[:2], "/dev/dav_manager", *_NPU[3:]]}),
    ("container-devices", "ok ok", BARE | PRIVILEGED),
    ("container-devices", "ok ok", BARE | RUNTIME | ASKS),
    ("container-mounts", "error libraries", {"mounts": []}),
    ("container-mounts", "warning partly", {"mounts": _MOUNTS[:-1]}),
    ("container-mounts", "ok ok", {"mounts": _MOUNTS[:-1]} | PRIVILEGED),
    ("container-mounts", "ok ok", BARE | RUNTIME | ASKS),
    ("container-settings", "warning shm", {"shm": 64 << 20}),
    ("container-settings", "ok ok", {"shm": 64 << 20, "host": {"IpcMode": "host"}}),
    ("container-settings", "ok ok", {"shm": 64 << 20, "mounts": [*_MOUNTS, "/dev/shm"]}),  # noqa: S108
    ("container-settings", "warning privileged", PRIVILEGED),
    ("container-image", "error chip", {"image": "demo.example/cann:8.0.0-310p-ubuntu22.04-py3.10"}),
    ("container-image", "error chip", {"image": "vllm-ascend:v0.11.0-a3"}),
    ("container-image", "error chip", {"image": "paddle-npu:cann70RC1-910A-py39"}),
    ("container-image", "ok ok", {"image": "llamafactory:latest-npu-a2"}),
    ("container-image", "ok ok", {"image": "cann:8.0.rc1-910b-openeuler"}),
    ("container-image", "ok ok", {"image": "paddle-npu:cann800-ubuntu20-npu-910b-base"}),
    ("container-image", "warning cann", {"image": "cann:8.2.rc1-910b-ubuntu22.04-py3.11"}),
]  # fmt: skip


def ascend(healthy: Facts, **changes: Any) -> Facts:
    driver = Output("/usr/local/Ascend/driver/version.info", _DRIVER)
    return npu(healthy, [inspect(**changes), driver])


def test_a_container_that_is_well(healthy: Facts) -> None:
    assert states(ascend(healthy), ("container-",)) == {}


def test_without_a_name_nothing_is_asked(healthy: Facts) -> None:
    found = [one for one in ask(npu(healthy, [])) if one.id.startswith("container-")]
    assert found and {one.state for one in found} == {"apart"}


def test_every_sentence_belongs_to_a_case() -> None:
    shown = {(name, wanted.split()[1]) for name, wanted, *_ in CASES} | {
        ("container-mounts", "folder"),
        ("container-image", "tops"),
        ("container-image", "fails"),
    }  # these have tests of their own
    assert told(("container-",)) - shown == set()


@pytest.mark.parametrize("given", CASES, ids=lambda given: f"{given[0]}-{given[1]}")
def test_cases(healthy: Facts, given: tuple[str, str, dict[str, Any]]) -> None:
    name, wanted, changes = given
    finding = of(ascend(healthy, **changes), name)
    assert f"{finding.state} {finding.case}" == wanted


def test_only_the_cause_is_told(healthy: Facts) -> None:
    assert list(states(ascend(healthy, **BARE, **ASKS), ("container-",))) == ["container-runtime"]


def test_a_file_that_docker_made_a_folder_of(healthy: Facts) -> None:
    line = "drwxr-xr-x 2 root root 4096 Jan  1 00:00 /usr/local/sbin/npu-smi\n"
    listed = Output("ls -ld /usr/local/sbin/npu-smi", line)
    finding = of(npu(healthy, [inspect(), listed]), "container-mounts")
    assert (finding.case, finding.values["path"]) == ("folder", "/usr/local/sbin/npu-smi")
    file = changed(listed, text=line.replace("drwx", "-rwx"))
    assert of(npu(healthy, [inspect(), file]), "container-mounts").state == "ok"


def test_what_is_meant_and_what_is_missing_are_named(healthy: Facts) -> None:
    typo = ascend(healthy, devices=[*_NPU[:2], "/dev/dav_manager", *_NPU[3:]])
    assert of(typo, "container-devices").values["meant"] == "/dev/davinci_manager"
    cut = of(ascend(healthy, devices=_NPU[:-1]), "container-devices")
    assert cut.values["options"] == "--device /dev/hisi_hdc"


def test_an_image_for_another_chip_than_a_card_that_is_not_known_is_not_judged(
    healthy: Facts,
) -> None:
    facts = changed(ascend(healthy, image="cann:8.0.0-310p-x"),
                    accelerators=[A2, changed(A2, generation=None)])  # fmt: skip
    assert of(facts, "container-image").state == "ok"


def test_an_enflame_container(healthy: Facts) -> None:
    nodes = ["/dev/gcu0", "/dev/gcuctl"]
    shown = {"one": inspect(devices=nodes, mounts=[], image="paddle-gcu:topsrider3.2.109-gcc84")}
    assert states(gcu(healthy, shown), ("container-",)) == {}
    without = {"one": inspect(devices=nodes[1:], mounts=[])}
    assert of(gcu(healthy, without), "container-devices").values["missing"] == "/dev/gcu*"
    asks = {"one": inspect(devices=[], mounts=[], env=["TOPS_VISIBLE_DEVICES=0"])}
    assert of(gcu(healthy, asks), "container-runtime").case == "other"
    newer = {"one": inspect(devices=nodes, mounts=[], image="paddle-gcu:topsrider3.5.102-gcc84")}
    assert of(gcu(healthy, newer), "container-image").case == "tops"


def test_an_image_that_its_maker_excludes_for_the_driver(healthy: Facts) -> None:
    driver = Output("/usr/local/Ascend/driver/version.info", _DRIVER.replace("23.0.3", "25.0.3"))
    facts = npu(healthy, [inspect(image="cann:9.1.0-910b-ubuntu22.04-py3.11"), driver])
    assert of(facts, "container-image").case == "fails"


def test_an_image_with_the_driver_that_it_is_documented_with(healthy: Facts) -> None:
    text = table(tool="1.5.0.5", driver="1.5.0.5")
    shown = {"efsmi": Output("efsmi", text, "/usr/local/bin/efsmi", 0),
             "one": inspect(devices=["/dev/gcu0", "/dev/gcuctl"], mounts=[],
                            image="paddle-gcu:topsrider3.5.102-ubuntu20")}  # fmt: skip
    assert of(gcu(healthy, shown), "container-image").state == "ok"


@pytest.mark.parametrize(
    ("image", "cann", "tops"),
    [
        ("a.example:5000/x/cann:8.5.0-910b-ubuntu22.04-py3.11", "8.5.0", None),
        ("paddle-npu:cann80RC1-ubuntu20-x86_64-gcc84-py39", "8.0.RC1", None),
        ("paddle-npu:cann800-ubuntu20-npu-310p-base-aarch64-gcc84", "8.0.0", None),
        ("paddle-npu:cann80T13-ubuntu20-x86_64-gcc84-py39", "8.0.T13", None),
        ("cann:8.2.rc1.alpha003-910b-ubuntu22.04", "8.2.rc1.alpha003", None),
        ("paddle-gcu:topsrider3.2.109-ubuntu20-x86_64-gcc84", None, "3.2.109"),
        ("debian:12", None, None),
        ("scanner:8.5.0", None, None),
        ("sha256:0123456789abcdef", None, None),
        ("", None, None),
    ],
)
def test_names_of_images(image: str, cann: str | None, tops: str | None) -> None:
    assert (image_name.cann(image), image_name.topsrider(image)) == (cann, tops)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("0,1,3", [0, 1, 3]), ("0-2", [0, 1, 2]), ("all", None), ("", None), ("0,,1", None)],
)
def test_lists_of_cards(text: str, numbers: list[int] | None) -> None:
    assert in_container.numbers_of(text) == numbers


_ENGINE = """#!/bin/sh
case "$*" in
  "container inspect demo") cat "$(dirname "$0")/answer" ;;
  "container inspect"*) echo "[]"; echo "Error: No such container" >&2; exit 1 ;;
  "ps --all"*) echo demo; echo other ;;
esac
"""


def engine(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, script: str) -> None:
    """A program in place of the engine."""
    program = folder / name
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    there = {one: os.fspath(folder / one) for one in (name,)}
    monkeypatch.setattr("shutil.which", lambda one: there.get(one) if program.exists() else None)


@pytest.mark.parametrize("name", ["docker", "podman"])
def test_the_engine_is_asked_and_no_secret_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    engine(tmp_path, monkeypatch, name, _ENGINE)
    mounted = tmp_path / "npu-smi"
    mounted.mkdir()
    env = ["HF_TOKEN=hf_demo", "ASCEND_VISIBLE_DEVICES=0", "HTTPS_PROXY=http://me:pw@demo.example"]
    answer = inspect(env=env, mounts=[os.fspath(mounted)])
    (tmp_path / "answer").write_text(answer.text)
    outputs = named_container.outputs("demo")
    assert outputs[0].source == f"{name} inspect demo"
    assert "hf_demo" not in outputs[0].text and ":pw@" not in outputs[0].text
    found = named_container.inspected(outputs)
    assert found and found[0].environment == {"ASCEND_VISIBLE_DEVICES": "0"}
    assert found[0].inside == _NPU and named_container.folders(outputs) == {os.fspath(mounted)}


def test_a_name_that_is_not_there_and_an_engine_that_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(tmp_path, monkeypatch, "docker", _ENGINE)
    for name in ("nobody", "two words", "--all"):
        with pytest.raises(PaddockError) as raised:
            named_container.outputs(name)
        assert raised.value.code == "bad-option" and "demo, other" in raised.value.part("cause")
    (tmp_path / "docker").unlink()
    with pytest.raises(PaddockError) as raised:
        named_container.outputs("demo")
    assert raised.value.code == "engine-absent" and "docker, podman" in raised.value.part("what")


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock."
         " Is the docker daemon running?", "engine-absent"),
        ('permission denied while trying to connect to the Docker daemon socket at'
         ' unix:///var/run/docker.sock: Get "http://%2Fvar", dial: connect: permission denied',
         "engine-denied"),
        ("Cannot connect to Podman. Please verify your connection: no such file", "engine-absent"),
    ],
)  # fmt: skip
def test_an_engine_that_does_not_answer_has_the_words_of_all_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, code: str
) -> None:
    engine(tmp_path, monkeypatch, "docker", f"#!/bin/sh\necho '{said}' >&2; exit 1\n")
    with pytest.raises(PaddockError) as raised:
        named_container.outputs("demo")
    where = "unix:///var/run/docker.sock" if "unix" in said else "docker"
    assert (raised.value.code, raised.value.details) == (code, (said,))
    assert raised.value.values["where"] == where


def test_a_container_is_of_this_machine_not_of_a_snapshot() -> None:
    for other in ("from", "list", "compare"):
        with pytest.raises(PaddockError) as raised:
            visit.refuse_mixed({"container": "demo", other: "x"})
        assert raised.value.code == "flags-apart"
    visit.refuse_mixed({"container": "demo", "fresh": True, "snapshot": "x"})


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_damaged_answers_crash_no_check(healthy: Facts, data: st.DataObject) -> None:
    text = inspect(env=["ASCEND_RT_VISIBLE_DEVICES=0,1"]).text
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 60)))
    mutated = text[:start] + data.draw(st.text(max_size=20)) + text[end:]
    facts = npu(healthy, [changed(inspect(), text=mutated)])
    assert not [one for one in ask(facts) if one.case == "crashed"]
