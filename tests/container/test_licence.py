"""`provision --in container --accept-eula`: a vendor's package comes from its site.

The site is a real server on loopback, which hands nothing out to who does not come from its pages.
The tests are steps of one story, in their order.
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import uuid
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import run_cli
from tests.container import small
from tests.lab.boxes.image import with_tool
from tests.lab.machine import LABEL
from tests.vendor.faulty import Faulty, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
ARCHIVE = small.SDK.replace(".run", ".zip")
PATH = f"small%20sdk/{ARCHIVE}"
PAGES = "https://vendor.example/pages/"
LICENCE = "https://vendor.example/licence"
DOWNLOADS = """
[sites.vendor]
vendor = "Vendor"
title = "The Vendor's Licence"
licence = "{licence}"
base = "{base}"
referer = "{pages}"
source = "the tests"
seen = "2026-11"

[[sites.vendor.lists]]
source = "the tests"
seen = "2026-11"

[sites.vendor.lists.files]
"{path}" = "{sha256}"
"""


def packed(payload: str) -> bytes:
    """The vendor's package in the archive in which the site has it."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(zipfile.ZipInfo(small.SDK), small.INSTALLER.replace("PAYLOAD", payload))
    return content.getvalue()


@dataclass(frozen=True)
class Contained:
    """A container that gets the vendor's package alone, and the site."""

    site: Faulty
    folder: Path
    name: str

    def run(self, *more: str) -> subprocess.CompletedProcess[str]:
        """Run `provision`. An index on loopback lets the container have this machine's network."""
        return run_cli(
            self.folder / "home", "provision", "--stack", str(self.folder / "stack/stack.toml"),
            "--in", "container", "--image", with_tool(), "--name", self.name, "--only", "host/sdk",
            *more, PADDOCK_INDEX_URL="http://localhost:9/simple",
        )  # fmt: skip

    def installed(self) -> str:
        """The payload that is there; "" for none."""
        ask = ["docker", "exec", self.name, "sed", "-n", "s/Payload=//p", "/opt/small/version.info"]
        return subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contained]:
    """A stack whose package has a published digest, and no container yet."""
    folder, name = tmp_path_factory.mktemp("licence"), f"{LABEL}-{uuid.uuid4().hex[:12]}"
    with serving() as site:
        site.referer = PAGES
        site.files[PATH] = packed("another")
        digest = hashlib.sha256(packed("published")).hexdigest()
        small.write(folder / "stack")
        (folder / "stack" / "downloads.toml").write_text(DOWNLOADS.format(
            base=site.url(), path=PATH, sha256=digest, pages=PAGES, licence=LICENCE,
        ))  # fmt: skip
        yield Contained(site, folder, name)
    subprocess.run(["docker", "rm", "-f", name], check=False, capture_output=True)


def test_a_licence_that_is_none_of_the_targets_is_refused_before_a_container_is_made(
    place: Contained,
) -> None:
    done = place.run("--accept-eula", "nobody")
    assert done.returncode == 2, done.stderr
    assert "vendor" in done.stderr
    there = ["docker", "container", "inspect", place.name]
    assert subprocess.run(there, check=False, capture_output=True).returncode


def test_without_the_licence_it_says_how_to_accept_it(place: Contained) -> None:
    done = place.run()
    assert done.returncode == 4, done.stdout + done.stderr
    for words in (LICENCE, "The Vendor's Licence", "--accept-eula vendor", ARCHIVE):
        assert words in done.stderr
    assert place.site.asked == []


def test_a_file_that_is_not_the_published_one_is_not_installed(place: Contained) -> None:
    done = place.run("--accept-eula", "vendor")
    assert done.returncode == 6, done.stdout + done.stderr
    assert LICENCE in done.stdout  # what was accepted is told, once
    assert "its sha256 is not" in done.stderr + done.stdout
    assert place.installed() == ""


def test_the_published_one_is_fetched_and_installed(place: Contained) -> None:
    place.site.files[PATH] = packed("published")
    place.site.asked.clear()
    done = place.run("--accept-eula", "vendor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "+ fetch/sdk" in done.stdout and "+ host/sdk" in done.stdout
    assert place.installed() == "published"
    assert [(path, headers["Referer"]) for path, headers in place.site.asked] == [(PATH, PAGES)]


def test_again_nothing_is_done_and_nobody_asked(place: Contained) -> None:
    place.site.asked.clear()
    told = json.loads(place.run("--json").stdout)
    assert (told["changed"], told["container"], place.site.asked) == (False, place.name, [])


def test_another_container_needs_no_second_yes(place: Contained) -> None:
    """The licence was accepted here, not by the container that is gone."""
    subprocess.run(["docker", "rm", "-f", place.name], check=True, capture_output=True)
    done = place.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert place.installed() == "published"
