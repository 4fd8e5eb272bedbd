"""Packages from a server, and from the vendors' sites: what the plan makes of them."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from provision import fetching
from provision.errors import PaddockError
from provision.network import Network
from provision.plan import Planned, plan
from provision.steps.base import Context
from provision.steps.vendor import missing, notes
from provision.vendor import deps, licences, public
from provision.vendor.remote import Remote
from provision.vendor.server import Server
from provision.vendor.unpack import unpack
from provision.vendor.unpacked import place, seal
from tests.vendor.conftest import Make
from tests.vendor.faulty import Faulty, serving

TOOLKIT = "Ascend-cann-toolkit_8.0.0_linux-x86_64"
HDK = "Ascend-hdk-910b-npu_24.1.0_linux-x86-64.zip"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Faulty]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as made:
        yield made


def page(*links: str) -> bytes:
    rows = "".join(f'<a href="{link}">{link[:8]}..&gt;</a> 30-Nov-2026 1024\n' for link in links)
    return f'<html><a href="../">../</a><a href="?C=N;O=D">Name</a>\n{rows}</html>'.encode()


def listed(server: Faulty, path: str = "", login: str = "") -> dict[str, tuple[str, str]]:
    offers = Server(server.url(path, login), Network()).offers
    return {one.name: (one.url, one.sha256) for one in offers}


def test_a_page_of_links_is_a_list_of_files(server: Faulty) -> None:
    """As nginx, Apache, Artifactory and Python's own server write it."""
    port = server.port
    own = ("a.run", "./b%20c%2B.deb", f"http://127.0.0.1:{port}/d.zip", "/e.whl#sha", "sub/")
    server.files[""] = page(*own, "http://elsewhere/f.run", "mailto:x@y", "/")
    server.files["sub/"] = page("g.run", "deeper/")
    found = listed(server)
    assert sorted(found) == ["a.run", "b c+.deb", "d.zip", "e.whl", "g.run"]
    assert found["g.run"][0] == server.url("sub/g.run")
    assert found["b c+.deb"][0] == server.url("b%20c%2B.deb")


def test_the_sums_of_a_folder_count_for_its_files(server: Faulty) -> None:
    digest = "0aF" + "1" * 61
    server.files[""] = page("a.run", "b.run", "SHA256SUMS")
    server.files["SHA256SUMS"] = f"{digest}  a.run\nnonsense\n{'2' * 64} *./c.run\n".encode()
    assert listed(server) == {
        "a.run": (server.url("a.run"), digest.lower()), "b.run": (server.url("b.run"), ""),
        "c.run": (server.url("c.run"), "2" * 64),
    }  # fmt: skip


@pytest.mark.parametrize("status", ["403", "404"])
def test_a_server_without_pages_is_taken_by_its_sums(server: Faulty, status: str) -> None:
    server.faults["x/"] = status
    server.files["x/SHA256SUMS"] = f"{'3' * 64}  a.run\n".encode()
    assert listed(server, "x") == {"a.run": (server.url("x/a.run"), "3" * 64)}


@pytest.mark.parametrize("fault", ["401", "403", "404", "500", "empty", "gone"])
def test_a_server_that_lists_nothing_is_told_without_its_password(
    server: Faulty, fault: str
) -> None:
    server.faults[""], server.files[""] = fault, b"welcome"
    url = "http://u:s3cret@127.0.0.1:1/" if fault == "gone" else server.url("", "u:s3cret")
    with pytest.raises(PaddockError) as caught:
        _ = Server(url, Network()).offers
    assert caught.value.code == "server-failed"
    assert "s3cret" not in str(caught.value) and "127.0.0.1" in str(caught.value)


def test_a_certificate_that_nobody_knows_is_told(server: Faulty) -> None:
    with pytest.raises(PaddockError) as caught:
        _ = Server(server.url().replace("http:", "https:"), Network()).offers
    assert caught.value.code == "server-failed"


def work(context: Context) -> dict[str, Planned]:
    return {one.name: one for one in fetching.fetched(plan(context), context)}


