"""`image`: which builder is taken, what it is given, and that the result works."""

from __future__ import annotations

import json
import os
import shlex
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from provision.errors import PaddockError
from provision.imaging.builder import builder
from provision.imaging.folder import gather
from tests.conftest import Cli
from tests.lab.machine import LABEL, base_image
from tests.render.building import build, docker, tidy
from tests.render.values import BASE, made, wanted

# A Docker whose client has this version, with or without buildx and an engine.
DOCKER = """#!/bin/sh
case "$1 $2" in
    "version --format") [ -n "$ENGINE" ] && echo "{version} $ENGINE" ;;
    "buildx version") {buildx} ;;
    *) exit 3 ;;
esac
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH but the system's own shell."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("ENGINE", "20.10.24")
    return folder


def put(folder: Path, name: str, text: str = "#!/bin/sh\n") -> None:
    """A program of this name."""
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("version", "buildx", "kind"),
    [("28.2.2", "exit 0", "buildkit"), ("28.2.2", "exit 1", "classic"),
     ("20.10.24+dfsg1", "exit 1", "buildkit"), ("strange", "exit 1", "classic")],
)  # fmt: skip
def test_docker_is_taken_as_it_is(programs: Path, version: str, buildx: str, kind: str) -> None:
    put(programs, "docker", DOCKER.format(version=version, buildx=buildx))
    put(programs, "podman")
    found = builder()
    assert found.kind == kind
    assert found.variables == {"DOCKER_BUILDKIT": "0" if kind == "classic" else "1"}


def test_where_docker_does_not_answer_another_builds(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(programs, "docker", DOCKER.format(version="28.2.2", buildx="exit 0"))
    put(programs, "buildah")
    monkeypatch.setenv("ENGINE", "")
    found = builder()
    command = found.command(Path("/c"), "a:1", {"ca": Path("/s/ca")})
    assert command == ["buildah", "build", "--layers", "--force-rm", "--format", "docker", "--tag",
                       "a:1", "--secret=id=ca,src=/s/ca", "/c"]  # fmt: skip
    bound = found.command(Path("/c"), "a:1", {}, "digest")
    assert bound[bound.index("--build-arg") + 1] == "BOUND=digest"


def test_proxies_go_by_name_so_that_no_password_is_on_the_command_line(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(programs, "docker", DOCKER.format(version="28.2.2", buildx="exit 0"))
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@proxy.example")
    command = builder().command(Path("/c"), "a:1", {})
    assert command[command.index("--build-arg") + 1] == "HTTPS_PROXY"
    assert "secret" not in " ".join(command)


@pytest.mark.parametrize("kind", ["auto", "buildkit", "podman"])
def test_without_any_builder_the_error_says_what_to_do(programs: Path, kind: str) -> None:
    assert programs.is_dir()
    with pytest.raises(PaddockError) as raised:
        builder(kind)
    assert raised.value.code == "no-builder"
    assert "render --as dockerfile" in str(raised.value)


@pytest.mark.parametrize(
    ("said", "code"),
    [("Cannot connect to the Docker daemon at unix:///x.", "engine-absent"),
     ("dial unix /x: connect: permission denied", "engine-denied")],
)  # fmt: skip
def test_an_engine_that_is_silent_is_another_matter(programs: Path, said: str, code: str) -> None:
    put(programs, "docker", f"#!/bin/sh\necho '{said}' >&2; exit 1\n")
    for kind in ("auto", "classic"):
        with pytest.raises(PaddockError) as raised:
            builder(kind)
        assert (raised.value.code, raised.value.details) == (code, (said,))
    with pytest.raises(PaddockError) as raised:
        builder("podman")
    assert raised.value.code == "no-builder"


def test_the_folder_holds_what_the_dockerfile_copies_and_no_leftovers(tmp_path: Path) -> None:
    folder = tmp_path / "context"
    gather(folder, wanted("loopback"), None, made("dockerfile", "loopback"))
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {"Dockerfile", "paddock", "tasks.py", "requirements.lock"} < found
    assert "images/loopback/plugin/CMakeLists.txt" in found
    assert not [name for name in found if "__pycache__" in name or name.startswith(("tests", "."))]
    assert os.access(folder / "paddock", os.X_OK)


def test_the_vendors_packages_go_along_and_are_missed_by_name(tmp_path: Path) -> None:
    one, text = wanted("ascend910b"), made("dockerfile", "ascend910b")
    name = "paddle_custom_npu-3.0.0-cp310-cp310-linux_x86_64.whl"
    with pytest.raises(PaddockError) as raised:
        gather(tmp_path / "first", one, tmp_path, text)
    assert raised.value.code == "image-package"
    assert name in str(raised.value)
    assert "https://" in raised.value.details[0]
    (tmp_path / name).write_bytes(b"PK a wheel")
    gather(tmp_path / "second", one, tmp_path, text)
    assert (tmp_path / "second" / "packages" / name).read_bytes() == b"PK a wheel"


def test_of_two_versions_that_would_do_none_is_taken(tmp_path: Path) -> None:
    names = ["topsfactor_1.0-1_amd64.deb", "topsfactor_2.0-1_amd64.deb"]
    for name in (*names, "TopsPlatform_1_deb_amd64.run"):
        (tmp_path / name).write_bytes(b"#!" if name.endswith(".run") else b"!<arch>\n")
    one = wanted("s60", base=BASE)
    one.stack.releases["3.0.0"].pins.update(platform="1")  # the article's packages
    with pytest.raises(PaddockError) as raised:
        gather(tmp_path / "context", one, tmp_path, "")
    assert raised.value.code == "package-several"
    assert all(name in str(raised.value) for name in names)


FAILING = """#!/bin/sh
case "$1" in
    version) echo "28.2.2 28.2.2" ;;
    buildx) ;;
    build) for last; do :; done; cp -r "$last" "$SEEN"; printf '%s\\n' "$@" > "$SEEN/arguments"
        for word; do case $word in --secret=*) cp "${word#*src=}" "$SEEN/"; esac; done
        echo "step 7"; echo "https://u:secret@mirror.example/simple refused"; exit 1 ;;
