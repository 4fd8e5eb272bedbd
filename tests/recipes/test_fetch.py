"""Sources and their submodules over the network: commits that no branch ends with, old servers,
fetches that are killed, and commits that are nowhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from provision.errors import PaddockError
from provision.network import Network
from provision.wheels import bring, modules, source
from provision.wheels.recipe import load
from tests.conftest import ROOT, variables
from tests.recipes.server import Host, hosted, serving
from tests.recipes.upstream import commit, git

pytestmark = pytest.mark.slow
KNOWN = {"machine": "x86_64", "atb": "/nowhere"}
RECIPE = load("npu")
FETCH = """
import sys
from provision.network import Network
from provision.wheels import bring, modules, source
from provision.wheels.recipe import load
found = source.find(load("npu"), sys.argv[1], sys.argv[2], Network())
root = bring.bring(found, load("npu"), Network())
modules.check_out(found, root, load("npu"), {"machine": "x86_64", "atb": "/nowhere"}, Network())
"""


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a host, and the commit that is wanted of it."""
    place = tmp_path_factory.mktemp("host")
    return place / "served", hosted(place)


@pytest.fixture
def host(repositories: tuple[Path, str], home: Path) -> Iterator[Host]:
    with serving(Host(repositories[0])) as found:
        yield found


def _fetched(host: Host, ref: str) -> Path:
    """The sources with all submodules, as the tool has fetched them."""
    found = source.find(RECIPE, f"{host.url}/PaddleCustomDevice", ref, Network())
    root = bring.bring(found, RECIPE, Network())
    assert modules.check_out(found, root, RECIPE, KNOWN, Network()) == ([], "")
    for module in modules.wanted(RECIPE, root, KNOWN):
        assert not (root / module.path / "LATER").exists()  # the recorded commit, not the newest
        assert git(root / module.path, "status", "--porcelain") == ""
    return root


def _depth(folder: Path) -> int:
    return int(git(folder, "rev-list", "--count", "HEAD"))


def test_only_the_recorded_commits_are_fetched_side_by_side(
    host: Host, repositories: tuple[Path, str]
) -> None:
    root = _fetched(host, repositories[1])
    assert [_depth(root), _depth(root / "Paddle")] == [1, 1]
    assert _depth(root / "Paddle/third_party/glog") == 1
    assert host.at_once() > 1
    before = len(host.asked)
    assert _fetched(host, repositories[1]) == root and len(host.asked) == before


@pytest.mark.parametrize("kind", ["old", "plain"])
def test_a_server_that_gives_no_single_commits(
    host: Host, repositories: tuple[Path, str], kind: str
) -> None:
    setattr(host, kind, True)
    depth = _depth(_fetched(host, repositories[1]) / "Paddle")
    assert depth > 1 or kind == "old"  # some releases of git manage alone with that one


def test_an_old_server_that_is_set_to_give_them(host: Host, repositories: tuple[Path, str]) -> None:
    host.old, places = True, list(repositories[0].iterdir())
    for place in places:
        git(place, "config", "uploadpack.allowReachableSHA1InWant", "true")
    try:
        assert _depth(_fetched(host, repositories[1]) / "Paddle") == 1
    finally:
        for place in places:
            git(place, "config", "--unset", "uploadpack.allowReachableSHA1InWant")


@pytest.mark.parametrize("where", ["PaddleCustomDevice", "glog"])
def test_a_fetch_that_is_killed_goes_on(
    host: Host, repositories: tuple[Path, str], home: Path, where: str
) -> None:
    host.stalls = where
    argv = [sys.executable, "-c", FETCH, f"{host.url}/PaddleCustomDevice", repositories[1]]
    with subprocess.Popen(argv, cwd=ROOT, env=variables(home)) as process:
        assert host.stalled.wait(30)
        time.sleep(0.1)
        process.kill()
    host.stalls = ""
    _fetched(host, repositories[1])


def test_what_killed_git_leaves_behind(host: Host, repositories: tuple[Path, str]) -> None:
    root = _fetched(host, repositories[1])
    place, store = root / "Paddle", root / ".git/modules/Paddle"
    before = len(host.asked)
    for lock in ("index.lock", "shallow.lock", "config.lock"):
        (store / lock).touch()
        (root / ".git" / lock).touch()
    (store / "index").unlink()
    (place / "cmake/version.cmake").unlink()
    _fetched(host, repositories[1])
    assert (place / "cmake/version.cmake").is_file() and len(host.asked) == before
    # Killed in the first moments of it: a store that knows neither a commit nor its origin.
    shutil.rmtree(place)
    shutil.rmtree(store)
    git(root, "init", "--quiet", "--bare", str(store))
    _fetched(host, repositories[1])
    (store / "HEAD").unlink()
    _fetched(host, repositories[1])


