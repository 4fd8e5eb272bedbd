"""Sources as a container gets them: just what is built, wherever and however it lies here."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest

from provision.container.engine import connect
from provision.container.inside import Inside
from provision.container.packing import add_sources
from provision.container.place import Place
from provision.container.sources import Copy
from provision.container.told import Reported, Teller
from provision.container.work import Work
from provision.engine import Options
from provision.errors import PaddockError
from provision.network import Network
from provision.steps.base import Sources
from provision.steps.built import Order
from provision.wheels import bring, modules, recipe, source
from tests.conftest import Cli
from tests.container.engine import busy_image, engine
from tests.container.test_settings import made
from tests.container.values import inside as inside_of
from tests.recipes.upstream import commit, git, upstream

GCU, OFFLINE = recipe.load("gcu"), Network(offline=True)
LIBRARY = "backends/gcu/kernels/topsflame/libtopsop.a"


class Folder:
    """A folder in place of a container: what is put at its root lands below."""

    def __init__(self, top: Path) -> None:
        self.top, self.home, self.puts = top, Path("/opt/a b"), 0

    def at(self, path: Path) -> Path:
        return self.top / path.relative_to("/")

    def read(self, file: Path) -> str:
        return self.at(file).read_text("utf-8") if self.at(file).exists() else ""

    def replace(self, old: Sequence[Path], archive: Path) -> None:
        self.puts += 1
        for path in map(self.at, old):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        with tarfile.open(archive) as whole:
            members = whole.getmembers()
        assert {(one.uid, one.gid) for one in members} == {(0, 0)}
        stamps = [one.name.endswith("/.plugin-source") for one in members]
        assert not any(stamps[:-1])  # what is cut short has none
        subprocess.run(["tar", "-xf", archive, "-C", self.top], check=True)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with its submodules; no test changes it."""
    return upstream(tmp_path_factory.mktemp("源 码"))


@pytest.fixture
def clone(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "源 码" / "PaddleCustomDevice", symlinks=True))


@pytest.fixture
def inside(tmp_path: Path, home: Path) -> Folder:
    assert home.parent == tmp_path
    (tmp_path / "root").mkdir()
    return Folder(tmp_path / "root")


def copied(inside: Folder, origin: Path | str, ref: str = "", network: Network = OFFLINE) -> Copy:
    """The copy of sources, made unless it is there."""
    found = source.find(GCU, str(origin), ref, network)
    order = Order(found.origin, ref, found.identity)
    copy = Copy(cast(Inside, cast(Any, inside)), "plugin-source", GCU, order)
    if not copy.is_there:
        copy.put(network)
    return copy