esac
"""


def test_a_build_that_fails_ends_with_its_last_lines_and_a_log(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    """Secrets reach the builder as files, and no line that is shown or kept has a password."""
    put(tmp_path, "docker", FAILING)
    ca = tmp_path / "a, 家.pem"
    ca.write_text("certificates")
    seen = tmp_path / "seen"
    address = "https://u:secret@mirror.example/simple"
    done = cli("image", "--target", "loopback", "--ca-bundle", str(ca), "--index-url", address,
               PATH=f"{tmp_path}:{os.environ['PATH']}", SEEN=str(seen))  # fmt: skip
    assert done.returncode == 7, done.stdout + done.stderr
    assert "step 7" in done.stdout
    assert "secret" not in done.stdout + done.stderr
    (log,) = home.glob("state/loopback/logs/image-*.log")
    assert "secret" not in log.read_text("utf-8")
    assert (seen / "ca").read_text() == "certificates"
    assert (seen / "index").read_text() == address
    assert "secret@" not in (seen / "arguments").read_text()
    assert "secret@" not in (seen / "Dockerfile").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "engine"),
    [("buildkit", "docker"), ("classic", "docker"), ("podman", "podman"), ("buildah", "podman")],
)
def test_what_starts_the_image_is_the_engine_that_has_it(
    here: Cli, tmp_path: Path, kind: str, engine: str
) -> None:
    for name in ("docker", "podman", "buildah"):
        put(tmp_path, name, '#!/bin/sh\n[ "$1" != version ] || echo 28.2.2 28.2.2\n')
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = here("image", "--target", "loopback", "--builder", kind, PATH=path)
    assert done.returncode == 0, done.stdout + done.stderr
    command = shlex.split(done.stdout.splitlines()[-1].partition(": ")[2].removesuffix(" | sh"))
    shown = here(*command[1:]).stdout
    assert f"\nexec {engine} run " in shown


def test_a_password_is_not_given_to_the_classic_builder(cli: Cli, tmp_path: Path) -> None:
    put(tmp_path, "docker", FAILING)
    done = cli("image", "--target", "loopback", "--builder", "classic", "--index-url",
               "https://u:secret@mirror.example/simple", SEEN=str(tmp_path / "seen"),
               PATH=f"{tmp_path}:{os.environ['PATH']}")  # fmt: skip
    assert done.returncode == 2
    assert not (tmp_path / "seen").exists()


@pytest.mark.parametrize(
    "arguments",
    ["--as dockerfil", "--as run --cards 1-", "--as run --cards 1,1", "--as run --cards 0,5-3",
     "--as run --cards 3-2,4", "--as run --image A:1",
     "--as dockerfile --base -x", "--as dockerfile --secrets password", "--as script --home ~",
     "--as script --machine riscv64", "--as dockerfile --builder kaniko", "--as ="],
)  # fmt: skip
def test_a_wrong_choice_is_refused_with_what_would_be_right(cli: Cli, arguments: str) -> None:
    done = cli("render", "--target", "loopback", *arguments.split())
    assert done.returncode == 2, done.stdout
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 3


def test_the_command_prints_the_same_bytes_in_any_locale(cli: Cli) -> None:
    first = cli("render", "--target", "loopback", "--as", "script", LC_ALL="C")
    assert first.returncode == 0
    assert first.stdout == made("script", "loopback")
    assert first.stdout == cli("render", "--target", "loopback", "--as", "script",
                               LC_ALL="zh_CN.UTF-8").stdout  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The image of loopback, built from the lab's base through a private CA."""
    base, tag = base_image(), f"{LABEL}:image-{uuid.uuid4().hex[:8]}"
    home = tmp_path_factory.mktemp("home")
    done = build(home, "--target", "loopback", "--base", base, "--image", tag)
    try:
        assert done.returncode == 0, done.stdout + done.stderr[-4000:]
        assert json.loads(done.stdout)["image"] == tag
        yield tag
    finally:
        tidy(tag, done.stderr)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_image_is_healthy_and_computes_as_an_ordinary_user(built: str) -> None:
    healthy = docker("run", "--rm", "--init", built)
    assert healthy.returncode in (0, 10), healthy.stdout + healthy.stderr
    assert "paddlepaddle 3.3.1" in healthy.stdout
    proof = docker("run", "--rm", "--init", built, "paddock", "smoke", "--target", "loopback",
                   "--level", "device")  # fmt: skip
    assert proof.returncode == 0, proof.stdout + proof.stderr
    assert "passed" in proof.stdout
    assert docker("run", "--rm", built, "id", "-u").stdout == "10001\n"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_image_has_no_compiler_and_no_trace_of_the_build(built: str) -> None:
    left = "/run/secrets /var/cache/uv /opt/paddock/home/cache/build"
    look = f"command -v g++ cc make cmake; find {left}"
    assert docker("run", "--rm", built, "sh", "-c", look).stdout == ""
    assert "SSL_CERT_FILE" not in docker("history", "--no-trunc", built).stdout
    (found,) = json.loads(docker("image", "inspect", built).stdout)
    assert found["Config"]["Labels"]["org.opencontainers.image.version"] == "3.3.1"
    assert found["Config"]["Healthcheck"]["Test"][0] == "CMD"
