"""Where the sources come from: what is refused before anything is built, and what is not."""

from __future__ import annotations

import io
import os
import shutil
import stat
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from provision.errors import PaddockError
from provision.facts.command import Answer
from provision.network import Network
from provision.wheels import bring, modules, source, source_files
from provision.wheels.git import failed
from provision.wheels.recipe import load
from tests.lab.needs import needs
from tests.recipes.upstream import commit, git, links

OFFLINE = Network(offline=True)
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _home(home: Path) -> None:
    """A home of each test's own."""


def _found(given: Path | str, ref: str = "", backend: str = "npu") -> source.Source:
    return source.find(load(backend), str(given), ref, OFFLINE)


def _code(given: Path | str, ref: str = "", backend: str = "npu") -> str:
    with pytest.raises(PaddockError) as caught:
        _found(given, ref, backend)
    assert caught.value.part("what") and caught.value.part("do")
    return caught.value.code


def test_a_clone_is_built_at_what_is_checked_out_or_at_a_ref(whole: Path) -> None:
    head = git(whole, "rev-parse", "HEAD")
    assert _found(whole).commit == _found(whole, "v1").commit == _found(whole, head[:9]).commit
    root = bring.bring(_found(whole, "v1"), load("npu"), OFFLINE)
    assert (root / "backends/npu/CMakeLists.txt").is_file() and not root.is_relative_to(whole)
    assert (root / "backends/npu/cmake/generic.cmake").is_symlink()


@pytest.mark.parametrize("ref", ["v9", "--upload-pack=x", "v1:csrc", " "])
def test_a_ref_that_is_none(whole: Path, ref: str) -> None:
    assert _code(whole, ref) == "source-ref"


def test_a_dirty_tree_is_refused_but_not_for_another_ref(tree: Path) -> None:
    (tree / "backends/npu/kernels/new.cc").write_text("")
    assert _code(tree) == "source-dirty"
    assert _found(tree, "v1").commit


def test_a_submodule_that_is_not_as_recorded_is_refused(tree: Path) -> None:
    known = {"machine": "x86_64", "atb": "/nowhere", **load("npu").vendor_folders()}

    def told(ref: str = "") -> list[str]:
        try:
            modules.refuse_changed(_found(tree, ref), load("npu"), known)
        except PaddockError as error:
            assert error.code == "source-dirty"
            return list(error.details)
        return []

    assert told() == []
    version = tree / "Paddle/cmake/version.cmake"
    version.write_text(version.read_text() + "# changed\n")
    (tree / "Paddle/third_party/glog/new.cc").write_text("")
    assert told() == [" M Paddle/cmake/version.cmake", "?? Paddle/third_party/glog/new.cc"]
    assert told("v1") == []
    (tree / "Paddle/third_party/glog/new.cc").unlink()
    commit(tree / "Paddle")
    assert told() == [" M Paddle"]
    commit(tree)
    assert told() == []


def test_what_the_vendor_hands_out_does_not_make_it_dirty(tree: Path) -> None:
    place = tree / "backends/gcu/kernels/topsflame/libtopsop.a"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"!<arch>\n")
    assert _found(tree, backend="gcu").commit
    assert _code(tree, backend="npu") == "source-dirty"