@pytest.mark.slow
def test_a_clone_arrives_as_its_commit_alone_and_builds_offline(
    clone: Path, inside: Folder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The build in the container finds there all submodules, and the vendor's file beside."""
    (clone / ".git/huge").write_text("of no commit")
    library = clone / LIBRARY
    library.parent.mkdir(parents=True, exist_ok=True)
    library.write_text("Enflame's")
    there = inside.at(copied(inside, clone).path)
    assert (there / LIBRARY).read_text() == "Enflame's"
    files = [path.name for path in there.rglob("*") if path.is_file()]
    assert not {"huge", "CMakeLists.txt", "generic.cmake"} & {*files}
    clone.rename(tmp_path / "gone")
    monkeypatch.setenv("PADDOCK_HOME", str(tmp_path / "the container's"))
    found = source.find(GCU, str(there), "", OFFLINE)
    assert found.identity == git(tmp_path / "gone", "rev-parse", "HEAD")
    root = bring.bring(found, GCU, OFFLINE)
    known = {**GCU.vendor_folders(), "machine": "x86_64"}
    assert modules.check_out(found, root, GCU, known, OFFLINE) == ([], "")
    assert (root / "backends/gcu/cmake/generic.cmake").is_file()  # a link into the submodule


@pytest.mark.slow
def test_it_is_copied_when_it_differs_wherever_it_lies(
    clone: Path, inside: Folder, tmp_path: Path
) -> None:
    copied(inside, clone)
    moved = clone.rename(tmp_path / "elsewhere")
    copied(inside, moved)
    copied(inside, moved, "v1")  # the same commit
    assert inside.puts == 1
    (moved / LIBRARY).parent.mkdir(parents=True, exist_ok=True)
    (moved / LIBRARY).write_text("handed out since")
    copied(inside, moved)
    (moved / "new").write_text("1")
    last = commit(moved)
    there = inside.at(copied(inside, moved).path)
    assert inside.puts == 3
    assert git(there, "rev-parse", "HEAD") == last
    assert git(there, "rev-list", "--count", "HEAD") == "1"


@pytest.mark.slow
def test_a_submodule_that_cannot_be_had_is_asked_for_again(clone: Path, inside: Folder) -> None:
    kept = clone / "Paddle/third_party/glog"
    kept.rename(clone.parent / "glog")
    kept.mkdir()
    there = inside.at(copied(inside, clone).path)
    assert (there / "Paddle/third_party/gflags/.git").is_dir()
    assert not (there / "Paddle/third_party/glog").exists()
    kept.rmdir()
    (clone.parent / "glog").rename(kept)
    copied(inside, clone)
    assert (there / "Paddle/third_party/glog/.git").is_dir()
    copied(inside, clone)
    assert inside.puts == 2


@pytest.mark.slow
def test_changes_that_are_in_no_commit_are_refused(clone: Path, inside: Folder) -> None:
    (clone / "new").write_text("1")
    with pytest.raises(PaddockError) as caught:
        copied(inside, clone)
    assert caught.value.code == "source-dirty"
    copied(inside, clone, "v1")


def test_a_folder_arrives_without_the_trees_of_builds(tmp_path: Path, inside: Folder) -> None:
    """Links lead where they led, and what lies outside of it comes along."""
    folder, paddle = tmp_path / "无 git", tmp_path / "Paddle"
    for file in ("CMakeLists.txt", "build/CMakeCache.txt", "build/x.o", "top/CMakeCache.txt",
                 "top/CMakeLists.txt", "cmake/a.cmake"):  # fmt: skip
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(file)
    paddle.mkdir()
    (paddle / "file").write_text("theirs")
    (paddle / "link").symlink_to("file")
    (folder / "Paddle").symlink_to("../Paddle")
    (folder / "link.cmake").symlink_to("cmake/a.cmake")
    (folder / "up").symlink_to("..")
    (folder / "broken").symlink_to(tmp_path / "none")
    (folder / "own.cmake").symlink_to(folder / "cmake/a.cmake")
    os.utime(folder / "cmake/a.cmake", ns=(1, 1_700_000_000_123_456_789))
    (folder / "cmake").chmod(0o555)
    there = inside.at(copied(inside, folder).path)
    names = sorted(str(path.relative_to(there)) for path in there.rglob("*"))
    assert names == ["CMakeLists.txt", "Paddle", "Paddle/file", "Paddle/link", "broken", "cmake",
                     "cmake/a.cmake", "link.cmake", "own.cmake", "top", "top/CMakeCache.txt",
                     "top/CMakeLists.txt", "up"]  # fmt: skip
    for name in ("link.cmake", "own.cmake"):
        assert (there / name).readlink() == Path("cmake/a.cmake")
    assert not (there / "Paddle").is_symlink() and (there / "Paddle/link").is_symlink()
    assert [(there / name).is_symlink() for name in ("up", "broken")] == [True, True]
    copied(inside, folder)
    assert inside.puts == 1
    (folder / "CMakeLists.txt").write_text("more of it")
    copied(inside, folder)
    assert inside.puts == 2


@pytest.mark.slow
def test_an_archive_arrives_as_it_is(whole: Path, tmp_path: Path, inside: Folder) -> None:
    archive = tmp_path / "源 码.tar.gz"
    git(whole, "archive", "--prefix=PaddleCustomDevice/", "-o", str(archive), "HEAD")
    link = tmp_path / "link.zip"
    link.symlink_to(archive)
    there = inside.at(copied(inside, link).path)
    assert there.read_bytes() == archive.read_bytes()
    assert source.find(GCU, str(there), "", OFFLINE).kind == "archive"


def test_what_cannot_be_read_is_named() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "secret").write_text("1")
        (folder / "secret").chmod(0)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(65534)
        try:
            with (
                tarfile.open(fileobj=io.BytesIO(), mode="w") as archive,
                pytest.raises(PaddockError) as caught,
            ):
                add_sources(archive, folder, Path("/opt"))
        finally:
            if is_root:
                os.seteuid(0)
    assert caught.value.code == "source-missing"
    assert "secret" in caught.value.part("what")


