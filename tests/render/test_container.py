"""What starts a container: just what the target needs, and every value stays one value."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from provision.forms.container import compose, run
from provision.forms.kubernetes import job, pod
from provision.forms.wanted import Wanted
from provision.forms.yaml import dump
from provision.render import label
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
    return replace(one, stack=msgspec.structs.replace(one.stack, container=own), image=IMAGE)


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
    fields = next(csv.reader(mounts[-1].splitlines(keepends=True)))
    assert f"source=/{HOSTILE}" == fields[1]


@pytest.mark.parametrize("form", [compose, pod, job])
@pytest.mark.parametrize("target", ["s60", "ascend910b"])
def test_yaml_keeps_each_value(target: str, form: Any) -> None:
    found = list(_texts(yaml.safe_load(form(asked(target)))))
    for value in (IMAGE, f"/{HOSTILE}"):
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