def test_the_clone_of_another_user_is_read(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root prepares the machine, the clone is a person's; where git refuses it, it says so."""
    needs(os.geteuid() == 0, "root, to give files away")
    for path in (tree, *tree.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    found = _found(tree)
    root = bring.bring(found, load("npu"), OFFLINE)
    known = {"machine": "x86_64", "atb": "/nowhere"}
    assert modules.check_out(found, root, load("npu"), known, OFFLINE) == ([], "")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    with pytest.raises(PaddockError) as caught:
        _found(tree)
    assert (caught.value.code, "ownership" in str(caught.value)) == ("source-missing", True)


def _built(given: Path | str, ref: str = "") -> Path:
    """The sources with all their submodules, without network."""
    recipe, found = load("npu"), _found(given, ref)
    root = bring.bring(found, recipe, OFFLINE)
    known = {"machine": "x86_64", "atb": "/nowhere"}
    assert modules.check_out(found, root, recipe, known, OFFLINE) == ([], "")
    return root


SETTINGS = """[core]
autocrlf = true
symlinks = false
hooksPath = {hooks}
fsmonitor = {hooks}/post-checkout
[init]
templateDir = {hooks}/..
"""


def test_a_users_own_settings_change_no_file(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = tmp_path / "template" / "hooks"
    hooks.mkdir(parents=True)
    for name in ("post-checkout", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\nexit 1\n")
        (hooks / name).chmod(0o755)
    (tmp_path / ".gitconfig").write_text(SETTINGS.format(hooks=hooks))
    monkeypatch.setenv("HOME", str(tmp_path))
    root = _built(whole)
    for path in ("backends/npu/tools/compile.sh", "Paddle/cmake/version.cmake"):
        assert (root / path).read_bytes() == (whole / path).read_bytes()
    assert (root / "backends/npu/cmake/generic.cmake").is_symlink()
    assert not (tmp_path / "was-run").exists()


def test_a_bare_repository_is_read_where_a_user_forbids_finding_one(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(whole), "bare")
    (tmp_path / ".gitconfig").write_text("[safe]\nbareRepository = explicit\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert (bring.bring(_found(tmp_path / "bare"), load("npu"), OFFLINE) / "backends").is_dir()


def test_within_a_hook_of_another_repository(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git tells its hooks by the environment which repository they are of."""
    other = tmp_path / "other"
    git(tmp_path, "init", "--quiet", str(other))
    (other / "mine").write_text("mine\n")
    head, before = commit(other), (other / ".git/config").read_bytes()
    (other / "mine").write_text("changed\n")
    store = other / ".git"
    values = {"DIR": store, "COMMON_DIR": store, "WORK_TREE": other, "INDEX_FILE": store / "index",
              "OBJECT_DIRECTORY": store / "objects", "DEFAULT_HASH": "sha256", "NAMESPACE": "x",
              "LITERAL_PATHSPECS": "1"}  # fmt: skip
    with monkeypatch.context() as patch:
        for name, value in values.items():
            patch.setenv(f"GIT_{name}", str(value))
        root = _built(whole)
    assert (root / "backends/npu/CMakeLists.txt").is_file()
    assert git(root, "rev-parse", "HEAD") == git(whole, "rev-parse", "HEAD")
    assert git(other, "rev-parse", "HEAD") == head and (other / "mine").read_text() == "changed\n"
    assert (other / ".git/config").read_bytes() == before


def test_no_repository_around_the_cache_is_touched(whole: Path, tmp_path: Path) -> None:
    """Where the cache is in a person's repository, and its own one is broken."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "mine").write_text("mine\n")
    git(tmp_path, "add", "mine")
    git(tmp_path, "commit", "--quiet", "-m", "Mine")
    before = (tmp_path / ".git/config").read_bytes()
    root = _built(whole)
    (root / ".git/HEAD").unlink()
    (root / ".git/modules/Paddle/HEAD").unlink()
    (tmp_path / "mine").write_text("changed\n")
    assert _built(whole) == root and (tmp_path / "mine").read_text() == "changed\n"
    assert (tmp_path / ".git/config").read_bytes() == before


def _cut(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _emptied(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(bytes(path.stat().st_size))


@pytest.mark.parametrize(
    ("what", "harm"),
    [("HEAD", Path.unlink), ("config", _emptied), ("objects/pack/*.pack", _cut),
     ("objects/pack/*.pack", _emptied)],
)  # fmt: skip
def test_a_checkout_that_was_damaged_is_made_again(
    whole: Path, what: str, harm: Callable[[Path], None]
) -> None:
    """As a machine that goes down can leave it: what was noted is there and has no content."""
    root = _built(whole)
    files = ("Paddle/cmake/generic.cmake", "cmake/paddle.cmake")
    for store, file in zip((".git/modules/Paddle", ".git"), files, strict=True):
        (root / file).unlink()
        for one in (root / store).glob(what):
            harm(one)
    assert _built(whole) == root
    for file in files:
        assert (root / file).read_bytes() == (whole / file).read_bytes()


def test_an_index_that_cannot_be_read_hides_no_change(whole: Path) -> None:
    root = _built(whole)
    (root / ".git/index").write_bytes(b"")
    (root / "backends/npu/CMakeLists.txt").write_text("another\n")
    _built(whole)
    assert (root / "backends/npu/CMakeLists.txt").read_text() != "another\n"


@pytest.mark.parametrize(
    ("said", "code"),
    [("fatal: write error: No space left on device", "disk-full"),
     ("fatal: unable to access 'https://x/': Could not resolve host: x", "source-unreached"),
     ("git@x: Permission denied (publickey).", "source-missing")],
)  # fmt: skip
def test_what_git_says_is_told_as_what_it_is(said: str, code: str) -> None:
    assert failed("x", Path("place"), Answer(128, "", said)).code == code


def test_no_sources(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("no archive")
    assert _code(tmp_path / "nothing") == "source-missing"
    assert _code(tmp_path / "note.txt") == "source-missing"
    assert _code("https://example.org/x.git", "v1") == "source-offline"


def test_the_pinned_ref_of_a_recipe_needs_no_network_to_be_known() -> None:
    recipe = load("gcu")
    assert _found("", backend="gcu").commit == recipe.commits[recipe.ref]


def test_submodules_come_from_a_prepared_tree_without_network(whole: Path) -> None:
    recipe, found = load("npu"), _found(whole)
    root = bring.bring(found, recipe, OFFLINE)
    known = {"machine": "x86_64", "atb": "/nowhere"}
    assert modules.check_out(found, root, recipe, known, OFFLINE) == ([], "")
    assert (root / "Paddle/third_party/glog/README").is_file()


def test_a_tree_that_is_prepared_in_part_gives_that_part(tree: Path) -> None:
    git(tree / "Paddle", "submodule", "--quiet", "deinit", "--force", "third_party/glog")
    recipe, found = load("npu"), _found(tree)
    root = bring.bring(found, recipe, OFFLINE)
    known = {"machine": "x86_64", "atb": "/nowhere"}
    missing, _ = modules.check_out(found, root, recipe, known, OFFLINE)
    assert [one.path for one in missing] == ["Paddle/third_party/glog"]
    assert modules.check_out(found, root, recipe, known, Network()) == (
        [],
        "",
    )  # where it is recorded


def test_submodules_that_cannot_be_had_are_all_named(stripped: Path) -> None:
    found = _found(stripped)
    recipe = load("npu")
    root = bring.bring(found, recipe, OFFLINE)
    known = {"machine": "x86_64", "atb": "/nowhere"}
    missing, _ = modules.check_out(found, root, recipe, known, OFFLINE)
    assert missing == modules.wanted(recipe, root, known) and len(missing) > 1


def _zip(folder: Path, archive: Path, *, with_links: bool) -> Path:
    """The zip of a repository as its host makes it, or as a packer without links does."""
    with zipfile.ZipFile(archive, "w") as packed:
        for path in sorted(folder.rglob("*")):
            name = f"top-1/{path.relative_to(folder)}"
            if path.is_symlink() and with_links:
                row = zipfile.ZipInfo(name)
                row.external_attr = (stat.S_IFLNK | 0o777) << 16
                packed.writestr(row, str(path.readlink()))
            elif path.is_symlink():
                packed.writestr(name, str(path.readlink()))
            elif path.is_file() and ".git" not in path.parts:
                packed.write(path, name)
    return archive


def test_a_zip_keeps_its_links_and_has_no_history(whole: Path, tmp_path: Path) -> None:
    archive = _zip(whole, tmp_path / "a.zip", with_links=True)
    assert _code(archive, "v1") == "source-no-history"
    recipe, found = load("custom_cpu"), _found(archive, backend="custom_cpu")
    root = bring.bring(found, recipe, OFFLINE)
    assert not found.commit and (root / recipe.folder / "cmake/paddle.cmake").is_file()
    assert not source_files.as_text(root, root / recipe.folder)
    assert bring.bring(found, recipe, OFFLINE) == root


def test_links_that_became_text_are_told(whole: Path, tmp_path: Path) -> None:
    found = _found(_zip(whole, tmp_path / "a.zip", with_links=False))
    root = bring.bring(found, load("npu"), OFFLINE)
    told = source_files.as_text(root, root / "backends/npu")
    assert "backends/npu/cmake/generic.cmake" in told and len(told) >= 4


def test_links_that_lead_nowhere_are_told_but_not_those_into_a_submodule(tree: Path) -> None:
    recipe, own = load("npu"), tree / "backends/npu"
    shutil.rmtree(tree / "Paddle")
    assert source_files.dangling(tree, own, recipe) == []
    (tree / "cmake/paddle.cmake").unlink()
    (own / "cmake/itself.cmake").symlink_to("itself.cmake")
    (own / "tools/other").symlink_to("nowhere")  # nothing of cmake's
    assert source_files.dangling(tree, own, recipe) == [
        "backends/npu/cmake/itself.cmake -> itself.cmake",
        "backends/npu/cmake/paddle.cmake -> ../../../cmake/paddle.cmake",
    ]


@pytest.mark.parametrize("leads", ["../../outside", "/etc/passwd", "a/../../../x"])
def test_an_archive_whose_links_lead_out_of_it(tmp_path: Path, leads: str) -> None:
    archive = tmp_path / "bad.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        row = zipfile.ZipInfo("top/link")
        row.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(row, leads)
        packed.writestr("top/file", "x")
    _refused(archive)


def test_an_archive_that_writes_through_its_own_link(tmp_path: Path) -> None:
    archive = tmp_path / "bad.tar"
    with tarfile.open(archive, "w") as packed:
        packed.addfile(tarfile.TarInfo("top/b/d"), io.BytesIO(b""))
        # By its text the second leads to top/p/x, in fact it would lead out.
        for name, leads in (("top/p/q", "../.."), ("top/p/q/r", "../x")):
            row = tarfile.TarInfo(name)
            row.type, row.linkname = tarfile.SYMTYPE, leads
            packed.addfile(row)
    _refused(archive)


def _refused(archive: Path) -> None:
    found = _found(archive)
    with pytest.raises(PaddockError) as caught:
        bring.bring(found, load("npu"), OFFLINE)
    assert caught.value.code == "package-unsafe"
    assert not found.root.exists()


def test_an_archive_that_is_cut_short(whole: Path, tmp_path: Path) -> None:
    archive = _zip(whole, tmp_path / "a.zip", with_links=True)
    content = archive.read_bytes()
    archive.write_bytes(content[: len(content) // 2])
    assert _code(archive) == "package-damaged"
    packed = tmp_path / "a.tar.gz"
    with tarfile.open(packed, "w:gz") as tar:
        tar.add(whole / "cmake", "top/cmake")
    packed.write_bytes(packed.read_bytes()[:40])
    assert _code(packed) == "package-damaged"


def _member(packed: tarfile.TarFile, name: str, content: bytes = b"", **more: object) -> None:
    row = tarfile.TarInfo(name)
    row.size = len(content)
    for key, value in more.items():
        setattr(row, key, value)
    packed.addfile(row, io.BytesIO(content))


def test_an_archive_keeps_programs_and_second_names_of_files(tmp_path: Path) -> None:
    archive, zipped = tmp_path / "a.tar", tmp_path / "a.zip"
    with tarfile.open(archive, "w") as packed:
        _member(packed, "top/tools/run.sh", b"#!/bin/sh\n", mode=0o755)
        _member(packed, "top/a.cc", b"int a;\n")
        _member(packed, "top/more/b.cc", type=tarfile.LNKTYPE, linkname="top/a.cc")
    root = bring.bring(_found(archive), load("npu"), OFFLINE)
    assert (root / "more/b.cc").read_text() == "int a;\n"
    assert os.access(root / "tools/run.sh", os.X_OK) and not os.access(root / "a.cc", os.X_OK)
    row = zipfile.ZipInfo("top/run.sh")
    row.external_attr = (stat.S_IFREG | 0o755) << 16
    with zipfile.ZipFile(zipped, "w") as other:
        other.writestr(row, "#!/bin/sh\n")
        other.writestr("__MACOSX/top/._run.sh", "of Finder's")
    assert os.access(bring.bring(_found(zipped), load("npu"), OFFLINE) / "run.sh", os.X_OK)


def test_an_archive_with_a_second_name_of_nothing(tmp_path: Path) -> None:
    archive = tmp_path / "bad.tar"
    with tarfile.open(archive, "w") as packed:
        _member(packed, "top/a.cc", b"int a;\n")
        _member(packed, "top/b.cc", type=tarfile.LNKTYPE, linkname="top/c.cc")
    found = _found(archive)
    with pytest.raises(PaddockError) as caught:
        bring.bring(found, load("npu"), OFFLINE)
    assert caught.value.code == "package-damaged" and not found.root.exists()


POINTER = """version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
"""


def test_files_that_git_lfs_keeps_elsewhere_are_told(tree: Path) -> None:
    (tree / "backends/npu/kernels/lib.a").write_text(POINTER)
    commit(tree)
    root = bring.bring(_found(tree), load("npu"), OFFLINE)
    assert source_files.pointers(root, root / "backends/npu") == ["backends/npu/kernels/lib.a"]
    assert source_files.pointers(root, root / "backends/gcu") == []


def test_a_bundle_that_is_killed_leaves_nothing_behind(tree: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "a.bundle"
    git(tree, "bundle", "create", str(bundle), "--all")
    place = Path(_found(bundle).origin)
    left = [place.with_name(f"{place.name}.{process}") for process in (1, 99999999)]
    shutil.rmtree(place)
    for folder in left:
        folder.mkdir()
    _found(bundle)
    assert [folder.exists() for folder in left] == [True, False]  # the first one is at work


def test_a_bundle_is_a_repository_in_a_file(tree: Path, tmp_path: Path) -> None:
    first = git(tree, "rev-parse", "HEAD")
    git(tree, "tag", "-a", "-m", "a tag of its own", "v2")
    (tree / "backends/npu/passes/pass.py").write_text("two = 2\n")
    second = commit(tree)
    bundle = tmp_path / "来 源.bundle"
    git(tree, "bundle", "create", str(bundle), "--all")
    assert (_found(bundle).commit, _found(bundle, "v2").commit) == (second, first)
    assert _code(bundle, "v9") == "source-ref"
    shutil.rmtree(tree)
    root = bring.bring(_found(bundle), load("npu"), OFFLINE)
    assert (root / "backends/npu/passes/pass.py").read_text() == "two = 2\n"
    bring.bring(_found(bundle, "v2"), load("npu"), OFFLINE)
    assert (root / "backends/npu/passes/pass.py").read_text() != "two = 2\n"


def test_bundles_that_are_not_whole(tree: Path, tmp_path: Path) -> None:
    bundle, later = tmp_path / "a.bundle", tmp_path / "later.bundle"
    git(tree, "bundle", "create", str(bundle), "v1")
    assert _code(bundle) == "source-ref"  # no HEAD in it, and not the tag of the recipe
    assert _found(bundle, "v1").commit
    commit(tree, "More")
    git(tree, "bundle", "create", str(later), "HEAD", "^v1")
    assert _code(later) == "source-missing"  # what it builds upon is not in it
    for size in (60, bundle.stat().st_size - 30):
        cut = tmp_path / f"cut{size}.bundle"
        cut.write_bytes(bundle.read_bytes()[:size])
        assert _code(cut) == "package-damaged"
    assert not list((tmp_path / "home").rglob("cut*"))


def test_a_folder_without_git_changes_with_its_files(tmp_path: Path, whole: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(whole, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    before = _found(copy).identity
    assert _found(copy).identity == before
    (copy / "backends/npu/passes/pass.py").write_text("")
    assert _found(copy).identity != before


def test_another_commit_comes_into_the_same_checkout(tree: Path) -> None:
    recipe = load("npu")
    place = bring.bring(_found(tree), recipe, OFFLINE)
    kept = (place / "backends/npu/setup.py.in").stat().st_mtime_ns
    (tree / "backends/npu/passes/pass.py").write_text("two = 2\n")
    commit(tree)
    assert bring.bring(_found(tree), recipe, OFFLINE) == place
    assert (place / "backends/npu/passes/pass.py").read_text() == "two = 2\n"
    assert (place / "backends/npu/setup.py.in").stat().st_mtime_ns == kept
    packs = (place / ".git/objects/pack").glob("*.pack")
    less, more = sorted(path.stat().st_size for path in packs)
    assert less < more / 4  # only what differs was fetched


def test_two_clones_of_a_repository_have_one_checkout(tree: Path, tmp_path: Path) -> None:
    """So the compiler sees the same paths, and its cache answers."""
    other, recipe = tmp_path / "another clone", load("npu")
    subprocess.run(["git", "clone", "--quiet", str(tree), str(other)], check=True)
    (other / "backends/npu/passes/pass.py").write_text("two = 2\n")
    commit(other)
    place = bring.bring(_found(tree), recipe, OFFLINE)
    assert bring.bring(_found(other), recipe, OFFLINE) == place
    assert (place / "backends/npu/passes/pass.py").read_text() == "two = 2\n"
    assert bring.bring(_found(tree), recipe, OFFLINE) == place
    assert (place / "backends/npu/passes/pass.py").read_text() != "two = 2\n"


def test_links_of_the_tree_are_upstreams(whole: Path) -> None:
    assert all((whole / path).is_symlink() for path in links(Path()))