def test_a_commit_that_is_nowhere(
    host: Host, repositories: tuple[Path, str], tmp_path: Path
) -> None:
    nowhere = "1" * 40
    with pytest.raises(PaddockError) as caught:
        _fetched(host, nowhere)
    assert caught.value.code == "source-ref" and nowhere in caught.value.part("what")
    served = tmp_path / "served"
    shutil.copytree(repositories[0], served)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(served / "PaddleCustomDevice"), str(clone))
    git(clone, "update-index", "--cacheinfo", f"160000,{nowhere},Paddle")
    git(clone, "commit", "--quiet", "-m", "A commit that nobody pushed")
    git(clone, "push", "--quiet", "origin", "HEAD:develop")
    with serving(Host(served)) as other:
        found = source.find(RECIPE, f"{other.url}/PaddleCustomDevice", "develop", Network())
        root = bring.bring(found, RECIPE, Network())
        gone, said = modules.check_out(found, root, RECIPE, KNOWN, Network())
    assert gone == modules.wanted(RECIPE, root, KNOWN)
    assert nowhere in said and "Paddle" in said


def test_another_commit_brings_its_own_submodules(
    host: Host, repositories: tuple[Path, str]
) -> None:
    root = _fetched(host, repositories[1])
    recorded = git(root, "rev-parse", "HEAD:Paddle")
    older = source.find(RECIPE, f"{host.url}/PaddleCustomDevice", "v1", Network())
    bring.bring(older, RECIPE, Network())
    modules.check_out(older, root, RECIPE, KNOWN, Network())
    assert git(root / "Paddle", "rev-parse", "HEAD") == git(root, "rev-parse", "HEAD:Paddle")
    assert git(root, "rev-parse", "HEAD:Paddle") != recorded