@pytest.mark.slow
def test_of_an_address_the_ref_is_asked_once(whole: Path, tmp_path: Path, inside: Folder) -> None:
    served = tmp_path / "served"
    git(tmp_path, "clone", "--quiet", "--bare", str(whole), str(served))
    order = Order(f"file://{served}", "v1", "v1")
    copy = Copy(cast(Inside, cast(Any, inside)), "plugin-source", GCU, order)
    assert copy.is_address and not copy.is_there
    copy.put(Network())
    assert git(inside.at(copy.path), "rev-parse", "HEAD") == git(whole, "rev-parse", "v1")


@pytest.mark.slow
def test_a_full_disk_leaves_no_half_of_them(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not home.exists()
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "large").write_bytes(bytes(30 << 20))
    with engine("16m") as small:
        busy_image(small)
        monkeypatch.setenv("DOCKER_HOST", small.host)
        monkeypatch.delenv("UV_CACHE_DIR")
        one = inside_of(connect())
        copy = Copy(one, "plugin-source", GCU, Order(str(folder), "", "1"))
        with pytest.raises(PaddockError) as caught:
            copy.put(OFFLINE)
        assert caught.value.code == "container-disk"
        assert not copy.is_there
        listed = ["sh", "-c", "echo /opt/paddock/sources/* /opt/paddock/sources/.p*"]
        said = one.container.exec_run(listed).output.decode()
        assert said == "/opt/paddock/sources/* /opt/paddock/sources/.p*\n"
        (folder / "large").write_text("small now")
        copy.put(OFFLINE)
        assert copy.is_there
        assert one.read(copy.path / "large") == "small now"


def test_a_failure_there_names_the_sources_here(tmp_path: Path) -> None:
    folder = tmp_path / "源 码"
    folder.mkdir()
    given = (("plugin-source", Sources(str(folder))),)
    place = Place(Options("s60", sources=given), made("s60", Network()).wanted)
    work = Work(place, cast(Any, None), cast(Any, None), Path())
    copy, other = Path("/opt/paddock/sources/plugin-source"), "libtopsop.a is not at /opt/tops"
    error = PaddockError("build-unready", (f"none at {copy}/a", other), backend="gcu", count=2)
    told = Reported(error.to_json(), "there")
    with patch.object(Teller, "ask", side_effect=told), pytest.raises(Reported) as caught:
        work.steps({"plugin-source": copy})
    assert caught.value.code == "build-unready"
    *said, named, where = caught.value.details
    assert (said, where) == ([f"none at {copy}/a", other], "there")
    assert str(copy) in named and str(folder) in named


def test_a_dry_run_tells_of_them(here: Cli, tmp_path: Path) -> None:
    """Each language has its own sentences; no engine is asked."""
    folder = tmp_path / "源 码"
    folder.mkdir()
    words = ["provision", "--target", "npu", "--in", "container", "--dry-run", "--plugin-source",
             str(folder)]  # fmt: skip
    nowhere = {"DOCKER_HOST": "unix:///nonexistent"}
    told = json.loads(here(*words, "--json", **nowhere).stdout)
    assert told["sources"] == [{"step": "plugin/build", "source": str(folder), "ref": None}]
    assert {"host/toolchain", "plugin/build", "model/ops"} <= {*told["steps"]}
    assert "host/toolchain" in told["host"]
    for language in ("en", "zh"):
        *_, first, second = here(*words, PADDOCK_LANG=language, **nowhere).stdout.splitlines()
        assert "plugin/build" in first and str(folder) in first
        assert "model/ops" in second and "--ops-source" in second
    ended = here(*words[:-1], "https://me:s3cret@example.org/x.git", **nowhere)
    assert (ended.returncode, "s3cret" in ended.stdout + ended.stderr) == (2, False)
    ended = here("provision", "--target", "s60", *words[3:6], "--ops-source", str(folder))
    assert (ended.returncode, "--ops-source" in ended.stderr) == (2, True)
