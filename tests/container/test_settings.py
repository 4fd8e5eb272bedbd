"""What a container is made of: the same that `render --as run` says, and nothing more."""

from __future__ import annotations

import itertools
import re
import shlex
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from provision import stack
from provision.container.place import Place
from provision.container.settings import (
    Settings,
    certificates,
    differences,
    on_this_machine,
    private,
)
from provision.engine import Options
from provision.errors import PaddockError
from provision.forms.container import run
from provision.forms.volumes import Volume, volumes
from provision.forms.wanted import Wanted
from provision.network import Network
from provision.paths import IMAGES
from provision.steps.base import Sources

PROXIES = [f"{n}_PROXY" for n in ("HTTP", "HTTPS", "ALL", "NO", "FTP")]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without proxies and mirrors."""
    for name in (*PROXIES, "PADDOCK_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL",
                 "UV_CACHE_DIR"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def made(target: str, network: Network, *, privileged: bool = False) -> Settings:
    loaded = stack.load(IMAGES / target / "stack.toml")
    wanted = Wanted(loaded, IMAGES / target, loaded.default_release, cards=(0, 3), base="a:1",
                    privileged=privileged)  # fmt: skip
    return Settings(wanted, "sha256:1", "sha256:2", "one", network)


@pytest.mark.parametrize("there", [("bin",), ("sbin",), ("bin", "sbin"), ()])
def test_what_some_hosts_have_elsewhere_is_taken_from_there(
    there: tuple[str, ...], tmp_path: Path
) -> None:
    """The container sees it at the usual place; where the host has none, that one is missed."""
    for name in there:
        (tmp_path / name).touch()
    one = made("ascend910b", Network())
    container = one.wanted.stack.container
    assert container is not None
    assert container.elsewhere.keys() <= {*container.mounts}
    usual = str(tmp_path / "bin")
    own = msgspec.structs.replace(
        container, mounts=[usual], elsewhere={usual: str(tmp_path / "sbin")}
    )
    stack = msgspec.structs.replace(one.wanted.stack, container=own)
    found = replace(one, wanted=replace(one.wanted, stack=stack)).mounts
    assert found[usual] == tmp_path / ("sbin" if there == ("sbin",) else "bin")


@pytest.mark.parametrize("target", ["loopback", "s60", "ascend910b"])
@pytest.mark.parametrize("privileged", [False, True])
def test_it_gets_what_the_rendered_command_gives_it(target: str, privileged: bool) -> None:
    one = made(target, Network(), privileged=privileged)
    given_by_hand = (Volume("/data 家", "/work"), Volume("/models", "/models", read_only=True))
    one = replace(one, wanted=replace(one.wanted, volumes=given_by_hand))
    words = shlex.split(run(one.wanted).partition("exec ")[2].replace("\\\n", ""))
    pairs = list(itertools.pairwise(words))
    given = one.arguments("/bin")
    nodes = [value for flag, value in pairs if flag == "--device"]
    assert [one.split(":")[0] for one in given.get("devices", [])] == nodes
    mounts = [str(m["Source"]) for m in given["mounts"] if m["Type"] == "bind"]
    rendered = [re.search("source=([^,]+)", v) for flag, v in pairs if flag == "--mount"]
    assert [m[1] for m in rendered if m] == [m for m in mounts if "ca-certificates" not in m]
    is_open = [m["Target"] for m in given["mounts"] if m["Type"] == "bind" and not m["ReadOnly"]]
    assert is_open == ["/work"]
    is_open = [v for flag, v in pairs if flag == "--mount" and ",readonly" not in v]
    assert is_open == ["type=bind,source=/data 家,target=/work"]
    shm = [value for flag, value in pairs if flag == "--shm-size"]
    assert [str(given[name]) for name in given if name == "shm_size"] == shm
    assert given.get("privileged", False) is privileged
    assert (given["init"], given["network_mode"]) == (True, "bridge")


def test_a_secret_of_the_network_is_in_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://me:s3cret@proxy.example:3128")
    network = Network(index_url="https://me:s3cret@mirror.example/simple")
    one = made("s60", network)
    assert "s3cret" not in repr(one.arguments("/bin"))
    assert private(network)["HTTPS_PROXY"] == private(network)["https_proxy"]
    assert "s3cret" in private(network)["PADDOCK_INDEX_URL"]


@pytest.mark.parametrize(
    ("value", "here"),
    [("http://127.0.0.1:3128", True), ("localhost:7890", True), ("http://me:a@[::1]:1/", True),
     ("http://127.example.com:1", False), ("http://localhost.example", False),
     ("http://proxy.example", False), ("http://a:b@10.0.0.1:80", False)],
)  # fmt: skip
def test_the_network_is_the_hosts_for_what_only_the_host_reaches(
    monkeypatch: pytest.MonkeyPatch, value: str, here: bool
) -> None:
    monkeypatch.setenv("http_proxy", value)
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    assert on_this_machine(Network()).upper() == ("HTTP_PROXY" if here else "")
    assert made("s60", Network()).made["network"] == ("host" if here else "own")


def test_named_certificates_come_before_those_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"):
        monkeypatch.delenv(name, raising=False)
    own = tmp_path / "ca.pem"
    own.touch()
    network = Network(ca_bundle=own)
    assert certificates(network) == own
    one = made("loopback", network)
    assert one.mounts == {"/opt/paddock/ca.crt": own}
    assert {one.variables[name] for name in ("SSL_CERT_FILE", "GIT_SSL_CAINFO")} == {
        "/opt/paddock/ca.crt"
    }
    other = certificates(Network())
    assert other is None or other.is_file()


@pytest.mark.parametrize("target", ["loopback", "s60", "ascend910b"])
def test_each_step_has_one_place(target: str) -> None:
    """The driver is the host's; what an image is made with, or built from sources, the other's."""
    one = made(target, Network())
    place = Place(Options(target), one.wanted)
    parts = [*place.outside, *place.inside, *place.left]
    assert sorted(parts) == sorted(step.name for step in one.wanted.stack.steps)
    assert ("host/driver" in place.outside) == (target != "loopback")
    assert "framework/paddle" in place.inside
    built = {"s60": ["plugin/build"], "ascend910b": ["plugin/build", "model/ops"], "loopback": []}
    assert [step.name for step in place.unsourced] == built[target]
    assert {*built[target]} <= {*place.inside}
    some = Place(Options(target, only=("framework/paddle",)), one.wanted)
    assert (some.outside, some.inside, some.proves) == ([], ["framework/paddle"], False)
    assert some.unsourced == []
    assert (place.asked, some.asked) == ([*place.inside, "smoke"], some.inside)
    proof = Place(Options(target, only=("smoke",)), one.wanted)
    assert (proof.outside, proof.asked) == ([], ["smoke"])
    proof.check()
    assert not Place(Options(target, only=tuple(place.outside) or ("none",)), one.wanted).asked


@pytest.mark.parametrize("target", ["s60", "ascend910b"])
def test_the_compiler_is_in_both_places_where_something_is_built(
    target: str, tmp_path: Path
) -> None:
    given = ("plugin-source", Sources(str(tmp_path)))
    one = made(target, Network())
    place = Place(Options(target, sources=(given,)), one.wanted)
    assert {*place.inside} & {*place.outside} == {"host/toolchain"}
    assert place.inside.index("host/toolchain") < place.inside.index("plugin/build")
    assert {*place.inside, *place.outside, *place.left} == {s.name for s in one.wanted.stack.steps}
    assert [step.name for step, _ in place.orders] == ["plugin/build"]
    assert "plugin/build" not in [step.name for step in place.unsourced]
    other = Place(Options(target, sources=(given,), only=("env/python",)), one.wanted)
    assert (other.inside, other.orders) == (["env/python"], [])


def test_sources_are_looked_at_before_anything_is_made(tmp_path: Path) -> None:
    one = made("s60", Network())
    for flag, origin, code in (
        ("plugin-source", str(tmp_path / "none"), "source-missing"),
        ("ops-source", str(tmp_path), "flags-apart"),  # no step of the S60 is for it
    ):
        place = Place(Options("s60", sources=((flag, Sources(origin)),)), one.wanted)
        with pytest.raises(PaddockError) as caught:
            place.check()
        assert caught.value.code == code


def test_what_differs_is_named() -> None:
    assert differences({"a": 1, "b": [2]}, '{"a": 1, "b": [3], "c": 4}') == ["b"]
    assert differences({"a": 1}, "no JSON") == ["label"]
    assert differences({"volumes": []}, "{}") == []  # of an earlier version


def test_other_volumes_are_another_container() -> None:
    one = made("s60", Network())
    some = (Volume("/a", "/a"), Volume("/b", "/c"))
    two = replace(one, wanted=replace(one.wanted, volumes=some))
    turned = replace(one, wanted=replace(one.wanted, volumes=some[::-1]))
    label = two.arguments("/bin")["labels"]["paddock.made"]
    assert differences(turned.made, label) == []
    assert differences(one.made, label) == ["volumes"]
    shut = replace(one, wanted=replace(one.wanted, volumes=(replace(some[0], read_only=True),)))
    assert differences(shut.made, label) == ["volumes"]


def test_a_volume_is_what_the_engines_read_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / 'a b"家'
    here.mkdir()
    (here / "file").touch()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(here))
    found = volumes("file,.:/work:ro,~/file:/x:rw,../:/up,.//file:///y//z/", [], here=True)
    assert [str(one) for one in found] == [
        f"{here}/file:{here}/file", f"{here}:/work:ro", f"{here}/file:/x", f"{tmp_path}:/up",
        f"{here}/file:/y/z",
    ]  # fmt: skip
    assert volumes("", [], here=True) == ()
    assert volumes(",".join(map(str, found)), [], here=True) == found


@pytest.mark.parametrize(
    ("value", "word"),
    [("none", "none"), ("/etc/hostname/x", "hostname/x"), ("/dev/null:/x", "/dev/null"),
     (":/x", "HOST"), ("/home:x", "HOST"), ("/home::ro", "HOST"), ("/home:/a:z", "HOST"),
     ("/home:/a:/b:ro", "HOST"), ("/home:/a/../b", "HOST"), ("/home,", "HOST"),
     ("/home:/a\nb", "HOST"),
     ("/home:/a,/etc:/a", "twice"), ("/home:/", "hide"), ("/:/", "hide"), ("/", "hide"),
     ("/home:/opt", "/opt/paddock"), ("/home:/opt/paddock/tool/x", "/opt/paddock"),
     ("/home://opt/paddock", "/opt/paddock"), ("/usr", "/usr/"), ("/etc", "/etc"),
     ("/home:/dev/shm", "/dev"), ("/proc", "/proc"), ("/home:/usr/local/dcmi", "/usr/local/dcmi"),
     ("/home:/usr/local/Ascend", "/usr/local/Ascend/driver"), ("/var", "/var/cache/paddock")],
)  # fmt: skip
def test_a_volume_that_cannot_be_is_told(value: str, word: str) -> None:
    with pytest.raises(PaddockError) as caught:
        volumes(value, made("ascend910b", Network()).wanted.taken, here=True)
    assert caught.value.code == "bad-option"
    assert word in caught.value.part("cause")
    assert caught.value.part("what").isprintable()
