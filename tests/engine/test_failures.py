"""What goes wrong on a real machine: one clear error of the right class, and nothing half done."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from provision.errors import INTEGRITY, MACHINE, NETWORK, STEP, PaddockError
from provision.symptoms import SYMPTOMS, classify
from provision.words import catalogue
from tests.conftest import ROOT
from tests.engine.world import Result, World, is_root
from tests.frame.index import Index, served

needs_root = pytest.mark.skipif(not is_root(), reason="mounts file systems")


def is_clear(done: Result, status: int, *words: str) -> None:
    """The run ended with this status and three sentences that have these words."""
    assert done.returncode == status, done.stdout + done.stderr
    sentences = done.stderr.splitlines()[-3:]
    assert sentences[0].startswith("x "), done.stderr
    assert [line[:3] for line in sentences[1:]] == ["  c", "  d"]
    assert not [word for word in words if word not in "\n".join(sentences)], done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_wrong_hash_is_refused_and_nothing_installed(ready: World) -> None:
    ready.pin("framework", "alpha-2.0", wrong=True)
    is_clear(ready.run(), INTEGRITY, "env/alpha", "hash")
    assert not list(ready.env.glob("lib/*/site-packages/alpha-2.0.dist-info"))
    assert ready.last()["env/alpha"] == "failed"
    ready.pin("framework", "alpha-2.0")
    ready.good()


def test_offline_with_an_empty_cache(world: World) -> None:
    is_clear(world.run("--offline"), NETWORK, "--offline")


@pytest.mark.slow
def test_offline_after_an_online_run_takes_all_from_the_cache(world: World) -> None:
    world.good()
    world.good("--undo")
    world.good("--offline")


def test_an_index_that_does_not_answer(world: World) -> None:
    done = world.run("--index-url", "http://127.0.0.1:9/simple")
    is_clear(done, NETWORK, "network", str(world.state))


@pytest.mark.slow
def test_a_proxy_that_does_not_answer(world: World) -> None:
    proxies = {f"{s}_PROXY": "http://127.0.0.1:9" for s in ("HTTP", "HTTPS", "ALL")}
    done = world.run("--index-url", "http://example.invalid/simple", NO_PROXY="", **proxies)
    is_clear(done, NETWORK, "HTTPS_PROXY")


@pytest.mark.slow
@needs_root
def test_a_machine_without_any_network(world: World) -> None:
    done = subprocess.run(
        ["unshare", "-n", *world.command()], env=world.environment({}), capture_output=True,
        text=True, check=False, timeout=60,
    )  # fmt: skip
    is_clear(done, NETWORK)
    world.good()


@pytest.fixture
def secure(index: Index, tmp_path: Path) -> Iterator[tuple[Index, Path]]:
    """The same index over HTTPS, and the certificate that signs itself."""
    certificate = tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
         "-addext", "basicConstraints=critical,CA:FALSE",
         "-keyout", tmp_path / "key.pem", "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    both = tmp_path / "both.pem"
    both.write_text(certificate.read_text() + (tmp_path / "key.pem").read_text())
    with served(index.wheels, both) as running:
        yield running, certificate


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl to make a certificate")
def test_a_private_certificate_is_refused_and_with_ca_bundle_trusted(
    world: World, secure: tuple[Index, Path]
) -> None:
    served_index, certificate = secure
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"):
        world.more[name] = ""
    is_clear(world.run("--index-url", served_index.url), NETWORK, "--ca-bundle")
    world.good("--index-url", served_index.url, "--ca-bundle", str(certificate))
    assert any("alpha" in path for path in served_index.asked)


def test_credentials_of_an_index_stand_nowhere(world: World, index: Index) -> None:
    world.more["PADDOCK_INDEX_URL"] = index.url.replace("://", "://somebody:s3cr3t@")
    done = [world.run("--dry-run"), world.run("--json"), world.run("--undo")]
    world.more["PADDOCK_INDEX_URL"] = "http://somebody:s3cr3t@127.0.0.1:9/simple"
    world.more["UV_CACHE_DIR"] = str(world.folder / "other")
    done.append(world.run())
    is_clear(done[-1], NETWORK)
    assert "s3cr3t" not in "".join(one.stdout + one.stderr for one in done)
    written = [path for path in world.home.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(written) > 10
    assert not [path for path in written if b"s3cr3t" in path.read_bytes()]


def test_a_step_that_fails_shows_its_end_and_keeps_its_log(ready: World) -> None:
    done = ready.run("--from", "lib/build", SMALL_BUILD="fail")
    is_clear(done, STEP, "lib/build", "exit 2")
    assert "没有成功" in done.stderr
    shown = Path(re.search(r"[Ll]og:? (\S+\.log)", done.stderr)[1])  # type: ignore[index]
    log = shown.read_text(encoding="utf-8")
    assert all(f"line {number}\n" in log for number in range(50))
    assert "***@example.org" in log
    assert "word" not in log
    assert ready.last()["lib/build"] == "failed"
    ready.good()
    assert ready.last()["lib/build"] == "done"


def test_success_without_effect_is_not_believed(ready: World) -> None:
    is_clear(ready.run("--from", "lib/build", SMALL_BUILD="two"), STEP, "lib/build", "whl")
    assert ready.last()["lib/build"] == "failed"
    ready.good()


def test_a_pin_for_another_patch_release_is_not_missed(ready: World) -> None:
    """A marker is read with the very version of the interpreter, as the installer reads it."""
    lock = ready.stack.parent / "locks" / "1" / "paddlenlp.txt"
    other = f"python_full_version < '{sys.version_info[0]}.{sys.version_info[1]}.0'"
    text = lock.read_text(encoding="utf-8").replace("beta==1.0", f"beta==1.0 ; {other}")
    lock.write_text(text, encoding="utf-8")
    shutil.rmtree(next(ready.env.glob("lib/*/site-packages/beta-1.0.dist-info")))
    count = len(ready.entries())
    ready.good()
    assert ready.ran(count) == ["env/beta"]


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """A small file system of its own in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.slow
@needs_root
@pytest.mark.parametrize("size", ["4k", "20k", "48k", "100k"])
def test_a_full_disk_is_said_and_more_room_goes_on(world: World, size: str) -> None:
    with mounted(world.home, f"size={size}"):
        is_clear(world.run(), MACHINE, "space", "PADDOCK_HOME")
        subprocess.run(["mount", "-o", "remount,size=64m", world.home], check=True)
        world.good()


