"""`doctor --container` of real containers of a real engine, from without."""

from __future__ import annotations

import contextlib
import subprocess
import uuid
from collections.abc import Iterator

import pytest

from checks.doctor.examine import Report
from checks.doctor.visit import examine
from checks.machine import in_container
from provision.facts import named_container
from tests.lab.machine import LABEL, base_image

pytestmark = pytest.mark.slow

_GOOD = ["--device", "/dev/null:/dev/gcu0", "--device", "/dev/null:/dev/gcuctl", "--shm-size", "1g"]


@contextlib.contextmanager
def container(*options: str, start: bool = True) -> Iterator[str]:
    """A container with these options, gone after."""
    name = f"{LABEL}-{uuid.uuid4().hex[:12]}"
    argv = ["docker", "create", "--name", name, *options, base_image(), "sleep", "300"]
    subprocess.run(argv, check=True, capture_output=True)
    try:
        if start:
            subprocess.run(["docker", "start", name], check=False, capture_output=True)
        yield name
    finally:
        subprocess.run(["docker", "rm", "-f", name], check=True, capture_output=True)


def found(report: Report) -> dict[str, str]:
    """The cases of what is not well about the container."""
    own = [one for one in report.findings if one.id.startswith("container-")]
    return {one.id: one.case for one in own if one.state not in ("ok", "apart", "follows")}


def test_a_container_that_has_what_it_needs() -> None:
    with container(*_GOOD, "-e", "TOPS_VISIBLE_DEVICES=0", "-e", "HF_TOKEN=hf_demo") as name:
        report = examine("s60", "", fresh=False, container=name)
    assert found(report) == {}
    named = in_container.named(report.facts)
    assert named and named[0].name == name and named[0].inside == ["/dev/gcu0", "/dev/gcuctl"]
    assert "hf_demo" not in named[1].text


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ([], {"container-devices": "none", "container-settings": "shm"}),
        (["-e", "ENFLAME_VISIBLE_DEVICES=0"],
         {"container-runtime": "other", "container-settings": "shm"}),
        ([*_GOOD, "--device", "/dev/no-such-device"], {"container-running": "refused"}),
    ],
)  # fmt: skip
def test_containers_that_lack_something(options: list[str], wanted: dict[str, str]) -> None:
    with container(*options) as name:
        assert found(examine("s60", "", fresh=False, container=name)) == wanted


def test_a_privileged_one_that_never_started() -> None:
    with container("--privileged", "--ipc", "host", start=False) as name:
        report = examine("s60", "", fresh=False, container=name)
    assert found(report) == {"container-running": "created", "container-settings": "privileged"}


def test_the_folder_that_docker_makes_of_a_missing_file(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    missing = tmp_path_factory.mktemp("host") / "npu-smi"
    with container("-v", f"{missing}:/usr/local/bin/npu-smi") as name:
        outputs = named_container.outputs(name)
        report = examine("ascend910b", "", fresh=False, container=name)
    assert named_container.folders(outputs) == {str(missing)}
    assert found(report)["container-mounts"] == "folder"
