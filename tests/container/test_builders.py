"""`image` by each builder: killed on its way, built, built again, and what is in the result.

The tests of a builder are steps of one story, in their order.
"""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from provision.errors import BUSY, INTERRUPTED
from tests.container import small
from tests.container.builders import DOCKER, Place, here, others
from tests.lab.machine import LABEL
from tests.render.building import tidy

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
# What Docker builds is looked at in other tests, of a vendor's target and of loopback.
EACH = pytest.mark.parametrize("building", ["podman", "buildah"], indirect=True)
# Who a container is, what is installed, and what must not be left.
LOOK = """
id -u
grep Payload /opt/small/version.info
python -c "import paddle; print(paddle.ANSWER)"
find /run/secrets /opt/paddock/packages -type f 2> /dev/null
paddock --version > /dev/null
"""


@dataclass(frozen=True)
class Building:
    """An image of the small stack, to be built in a place. The token is in the index's address."""

    place: Place
    tag: str
    token: str

    def command(self, page: str) -> str:
        """Build it with this page of an index."""
        stack, deps = self.place.folder / "stack" / "stack.toml", self.place.folder / "deps"
        # A password is refused by the builder that could not hide it.
        login = "" if self.place.kind == "classic" else f"someone:{self.token}@"
        index = f"http://{login}localhost:9/{self.token}/{page}"
        return self.place.image("--stack", str(stack), "--image", self.tag, "--deps", str(deps),
                                "--index-url", index, "--json")  # fmt: skip

    def build(self) -> str:
        """Build it; returns what the builder has said."""
        done = self.place.run(self.command("simple"))
        assert done.returncode == 0, done.stdout + done.stderr[-6000:]
        assert json.loads(done.stdout)["builder"] == self.place.kind
        return done.stderr

    def engine(self, words: str) -> str:
        """What the program says that has the images."""
        return self.place.says(f"{self.place.engine} {words}")

    @property
    def found(self) -> dict[str, Any]:
        """The image as its engine describes it."""
        (one,) = json.loads(self.engine(f"image inspect {self.tag}"))
        return dict(one)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The place of the builders that this machine has not."""
    with others(tmp_path_factory.mktemp("machine")) as place:
        yield place


@pytest.fixture(scope="module")
def building(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Building]:
    """An image that was not built yet."""
    kind, token = str(request.param), uuid.uuid4().hex
    if kind in DOCKER:
        place = here(kind, tmp_path_factory.mktemp(kind))
    else:
        there: Place = request.getfixturevalue("machine")
        place = replace(there, kind=kind, folder=there.folder / kind)
    small.write(place.folder / "stack")
    small.installer(place.folder / "deps", payload(token))
    one = Building(place, f"{LABEL}:{kind}-{token[:8]}", token)
    yield one
    place.end(str(place.home), token)
    if kind in DOCKER:  # the machine goes with all that it has
        tidy(one.tag, "")


def payload(token: str) -> str:
    """What the vendor's package of a build has in it."""
    return token[::-1]


def left(building: Building) -> list[str]:
    """What is left of builds: files for them, and working containers with what they were told."""
    home, machine = building.place.home, building.place.engine == "podman"
    containers = building.engine("ps --all --external --quiet").split() if machine else []
    return [*map(str, (*home.rglob("secrets"), *home.rglob("context"))), *containers]


@pytest.mark.parametrize("building", ["buildkit", "podman"], indirect=True)
def test_killed_on_its_way_the_next_one_goes_on(building: Building) -> None:
    place = building.place
    with place.started(building.command("hang")):
        place.wait_for(building.token, "build_wheel")
        second = place.run(building.command("simple"))
        assert second.returncode == BUSY, second.stderr[-2000:]
    said = building.build()
    assert "> lib/build" in said and "> host/sdk" not in said  # which had been done before
    assert place.at_work(building.token, str(place.home)) == {}
    assert left(building) == []


@pytest.mark.parametrize("building", ["buildah"], indirect=True)
def test_stopped_it_leaves_nothing_and_another_package_makes_another_image(
    building: Building,
) -> None:
    """Of what is bound to a step Buildah and Podman look at the name alone."""
    place = building.place
    small.installer(place.folder / "deps", "an earlier one")
    with place.started(building.command("hang")) as process:
        place.wait_for(building.token, "build_wheel")
        place.kill("TERM")
        assert process.wait(60) == INTERRUPTED
    assert place.at_work(building.token, str(place.home)) == {}
    assert left(building) == []
    small.installer(place.folder / "deps", payload(building.token))
    assert "> host/sdk" in building.build()


@EACH
def test_a_second_build_does_nothing_anew(building: Building) -> None:
    before = building.found["Id"]
    building.build()
    assert building.found["Id"] == before


@EACH
def test_what_it_is_and_holds(building: Building) -> None:
    config = building.found["Config"]
    assert config["User"] == "10001:10001"
    assert config["Labels"]["paddock.pin.sdk"] == "1.0"
    assert "Healthcheck" in json.dumps(building.found)
    said = building.engine(f"run --rm --network none {building.tag} sh -c '{LOOK}'")
    assert said.splitlines() == ["10001", f"Payload={payload(building.token)}", "42"], said


@pytest.mark.parametrize("building", ["podman"], indirect=True)
def test_no_layer_holds_a_secret_or_a_package(building: Building) -> None:
    """All bytes of all layers are looked through."""
    save = building.place.argv(f"{building.place.engine} save {building.tag}")
    wanted, rest = (building.token.encode(), small.MARK), b""
    with subprocess.Popen(save, stdout=subprocess.PIPE) as saved:
        assert saved.stdout is not None
        while block := saved.stdout.read(1 << 22):
            assert not [one for one in wanted if one in rest + block]
            rest = block[-100:]
    assert saved.returncode == 0