@pytest.mark.slow
@needs_root
def test_a_read_only_home(world: World) -> None:
    with mounted(world.home, "ro"):
        is_clear(world.run(), MACHINE, "cannot be written", str(world.home))
        assert world.run("--dry-run").returncode == 0


def test_a_home_that_is_no_folder(world: World) -> None:
    world.home.write_text("")
    is_clear(world.run(), MACHINE, "cannot be written", str(world.home))
    assert world.run("--dry-run").returncode == 0


def test_a_home_that_path_or_uv_cannot_take(world: World) -> None:
    for name in (b"a:b", b"\xff\xfe"):
        variables = {k.encode(): v.encode() for k, v in world.environment({}).items()}
        variables[b"PADDOCK_HOME"] = bytes(world.folder / "x") + name
        done = subprocess.run(
            world.command(), env=variables, capture_output=True, text=True, check=False,
            errors="replace", timeout=60,
        )  # fmt: skip
        is_clear(done, 2, "PADDOCK_HOME")


@pytest.mark.parametrize("code", sorted({code for _, code in SYMPTOMS} | {"step-failed"}))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_a_failed_step_gives_fills_every_sentence(
    code: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDOCK_LANG", language)
    source = (ROOT / "provision" / "run.py").read_text(encoding="utf-8")
    call = next(
        node for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Call)
        and getattr(node.args[0].func, "id", "") == "classify"
    )  # fmt: skip
    given: dict[str, Any] = {keyword.arg: "?" for keyword in call.keywords if keyword.arg}
    assert "{" not in str(PaddockError(code, **given))


def test_every_failure_that_is_raised_fills_its_sentences() -> None:
    """Each `PaddockError("code", name=...)` in the code gives the names that the texts have."""
    seen = set()
    for path in [p for top in ("provision", "checks") for p in (ROOT / top).rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "PaddockError"):
                continue
            if not node.args or not isinstance(node.args[0], ast.Constant):
                continue
            if any(keyword.arg is None for keyword in node.keywords):
                continue
            code, given = str(node.args[0].value), {keyword.arg for keyword in node.keywords}
            texts = [catalogue()[f"error.{code}.{part}"]["en"] for part in ("what", "cause", "do")]
            assert set(re.findall(r"{(\w+)}", "".join(texts))) <= given, (path, code)
            seen.add(code)
    assert len(seen) > 10


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("error: failed to write: No space left on device (os error 28)", "disk-full"),
        ("cp: cannot create 'x': Read-only file system", "read-only"),
        ("  Hash mismatch for `alpha==1.0`", "wrong-hash"),
        ("invalid peer certificate: UnknownIssuer", "bad-certificate"),
        ("hint: Packages were unavailable because the network was disabled.", "offline-missing"),
        ("cause: tcp connect error: Connection refused (os error 111)", "no-network"),
        ("fatal: Failed to connect to h port 443 after 0 ms: Couldn't connect", "no-network"),
        ("CMake Error: No CMAKE_CXX_COMPILER could be found.", "no-compiler"),
        ("a failure that nobody knows", "step-failed"),
    ],
)
def test_the_words_of_installers_are_classified(line: str, code: str) -> None:
    assert classify(["before", line, "after"]) == code
