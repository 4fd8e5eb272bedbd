"""What starts a container: just what the target needs, and every value stays one value."""

from __future__ import annotations

import csv
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from provision.errors import PaddockError
from provision.forms.container import compose, run
from provision.forms.kubernetes import job, pod
from provision.forms.volumes import Volume, volumes
from provision.forms.wanted import Wanted
from provision.forms.yaml import dump
from provision.render import label
from tests.conftest import Cli
from tests.render.values import TARGETS, clean, made, wanted, words

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
HOSTILE = "a b,'\"$(x) `y` ${z} #: {}[]&*!|>%@\\n\n\x85\u2028\ufeff- 家"
IMAGE = "".join(HOSTILE.splitlines())  # it is named in a comment, which is one line


def asked(target: str, **choices: Any) -> Wanted:
    """A target whose container has hostile paths, too."""
    one = wanted(target, **choices)
    container = one.stack.container
    assert container is not None
    mounts = [*container.mounts, f"/{HOSTILE}"]
    own = msgspec.structs.replace(container, mounts=mounts)
    given = (Volume(f"/{IMAGE}", "/work"), Volume("/models", f"/{IMAGE}/x", read_only=True))
    stack = msgspec.structs.replace(one.stack, container=own)
    return replace(one, stack=stack, image=IMAGE, volumes=given)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(TEXT, VALUES, min_size=1))
@example({"yes": "no", "1": "1", "~": "null", "a": {}, "b": [], "c": [[], [[1]], {"d": [{}]}]})
@example({HOSTILE: [HOSTILE, {HOSTILE: HOSTILE}]})
def test_yaml_reads_back_as_it_was(value: dict[str, Any]) -> None:
    assert yaml.safe_load(dump(value)) == value


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])))
def test_a_label_reads_back_as_it_was(value: str) -> None:
    """By the rules of a Dockerfile: in double quotes a backslash takes the next sign as it is."""
    text = label(value)
    assert (text[0], text[-1]) == ('"', '"')
    read, signs = "", iter(text[1:-1])
    for sign in signs:
        assert sign not in '"$'
        read += next(signs) if sign == "\\" else sign
    assert read == value


@pytest.mark.parametrize("value", ["a\nRUN x", "a\r", "\n", "a\u2028b", "a\0"])
def test_a_label_with_a_line_break_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="line"):
        label(value)