def test_a_mirror_in_place_of_the_vendors_address(
    host: Host, repositories: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = '[url "{}"]\ninsteadOf = https://example.org/vendor\n'
    (tmp_path / ".gitconfig").write_text(wanted.format(host.url))
    monkeypatch.setenv("HOME", str(tmp_path))
    host.url = "https://example.org/vendor"
    _fetched(host, repositories[1])


def _modules(given: Path | str, ref: str = "") -> tuple[list[str], str]:
    """The submodules that cannot be had, and what git said."""
    found = source.find(RECIPE, str(given), ref, Network())
    root = bring.bring(found, RECIPE, Network())
    gone, said = modules.check_out(found, root, RECIPE, KNOWN, Network())
    return [one.path for one in gone], said


def test_submodules_beside_the_origin_of_a_clone(host: Host, tmp_path: Path) -> None:
    """Their addresses are relative, and they were not fetched into the clone."""
    git(tmp_path, "clone", "--quiet", f"{host.url}/PaddleCustomDevice", "clone")
    assert _modules(tmp_path / "clone") == ([], "")


def test_a_clone_that_says_where_its_submodules_are(host: Host, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", f"{host.url}/PaddleCustomDevice", "clone")
    clone = tmp_path / "clone"
    git(clone, "remote", "set-url", "origin", "http://127.0.0.1:1/PaddleCustomDevice")
    assert _modules(clone)[0]
    git(clone, "config", "submodule.Paddle.url", f"{host.url}/Paddle")
    assert _modules(clone) == ([], "")


def test_another_mirror_of_the_same_sources(
    repositories: tuple[Path, str], home: Path, tmp_path: Path
) -> None:
    """The checkout is one for all: nothing in it leads to the mirror of before."""
    with serving(Host(repositories[0])) as gone:
        assert _modules(f"{gone.url}/PaddleCustomDevice", "v1") == ([], "")
        assert _modules(f"{gone.url}/PaddleCustomDevice", repositories[1]) == ([], "")
    served = tmp_path / "served"
    shutil.copytree(repositories[0], served)
    git(tmp_path, "clone", "--quiet", str(served / "Paddle"), "paddle")
    newest = commit(tmp_path / "paddle")
    git(tmp_path / "paddle", "push", "--quiet", "origin", "HEAD:next")
    git(tmp_path, "clone", "--quiet", str(served / "PaddleCustomDevice"), "clone")
    git(tmp_path / "clone", "update-index", "--cacheinfo", f"160000,{newest},Paddle")
    git(tmp_path / "clone", "commit", "--quiet", "-m", "A newer Paddle")
    git(tmp_path / "clone", "push", "--quiet", "origin", "HEAD:next")
    with serving(Host(served)) as other:
        assert _modules(f"{other.url}/PaddleCustomDevice", "next") == ([], "")


@pytest.mark.parametrize("ref", ["HEAD", "refs/heads/develop", "upper"])
def test_what_a_ref_may_be_at_an_address(
    host: Host, repositories: tuple[Path, str], ref: str
) -> None:
    wanted = git(repositories[0] / "PaddleCustomDevice", "rev-parse", "develop")
    asked = wanted.upper() if ref == "upper" else ref
    found = source.find(RECIPE, f"{host.url}/PaddleCustomDevice", asked, Network())
    assert found.commit == wanted


def test_an_address_that_git_knows_by_a_short_name(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text(f'[url "{host.url}/"]\ninsteadOf = vendor:\n')
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _modules("vendor:PaddleCustomDevice", "v1") == ([], "")


def test_a_commit_that_has_no_such_submodule(host: Host, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", f"{host.url}/PaddleCustomDevice", "clone")
    git(tmp_path / "clone", "rm", "--quiet", "--cached", "Paddle")
    (tmp_path / "clone/Paddle").rmdir()
    git(tmp_path / "clone", "commit", "--quiet", "-m", "Without it")
    gone, said = _modules(tmp_path / "clone")
    assert "Paddle" in gone and said == "Paddle is no submodule of this commit"


@pytest.mark.parametrize("given", ["http://127.0.0.1:1/x", "ssh://127.0.0.1:1/x", "no.invalid:x"])
def test_an_address_that_cannot_be_reached(home: Path, given: str) -> None:
    with pytest.raises(PaddockError) as caught:
        source.find(RECIPE, given, "v1", Network())
    assert caught.value.code == "source-unreached" and "--source" in caught.value.part("do")
    assert re.search("connect|resolve", caught.value.part("what"))


@pytest.mark.parametrize("kind", ["blob:none", "tree:0"])
def test_a_clone_that_has_no_files_but_those_checked_out(
    repositories: tuple[Path, str], host: Host, tmp_path: Path, kind: str
) -> None:
    served = repositories[0] / "PaddleCustomDevice"
    for name in ("allowFilter", "allowAnySHA1InWant"):
        git(served, "config", f"uploadpack.{name}", "true")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", f"--filter={kind}", f"{host.url}/{served.name}", "clone")
    found = source.find(RECIPE, str(clone), "v1", Network())
    with pytest.raises(PaddockError) as caught:
        bring.bring(found, RECIPE, Network(offline=True))
    assert caught.value.code == "source-missing" and "promisor" in caught.value.part("what")
    assert (bring.bring(found, RECIPE, Network()) / RECIPE.folder).is_dir()


def test_a_checkout_ends_with_the_tool(
    tree: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would write on into what the next build makes."""
    note = tmp_path / "note"
    script = f"echo $$ >{note}.new && mv {note}.new {note} && sleep 60; cat"
    (tmp_path / ".gitconfig").write_text(f'[filter "slow"]\nsmudge = "{script}"\n')
    (tree / ".gitattributes").write_text("*.py filter=slow\n")
    commit(tree)
    monkeypatch.setenv("HOME", str(tmp_path))
    argv = [sys.executable, "-c", FETCH, str(tree), "HEAD"]
    with subprocess.Popen(argv, cwd=ROOT, env=variables(home)) as process:
        assert _comes(note.is_file, 60)
        process.kill()
    assert _comes(lambda: not Path("/proc", note.read_text().strip()).is_dir(), 20)


def _comes(happened: Callable[[], bool], limit: float) -> bool:
    """Whether something comes to be within `limit` seconds."""
    end = time.monotonic() + limit
    while not happened() and time.monotonic() < end:
        time.sleep(0.05)
    return happened()


def test_a_clone_of_one_commit_at_no_branch(tmp_path: Path, whole: Path, home: Path) -> None:
    """As CI has it: shallow, and what is checked out is on no branch."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{whole}", str(clone))
    git(clone, "checkout", "--quiet", "--detach")
    (clone / "backends/npu/passes/pass.py").write_text("detached = 1\n")
    wanted = commit(clone)
    found = source.find(RECIPE, str(clone), "", Network(offline=True))
    root = bring.bring(found, RECIPE, Network(offline=True))
    assert (
        found.commit == wanted and "detached" in (root / "backends/npu/passes/pass.py").read_text()
    )