@pytest.fixture
def bare(make: Make, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A context on whose machine only the vendor's packages are missing."""
    monkeypatch.setattr("provision.steps.card.Card.verify", lambda *_: [])
    monkeypatch.setattr("provision.steps.system.System.verify", lambda *_: [])
    monkeypatch.setattr("provision.steps.vendor.needs_root", lambda: None)
    monkeypatch.setattr("provision.steps.account.needs_root", lambda: None)
    return make


def test_what_a_server_has_is_fetched_beside_the_other_steps(bare: Make, server: Faulty) -> None:
    server.files[""] = page(HDK, f"{TOOLKIT}.run")
    remote = Remote(Server(server.url("", "u:s3cret"), Network()))
    context = bare(release="3.3.0", remote=remote, deps=None)
    steps = work(context)
    fetches = [one for one in steps.values() if one.name.startswith("fetch/")]
    assert [one.name for one in fetches] == ["fetch/driver", "fetch/toolkit"]
    assert all(one.step.needs == () and one.state == "pending" for one in fetches)
    assert "fetch/driver" in steps["host/firmware"].step.needs  # of the same archive
    assert "--unpack" in steps["fetch/driver"].script
    assert "--unpack" not in steps["fetch/toolkit"].script
    assert "s3cret" not in repr(steps)
    assert steps["fetch/driver"].kind.variables(fetches[0].step, context) == {
        "PADDOCK_DEPS_AUTH": "u:s3cret"
    }
    published = public.published(context.folder)[HDK]
    assert published in steps["fetch/driver"].script
    assert steps["host/kernels"].state == "blocked"
    keys = {name: one.key for name, one in steps.items() if "fetch" not in name}
    assert keys == {one.name: one.key for one in plan(replace(context, remote=Remote()))}


def test_what_is_here_is_not_asked_for(bare: Make, server: Faulty) -> None:
    context = bare(remote=Remote(Server(server.url(), Network())))
    for row in context.stack.packages.values():
        if name := deps.wanted(row, context):
            start = "PK" if name.endswith(".whl") else "#!"
            (context.deps or Path()).joinpath(name).write_text(start)
    assert not [name for name in work(context) if name.startswith("fetch/")]
    assert server.asked == []


def test_without_a_licence_the_lack_says_how_to_accept_it(make: Make) -> None:
    context = make(release="3.3.0")
    rows = context.stack.packages
    lack = missing([rows["toolkit"], rows["driver"], rows["plugin"]], context)
    assert lack
    told = "\n".join(lack.details)
    assert told.count("--accept-eula huawei") == 2 and "https://e.huawei.com/" in told
    assert f"{TOOLKIT}.zip" in told and HDK in told and "https://ascend-repo.obs" in told


def test_with_the_licence_the_vendors_site_is_taken_by_its_digest(bare: Make) -> None:
    context = bare(release="3.3.0", remote=Remote(accepted=frozenset({"huawei"})))
    steps = work(context)
    for name in ("driver", "toolkit", "kernels"):
        script = steps[f"fetch/{name}"].script
        assert "https://ascend-repo.obs" in script and "https://www.hiascend.com/" in script
        assert any(digest in script for digest in public.published(context.folder).values())
    offline = replace(context, remote=replace(context.remote, offline=True))
    assert not [name for name in work(offline) if name.startswith("fetch/")]


def test_a_licence_is_remembered_and_told_once(make: Make) -> None:
    context = make()
    assert licences.accepted(context.site) == set()
    told = licences.accept(context.site, ["huawei"], context.folder)
    assert len(told) == 1 and "https://e.huawei.com/" in told[0]
    assert licences.accept(context.site, ["huawei"], context.folder) == []
    assert licences.accepted(context.site) == {"huawei"}


def test_a_licence_that_nobody_asks_for_is_refused(make: Make) -> None:
    for target, name in (("ascend910b", "enflame"), ("s60", "huawei")):
        with pytest.raises(PaddockError) as caught:
            licences.check([name], make(target).folder)
        assert caught.value.code == "bad-option"


def test_what_came_in_a_published_archive_needs_no_trust(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = make()
    archive = (context.deps or Path()) / f"{TOOLKIT}.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr(f"{TOOLKIT}.run", "content")
    folder = place(archive, context.site.unpacked)
    unpack(archive, folder)
    package = context.stack.packages["toolkit"]
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    seal(folder).write_text(digest)
    assert any("first use" in line for line in notes(package, context))
    known = {archive.name: digest}
    monkeypatch.setattr("provision.steps.vendor.published", lambda _: known)
    assert not list(notes(package, context))


def test_every_list_of_a_vendor_is_sound() -> None:
    from provision.paths import IMAGES, targets

    found = [(target, public.sites(IMAGES / target)) for target in targets()]
    assert dict(found)["ascend910b"]["huawei"].referer
    for target, sites in found:
        names = [one.name for site in sites.values() for one in site.offers()]
        assert len(names) == len(set(names)) == len(public.published(IMAGES / target))