@pytest.mark.parametrize("privileged", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_the_command_is_sound_shell(target: str, privileged: bool) -> None:
    clean("shellcheck", made("run", target, privileged=privileged), "--shell=sh")


@pytest.mark.parametrize("target", ["s60", "ascend910b"])
def test_docker_gets_each_value_as_one_word(target: str, tmp_path: Path) -> None:
    got = words(run(asked(target)), "docker", tmp_path)
    assert got[-1] == IMAGE
    mounts = [got[i + 1] for i, word in enumerate(got) if word == "--mount"]
    read = [next(csv.reader(one.splitlines(keepends=True))) for one in mounts[-3:]]
    assert read == [
        ["type=bind", f"source=/{HOSTILE}", f"target=/{HOSTILE}", "readonly"],
        ["type=bind", f"source=/{IMAGE}", "target=/work"],
        ["type=bind", "source=/models", f"target=/{IMAGE}/x", "readonly"],
    ]


@pytest.mark.parametrize("form", [compose, pod, job])
@pytest.mark.parametrize("target", ["s60", "ascend910b"])
def test_yaml_keeps_each_value(target: str, form: Any) -> None:
    found = list(_texts(yaml.safe_load(form(asked(target)))))
    for value in (IMAGE, f"/{HOSTILE}", f"/{IMAGE}", f"/{IMAGE}/x"):
        assert (value.replace("$", "$$") if form is compose else value) in found


def _texts(value: object) -> Any:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _texts(one)
    else:
        yield value


NODES = {
    "loopback": [],
    "s60": ["/dev/gcu0", "/dev/gcu3", "/dev/gcuctl"],
    "ascend910b": ["/dev/davinci0", "/dev/davinci3", "/dev/davinci_manager", "/dev/devmm_svm",
                   "/dev/hisi_hdc"],
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
def test_it_gets_the_nodes_of_its_cards_and_no_others(target: str, tmp_path: Path) -> None:
    got = words(made("run", target, cards=(0, 3)), "docker", tmp_path)
    assert [got[i + 1] for i, word in enumerate(got) if word == "--device"] == NODES[target]
    service = yaml.safe_load(made("compose", target, cards=(0, 3)))["services"][target]
    assert [one.split(":")[0] for one in service.get("devices", [])] == NODES[target]
    assert "--privileged" not in got
    assert not {"--network", "--ipc", "--cap-add"} & {word.split("=")[0] for word in got}


@pytest.mark.parametrize("form", ["run", "compose", "pod", "job"])
@pytest.mark.parametrize("target", TARGETS)
def test_privileged_only_when_asked_and_with_the_reason(target: str, form: str) -> None:
    assert "rivileged:" not in made(form, target)
    assert "--privileged" not in made(form, target)
    text = made(form, target, privileged=True)
    assert "rivileged" in text
    assert "# Privileged because" in text


RESOURCE = {"s60": "enflame.com/gcu", "ascend910b": "huawei.com/Ascend910"}


@pytest.mark.parametrize("target", RESOURCE)
def test_a_cluster_gives_as_many_cards_as_were_named(target: str) -> None:
    (own,) = yaml.safe_load(made("pod", target, cards=(0, 1)))["spec"]["containers"]
    assert own["resources"]["limits"] == {RESOURCE[target]: 2}
    names = {one["name"] for one in own["volumeMounts"]}
    spec = yaml.safe_load(made("job", target))["spec"]["template"]["spec"]
    assert names == {volume["name"] for volume in spec["volumes"]}
    assert spec["restartPolicy"] == "Never"


@pytest.mark.parametrize("target", TARGETS)
def test_no_finding_of_doctor_ends_what_runs_in_a_pod(target: str) -> None:
    (own,) = yaml.safe_load(made("pod", target))["spec"]["containers"]
    assert "readinessProbe" in own
    assert not {"livenessProbe", "startupProbe"} & own.keys()


def test_a_cluster_makes_no_folder_of_a_file_that_is_missing() -> None:
    spec = yaml.safe_load(made("pod", "ascend910b"))["spec"]
    places = [volume["hostPath"] for volume in spec["volumes"] if "hostPath" in volume]
    types = {place["path"]: place["type"] for place in places}
    assert types["/etc/ascend_install.info"] == types["/usr/local/bin/npu-smi"] == "File"
    assert types["/usr/local/dcmi"] == "Directory"


def test_a_cluster_runs_loopback_as_an_ordinary_user() -> None:
    (own,) = yaml.safe_load(made("pod", "loopback"))["spec"]["containers"]
    assert own["securityContext"]["runAsNonRoot"] is True
    assert "resources" not in own


GIVEN = ("--volume", "/home", "--volume", "/a b/$家'\":/work:ro,/x:/y")


@pytest.mark.parametrize("form", ["run", "compose", "pod", "job"])
@pytest.mark.parametrize("target", TARGETS)
def test_it_gets_the_folders_that_were_given(
    here: Cli, target: str, form: str, tmp_path: Path
) -> None:
    """None of them is on this machine; the command in the text writes it again."""
    done = here("render", "--target", target, "--as", form, *GIVEN)
    assert done.returncode == 0, done.stderr
    a, b, c = ("/home", "/home", False), ("/a b/$家'\"", "/work", True), ("/x", "/y", False)
    assert _given(form, done.stdout, tmp_path)[-3:] == [a, b, c]
    command = next(line for line in done.stdout.splitlines() if "Written by: " in line)
    again = here(*shlex.split(command.partition(": ")[2])[1:])
    assert again.stdout == done.stdout
    if form == "run":
        clean("shellcheck", done.stdout, "--shell=sh")


def _given(form: str, text: str, folder: Path) -> list[tuple[str, str, bool]]:
    """The paths on the machine and in the container, and whether they are read-only there."""
    if form == "run":
        got = words(text, "docker", folder)
        lines = [got[i + 1] for i, word in enumerate(got) if word == "--mount"]
        rows = [next(csv.reader([line])) for line in lines]
        return [(row[1][7:], row[2][7:], row[3:] == ["readonly"]) for row in rows]
    document = yaml.safe_load(text)
    if form == "compose":
        (service,) = document["services"].values()
        assert not any(one["bind"]["create_host_path"] for one in service["volumes"])
        found = [(v["source"], v["target"], v["read_only"]) for v in service["volumes"]]
        return [(a.replace("$$", "$"), b, c) for a, b, c in found]
    assert "a folder on the node" in text
    spec = document["spec"] if form == "pod" else document["spec"]["template"]["spec"]
    paths = {v["name"]: v["hostPath"]["path"] for v in spec["volumes"] if "hostPath" in v}
    assert {v["hostPath"]["type"] for v in spec["volumes"][-3:]} == {"Directory"}
    mounts = spec["containers"][0]["volumeMounts"]
    return [(paths[m["name"]], m["mountPath"], m["readOnly"]) for m in mounts if m["name"] in paths]


@pytest.mark.parametrize(
    ("form", "value", "word"),
    [("script", "/a", "--as run|compose|pod|job"), ("dockerfile", "/a", "--as run"),
     ("run", "a:/b", "absolute"), ("pod", "/a/..:/b", "absolute"), ("run", "/opt", "/opt/paddock"),
     ("job", "/a:/dev/shm", "/dev"), ("compose", "/a:/b,/c:/b", "twice")],
)  # fmt: skip
def test_folders_that_cannot_be_given_are_refused(
    here: Cli, form: str, value: str, word: str
) -> None:
    done = here("render", "--target", "s60", "--as", form, "--volume", value)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--volume" in done.stderr and word in done.stderr


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(lambda t: f"/m/{t}"))
@example("/m/ a:/b:ro")
def test_a_volume_that_is_taken_is_written_as_it_is_read(value: str) -> None:
    try:
        found = volumes(value, [], here=False)
    except PaddockError as error:
        assert error.code == "bad-option"
        return
    assert volumes(",".join(map(str, found)), [], here=False) == found
