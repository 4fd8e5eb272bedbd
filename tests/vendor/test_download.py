"""One file from a real server, whatever goes wrong on the way."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections import namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from provision.symptoms import classify
from provision.vendor import download, web
from tests.conftest import ROOT
from tests.vendor.faulty import Faulty, serving

CONTENT = random.Random(1).randbytes(3_000_000)  # noqa: S311 - no secret
SHA = hashlib.sha256(CONTENT).hexdigest()
NAME = "TopsRider_i3x_3.2.109_deb_amd64.run"
Get = Callable[..., tuple[int, str]]


@pytest.fixture
def server() -> Iterator[Faulty]:
    with serving() as made:
        made.files[NAME] = CONTENT
        yield made


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "downloads" / NAME


@pytest.fixture
def get(
    server: Faulty, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Get:
    """Runs the download in this process; gives its status and what it has printed."""
    monkeypatch.setattr(time, "sleep", lambda _: None)
    for name in [one for one in os.environ if one.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)

    def run(*more: str, sha: str = SHA, url: str = "", file: Path = place) -> tuple[int, str]:
        words = ["--url", url or server.url(NAME), "--sha256", sha, *more, "--", str(file)]
        monkeypatch.setattr(sys, "argv", ["download", *words])
        return download.main(), capsys.readouterr().out

    return run


def left(place: Path) -> list[str]:
    return sorted(path.name for path in place.parent.iterdir())


def test_a_file_comes_whole_and_alone(get: Get, server: Faulty, place: Path) -> None:
    assert get("--referer", "https://www.example.org/")[0] == 0
    assert place.read_bytes() == CONTENT and left(place) == [NAME]
    assert server.asked[0][1]["Referer"] == "https://www.example.org/"
    assert server.asked[0][1]["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("status", ["403", "404", "401", "410"])
def test_a_refusal_is_told_and_not_asked_again(
    get: Get, server: Faulty, place: Path, status: str
) -> None:
    server.faults[NAME] = status
    code, told = get()
    assert code == 1 and f"HTTP {status}" in told and len(server.asked) == 1
    assert classify(told.splitlines()) == "download-failed" and left(place) == []


@pytest.mark.parametrize("status", ["500", "503", "429"])
def test_a_busy_server_is_asked_again(get: Get, server: Faulty, status: str) -> None:
    server.faults[NAME] = status
    code, told = get()
    assert code == 1 and f"HTTP {status}" in told and len(server.asked) == download.ATTEMPTS


@pytest.mark.parametrize(("tag", "sha"), [('"v1"', SHA), ('"v1"', ""), ("", SHA)])
def test_a_cut_download_goes_on(get: Get, server: Faulty, place: Path, tag: str, sha: str) -> None:
    server.tag, server.cuts = tag, [1_000_000, 700_000]
    assert get(sha=sha)[0] == 0
    assert place.read_bytes() == CONTENT
    assert server.ranges() == ["", "bytes=1000000-", "bytes=1700000-"]


def test_where_nothing_tells_that_it_is_the_same_it_begins_anew(
    get: Get, server: Faulty, place: Path
) -> None:
    server.tag, server.cuts = "", [1_000_000]
    assert get(sha="")[0] == 0
    assert place.read_bytes() == CONTENT and server.ranges() == ["", ""]


def test_a_download_goes_on_in_a_later_run(get: Get, server: Faulty, place: Path) -> None:
    server.cuts = [1_000_000, 0, 0, 0, 0]
    code, told = get()
    assert code == 1 and "no download" in told
    assert left(place) == [f"{NAME}.part", f"{NAME}.part.json"]
    server.asked.clear()
    assert get()[0] == 0
    assert server.ranges() == ["bytes=1000000-"] and place.read_bytes() == CONTENT


def test_another_file_in_its_place_is_not_joined(get: Get, server: Faulty, place: Path) -> None:
    server.files[NAME], server.cuts = bytes(3_000_000), [1_000_000, 0, 0, 0, 0]
    assert get(sha="")[0] == 1
    server.files[NAME], server.tag = CONTENT, '"v2"'
    assert get(sha="")[0] == 0
    assert place.read_bytes() == CONTENT


def test_pieces_of_two_files_are_found_by_the_digest(get: Get, server: Faulty, place: Path) -> None:
    server.files[NAME], server.cuts = bytes(3_000_000), [1_000_000, 0, 0, 0, 0]
    assert get()[0] == 1
    server.files[NAME], server.faults[NAME] = CONTENT, "any-range"
    assert get()[0] == 0
    assert place.read_bytes() == CONTENT and server.ranges()[-2:] == ["bytes=1000000-", ""]


def test_a_shrunk_file_is_fetched_anew(get: Get, server: Faulty, place: Path) -> None:
    server.files[NAME], server.cuts = CONTENT * 2, [4_000_000, 0, 0, 0, 0]
    assert get()[0] == 1
    server.files[NAME] = CONTENT
    assert get()[0] == 0
    assert place.read_bytes() == CONTENT


def test_a_length_that_never_comes_true_ends(get: Get, server: Faulty, place: Path) -> None:
    server.faults[NAME] = "long"
    code, told = get()
    assert code == 1 and classify(told.splitlines()) == "download-failed"
    assert not place.exists() and len(server.asked) <= 2 * download.ATTEMPTS


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT[:-1] + b"x", b""])
def test_another_file_is_refused_and_not_kept(
    get: Get, server: Faulty, place: Path, content: bytes
) -> None:
    server.files[NAME] = content
    code, told = get()
    assert code == 1 and classify(told.splitlines()) == "download-refused"
    assert left(place) == []


@pytest.mark.parametrize("fault", ["silent", "stalls"])
def test_a_silent_server_is_given_up(
    get: Get, server: Faulty, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(web, "SILENCE", 0.1)
    server.faults[NAME], server.cuts = fault, [0] * 4
    code, told = get()
    assert code == 1 and "timed out" in told and len(server.asked) == download.ATTEMPTS
    assert classify(told.splitlines()) == "download-failed"


def test_a_chunked_answer_that_is_cut_is_not_taken_for_whole(
    get: Get, server: Faulty, place: Path
) -> None:
    server.faults[NAME], server.cuts = "chunked", [1_000_000]
    assert get(sha="")[0] == 0
    assert place.read_bytes() == CONTENT and len(server.asked) == 2


@pytest.mark.parametrize("name", [NAME, "TopsPlatform.tar.gz"])
def test_what_was_packed_for_the_way_is_unpacked(
    get: Get, server: Faulty, place: Path, name: str
) -> None:
    """An archive that some servers call packed stays as it is."""
    server.files[name], server.faults[name] = CONTENT, "gzip"
    file = place.with_name(name)
    code, told = get(url=server.url(name), sha=SHA if name == NAME else "", file=file)
    assert code == 0, told
    assert (file.read_bytes() == CONTENT) == (name == NAME)


def test_it_follows_where_the_server_sends_it(get: Get, server: Faulty, place: Path) -> None:
    server.faults["old"] = server.url(NAME)
    assert get(url=server.url("old"))[0] == 0
    assert place.read_bytes() == CONTENT


def test_the_login_goes_to_its_own_server_alone(
    get: Get, server: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(download.AUTH, "someone:s3cret")
    with serving() as other:
        other.files["x"] = CONTENT
        server.faults |= {"here": server.url(NAME), "there": other.url("x")}
        assert get(url=server.url("here"))[0] == 0
        assert get(url=server.url("there"))[0] == 0
        assert ["Authorization" in headers for _, headers in server.asked] == [True] * 3
        assert ["Authorization" in headers for _, headers in other.asked] == [False]


def test_it_asks_for_the_room_first(
    get: Get, server: Faulty, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1 << 40, 0, (256 << 20) + 1000))
    code, told = get()
    assert code == 1 and classify(told.splitlines()) == "disk-full"
    assert "2 MiB to come, 1000 bytes free" in told
    assert place.with_name(f"{NAME}.part").stat().st_size == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a small disk")
def test_a_disk_that_fills_on_the_way_keeps_what_came(
    get: Get, server: Faulty, tmp_path: Path
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no mounts here")
    try:
        server.faults[NAME] = "chunked"
        code, told = get(file=small / NAME)
        assert code == 1 and classify(told.splitlines()) == "disk-full", told
        assert not (small / NAME).exists()
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_place_that_is_no_folder_is_told(get: Get, place: Path) -> None:
    place.parent.write_text("a file")
    code, told = get()
    assert code == 1 and classify(told.splitlines()) == "read-only"


def _process(server: Faulty, place: Path, *before: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "provision.vendor.download", "--url", server.url(NAME)]
    variables = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    return subprocess.Popen(
        [*before, *words, "--sha256", SHA, "--", str(place)], cwd=ROOT, env=variables,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_a_killed_download_goes_on(server: Faulty, place: Path) -> None:
    server.pause = 0.05
    with _process(server, place) as run:
        part = place.with_name(f"{NAME}.part")
        until = time.monotonic() + 20
        while not part.exists() or part.stat().st_size < 500_000:
            assert run.poll() is None and time.monotonic() < until
            time.sleep(0.01)
        run.send_signal(signal.SIGKILL)
    assert not place.exists()
    server.pause = 0
    server.asked.clear()
    with _process(server, place) as run:
        assert run.wait(20) == 0
    assert place.read_bytes() == CONTENT
    assert int(server.ranges()[0].strip("bytes=-")) >= 500_000


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_cache_of_somebody_else_is_told(server: Faulty, tmp_path: Path) -> None:
    """By a root without its powers over files: another user might not reach this Python."""
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o755)
    os.chown(folder, 1234, 1234)
    powers = "--bounding-set=-dac_override,-dac_read_search"
    with _process(server, folder / NAME, "setpriv", powers) as run:
        told, _ = run.communicate(timeout=20)
    assert run.returncode == 1 and classify(told.splitlines()) == "read-only", told


def _zip(file: Path, **members: bytes) -> bytes:
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_SLASH_", "/"), content)
    return file.read_bytes()


def test_an_archive_is_unpacked_and_its_digest_noted(
    get: Get, server: Faulty, tmp_path: Path
) -> None:
    server.files["a.zip"] = _zip(tmp_path / "a.zip", inner=b"content")
    file, sha = tmp_path / "d" / "a.zip", hashlib.sha256(server.files["a.zip"]).hexdigest()
    code, told = get("--unpack", str(tmp_path / "u"), url=server.url("a.zip"), sha=sha, file=file)
    assert code == 0, told
    (folder,) = [path for path in (tmp_path / "u").iterdir() if path.is_dir()]
    assert (folder / "inner").read_bytes() == b"content"
    assert folder.with_name(f"{folder.name}.sha256").read_text() == sha


def test_an_archive_that_leads_out_is_refused(get: Get, server: Faulty, tmp_path: Path) -> None:
    server.files["a.zip"] = _zip(tmp_path / "a.zip", **{".._SLASH_.._SLASH_evil": b"x"})
    file = tmp_path / "d" / "a.zip"
    code, told = get("--unpack", str(tmp_path / "u"), url=server.url("a.zip"), sha="", file=file)
    assert code == 1 and classify(told.splitlines()) == "download-refused" and "evil" in told
    assert not list((tmp_path / "u").iterdir())
