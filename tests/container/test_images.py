"""Images: pulled with progress, held to the digest of their first use; answers of registries."""

from __future__ import annotations

import io
import json
import os
import re
import uuid
from pathlib import Path
from typing import Any

import pytest

from provision import events
from provision.container.images import find, obtain, progress, record_file, reference
from provision.errors import PaddockError
from provision.progress import Plain
from tests.container.engine import IMAGE, Engine
from tests.container.registry import Registry

DIGEST = "sha256:" + "0" * 64
QUIET = Plain(io.StringIO())


@pytest.mark.parametrize(
    ("text", "name", "repository"),
    [("debian", "debian:latest", "debian"), ("debian:12", "debian:12", "debian"),
     ("reg.example:5000/a/b", "reg.example:5000/a/b:latest", "reg.example:5000/a/b"),
     ("reg.example:5000/a/b:1", "reg.example:5000/a/b:1", "reg.example:5000/a/b"),
     (f"a/b:1@{DIGEST}", "a/b:1", "a/b"), (f"a@{DIGEST}", "a:latest", "a")],
)  # fmt: skip
def test_names_are_taken_apart(home: Path, text: str, name: str, repository: str) -> None:
    assert not home.exists()
    found = reference(text)
    assert (found.name, found.repository) == (name, repository)
    assert found.digest == (DIGEST if "@" in text else "")
    assert not found.recorded


def test_a_record_that_cannot_be_read_is_no_new_one(home: Path) -> None:
    record_file().parent.mkdir(parents=True)
    record_file().write_text('{"a:1": ')
    with pytest.raises(PaddockError) as raised:
        reference("a:1")
    assert raised.value.code == "image-record"
    assert str(home) in str(raised.value)


def test_the_progress_of_a_pull() -> None:
    sizes: dict[str, tuple[int, int]] = {}
    load = {"status": "Downloading", "progressDetail": {"current": 1 << 20, "total": 4 << 20}}
    assert progress({"status": "Pulling from a"}, sizes) == ""
    assert progress({**load, "id": "one"}, sizes) == "1 MiB / 4 MiB"
    assert progress({**load, "id": "two"}, sizes) == "2 MiB / 8 MiB"
    assert progress({"status": "Download complete", "id": "two"}, sizes) == "5 MiB / 8 MiB"


def push(running: Engine, name: str, extra: str) -> str:
    """Put an image under this name, with another content for each `extra`; returns its ID."""
    with_label = ["--change", f"LABEL extra={extra}"]
    made = running.docker("create", IMAGE, "sh")
    file = running.folder / "random"
    file.write_bytes(os.urandom(2 << 20))
    running.docker("cp", str(file), f"{made}:/random")
    running.docker("commit", *with_label, made, name)
    running.docker("rm", made)
    running.docker("push", "--quiet", name)
    return running.docker("image", "inspect", "--format", "{{.Id}}", name)


def forget(running: Engine, *names: str) -> None:
    """Remove them from the engine."""
    running.docker("image", "rm", "--force", *names)


@pytest.fixture
def name(running: Engine, images: Registry) -> str:
    """An image in the registry that this engine does not have."""
    made = f"{images.address}/{uuid.uuid4().hex[:8]}:1"
    push(running, made, "first")
    forget(running, made)
    return made


def parts(name: str) -> tuple[str, str]:
    """The repository below the registry, and the tag."""
    repository, _, tag = name.partition("/")[2].rpartition(":")
    return repository, tag


def tags_of(images: Registry, name: str) -> str:
    return images.digest(*parts(name))


@pytest.mark.slow
def test_a_first_use_is_recorded_and_holds_though_the_tag_moves(
    client: Any, running: Engine, images: Registry, name: str
) -> None:
    stream = io.StringIO()
    shown = events.Events(stream)
    first, digest = obtain(client, reference(name), shown)
    assert digest == tags_of(images, name)
    assert json.loads(record_file().read_text()) == {name: digest}
    *told, line, last = filter(None, map(events.read, stream.getvalue().splitlines()))
    assert (told[0].event, last.event, line.step) == ("started", "finished", "image/pull")
    assert re.fullmatch(r"(.+) / \1", line.line)
    moved = push(running, name, "second")
    assert moved != first
    for gone in ((), (name, first)):
        if gone:
            forget(running, *gone)
        again = reference(name)
        assert again.recorded
        assert obtain(client, again, shown) == (first, digest)


@pytest.mark.slow
def test_a_digest_that_was_asked_for_is_kept_to(
    client: Any, running: Engine, images: Registry, name: str
) -> None:
    old = tags_of(images, name)
    push(running, name, "second")
    found, digest = obtain(client, reference(f"{name}@{old}"), QUIET)
    assert digest == old
    image = client.images.get(found)
    assert image.labels == {"extra": "first"}


@pytest.mark.slow
@pytest.mark.parametrize("local", [True, False])
def test_an_image_that_is_another_now_is_refused(
    client: Any, running: Engine, images: Registry, name: str, local: bool
) -> None:
    """The former one cannot be had any more: its digest was removed from the registry."""
    first, digest = obtain(client, reference(name), QUIET)
    push(running, name, "second")
    now = tags_of(images, name)
    images.forget(parts(name)[0], digest)
    forget(running, *([first] if local else [name, first]))
    with pytest.raises(PaddockError) as raised:
        obtain(client, reference(name), QUIET)
    assert (raised.value.code, raised.value.status) == ("image-changed", 6)
    assert digest in str(raised.value) and now in str(raised.value)
    taken = obtain(client, reference(f"{name}@{now}"), QUIET)
    assert obtain(client, reference(name), QUIET) == taken


@pytest.mark.slow
def test_an_image_of_this_machine_alone_is_held_to_its_id(client: Any, running: Engine) -> None:
    made, digest = obtain(client, reference(IMAGE), QUIET)
    assert made == digest
    running.docker("tag", IMAGE, "other:1")
    obtain(client, reference("other:1"), QUIET)
    container = running.docker("create", IMAGE, "sh")
    running.docker("commit", "--change", "LABEL a=b", container, "other:1")
    with pytest.raises(PaddockError) as raised:
        forget(running, "busy:1")
        try:
            obtain(client, reference("other:1"), QUIET)
        finally:
            running.docker("tag", digest, IMAGE)
    assert raised.value.code == "image-changed"


@pytest.mark.slow
def test_what_registries_answer(client: Any, images: Registry, name: str) -> None:
    repository, _ = parts(name)
    for text, code in [
        (f"{images.address}/{repository}:2", "image-gone"),
        (f"{images.address}/{repository}:1@{DIGEST}", "image-changed"),
        (f"{images.address}/nosuch:1", "image-gone"),
        ("127.0.0.1:1/a:1", "registry"), ("nosuch.invalid/a:1", "registry"),
    ]:  # fmt: skip
        with pytest.raises(PaddockError) as raised:
            obtain(client, reference(text), QUIET)
        assert raised.value.code == code, raised.value.details
        assert find(client, reference(text)) is None
    assert not record_file().exists()
