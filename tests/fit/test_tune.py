"""Single fields of a config.json are changed, and every other byte stays."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import json_edit, tune
from provision.errors import PaddockError
from tests.conftest import Cli

NAMES = ("use_fused_rope", "use_fused_rms_norm", "use_flash_attention", "fuse_attention_qkv",
         "fuse_attention_ffn")  # fmt: skip
CONFIG = b"""{
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",  \r
    "_name": "\xe6\xa8\xa1\xe5\x9e\x8b\\u4e2d",
    "use_fused_rope" : false, "rms_norm_eps": 1e-06,
    "num_attention_heads": 40,
    "nested": {"use_flash_attention": false},
    "num_key_value_heads": 8
}


"""


def write(folder: Path, data: bytes = CONFIG) -> Path:
    path = folder / "config.json"
    path.write_bytes(data)
    return path


def run(path: Path, tp: int = 1, without: str = "", undo: bool = False) -> int:
    return tune.tune("s60", str(path), tp, without, undo=undo, json=False)


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def fields(path: Path) -> dict[str, Any]:
    values = json.loads(path.read_bytes())
    return {name: values.get(name) for name in NAMES}


def test_the_fields_are_set_and_all_else_stays(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.chmod(0o640)
    assert run(tmp_path) == 0
    new = path.read_bytes()
    assert fields(path) == dict.fromkeys(NAMES, True)
    assert new.startswith(CONFIG[: CONFIG.index(b"false")] + b"true" + CONFIG[
        CONFIG.index(b"false") + 5 : CONFIG.index(b": 8") + 3])  # fmt: skip
    assert new.endswith(b',\n    "fuse_attention_ffn": true\n}\n\n\n')
    assert path.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["config.json", "config.json.before-paddock"]


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path)
    run(path)
    before = {one.name: (one.read_bytes(), one.stat().st_ino) for one in tmp_path.iterdir()}
    run(path)
    assert before == {
        one.name: (one.read_bytes(), one.stat().st_ino) for one in tmp_path.iterdir()
    }  # fmt: skip


@pytest.mark.parametrize("data", [
    CONFIG, CONFIG.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + CONFIG,
    b'{"model_type":"llama","num_attention_heads":4}',
    b'{"num_attention_heads": 4, "use_fused_rope": null, "model_type": "llama"}',
])  # fmt: skip
def test_undo_gives_the_very_bytes(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, data)
    run(path, without="fuse_attention_ffn")
    run(path)
    run(path, undo=True)
    assert path.read_bytes() == data
    assert names(tmp_path) == ["config.json"]
    with pytest.raises(PaddockError) as caught:
        run(path, undo=True)
    assert caught.value.code == "no-backup"


def test_undo_keeps_what_else_was_changed_meanwhile(tmp_path: Path) -> None:
    path = write(tmp_path)
    run(path)
    path.write_bytes(path.read_bytes().replace(b"1e-06", b"1e-05"))
    run(path, undo=True)
    assert path.read_bytes() == CONFIG.replace(b"1e-06", b"1e-05")


def test_a_new_file_has_a_new_copy(tmp_path: Path) -> None:
    path = write(tmp_path)
    run(path)
    other = CONFIG.replace(b"40", b"16")
    write(tmp_path, other)
    run(path)
    run(path, undo=True)
    assert path.read_bytes() == other


@pytest.mark.parametrize("tp", [3, 16])
def test_heads_that_do_not_divide_are_refused(tmp_path: Path, tp: int) -> None:
    path = write(tmp_path)
    with pytest.raises(PaddockError) as caught:
        run(path, tp)
    assert (caught.value.code, caught.value.values["heads"]) == ("no-heads", 8)
    assert path.read_bytes() == CONFIG
    run(path, tp, without="fuse_attention_qkv")
    assert fields(path) == dict.fromkeys(NAMES, True) | {"fuse_attention_qkv": None}
    write(tmp_path, CONFIG.replace(b'"use_fused_rope" :', b'"fuse_attention_qkv": true, "r":'))
    run(path, tp, without="fuse_attention_qkv")
    assert fields(path)["fuse_attention_qkv"] is False


@pytest.mark.parametrize(("data", "says"), [
    (CONFIG.replace(b'"llama"', b'"qwen2"'), "qwen2"),
    (CONFIG.replace(b'"_name"', b'"model_type"'), "model_type` is there twice"),
    (CONFIG.replace(b'"_name"', b'"use_fused_rope"'), "use_fused_rope"),
    (CONFIG[:-6], "JSON"), (b"", "JSON"), (CONFIG.replace(b"8\n}", b"8,\n}"), "JSON"),
    (CONFIG.replace(b": 8", b': "8"'), "num_key_value_heads"),
])  # fmt: skip
def test_what_is_no_config_of_a_llama_is_refused(tmp_path: Path, data: bytes, says: str) -> None:
    path = write(tmp_path, data)
    with pytest.raises(PaddockError, match=says) as caught:
        run(path)
    assert caught.value.code == "bad-model"
    assert (path.read_bytes(), names(tmp_path)) == (data, ["config.json"])


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    real = write(tmp_path / "blobs")
    link = tmp_path / "config.json"
    link.symlink_to(real)
    run(link)
    assert link.is_symlink()
    assert fields(real)["use_fused_rope"] is True
    run(link, undo=True)
    assert real.read_bytes() == CONFIG


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_and_the_group_stay(tmp_path: Path) -> None:
    path = write(tmp_path)
    os.chown(path, 1234, 5678)
    path.chmod(0o640)
    run(path)
    for one in tmp_path.iterdir():
        seen = one.stat()
        assert (seen.st_uid, seen.st_gid, seen.st_mode & 0o777) == (1234, 5678, 0o640), one
    run(path, undo=True)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 5678)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_who_cannot_keep_the_owner_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path)
    os.chown(path, 1234, 5678)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "no")

    monkeypatch.setattr(os, "chown", refuse)
    with pytest.raises(PaddockError, match="1234") as caught:
        run(path)
    assert caught.value.code == "tune-unwritable"
    assert (path.read_bytes(), names(tmp_path)) == (CONFIG, ["config.json"])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("writes", [0, 1])
def test_what_cannot_be_written_is_told_of_the_folder_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, writes: int
) -> None:
    """The first file, which is the copy, or the second one."""
    path, left, plain = write(tmp_path), [writes], Path.write_bytes

    def failing(self: Path, data: bytes) -> int:
        if left[0]:
            left[0] -= 1
            return plain(self, data)
        plain(self, data[:20])
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", failing)
    with pytest.raises(PaddockError) as caught:
        run(path)
    assert (caught.value.code, caught.value.status) == ("tune-unwritable", 4)
    assert str(tmp_path) in caught.value.part("what")
    assert os.strerror(number) in caught.value.part("what")
    assert "PADDOCK_HOME" not in str(caught.value)
    monkeypatch.undo()
    assert (path.read_bytes(), names(tmp_path)) == (CONFIG, ["config.json"])


# For each of two files its old draft removed, the new one written, made like the file, and put in
# place, or that for one of them and the copy removed; then the drafts, if there are any.
CALLS = {False: 10, True: 7}


@pytest.mark.parametrize("call", range(11))
@pytest.mark.parametrize("undo", [False, True])
def test_a_killed_run_leaves_a_whole_file(tmp_path: Path, call: int, undo: bool) -> None:
    """The process is killed at each of its calls that change the folder, in turn."""
    path = write(tmp_path)
    if undo:
        run(path)
    tuned = path.read_bytes()
    child = os.fork()
    if not child:
        _kill_at(call)
        run(path, undo=undo)
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1]) == (call < CALLS[undo])
    assert fields(path)["use_fused_rms_norm"] in (None, True)  # whole, before or after
    run(path)
    after = path.read_bytes()
    assert fields(path) == dict.fromkeys(NAMES, True)
    assert not undo or after == tuned
    run(path, undo=True)
    assert (path.read_bytes(), names(tmp_path)) == (CONFIG, ["config.json"])


def _kill_at(call: int) -> None:
    """Let the process kill itself at that call, the writing of a file half-way."""
    left = [call]

    def last(name: str) -> None:
        plain = getattr(Path, name)

        def counted(self: Path, *arguments: Any, **more: Any) -> Any:
            if not left[0]:
                if name == "write_bytes":
                    plain(self, arguments[0][:20])
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return plain(self, *arguments, **more)

        setattr(Path, name, counted)

    for name in ("write_bytes", "chmod", "replace", "unlink"):
        last(name)


def test_two_at_once(tmp_path: Path) -> None:
    path = write(tmp_path)
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    with pytest.raises(PaddockError) as caught:
        run(path)
    os.close(folder)
    assert (caught.value.code, path.read_bytes()) == ("tune-busy", CONFIG)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
_OBJECTS = st.dictionaries(st.text(max_size=4), _VALUES, max_size=5)


@settings(deadline=None, max_examples=60)
@given(_OBJECTS, st.sampled_from([None, 1, "\t"]), st.booleans(), st.text(max_size=4), _VALUES)
def test_any_object(
    values: dict[str, Any], indent: Any, ascii: bool, name: str, value: Any
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=ascii)
    put = json_edit.put(text, name, value)
    assert json.loads(put) == values | {name: value}
    assert list(json.loads(put)) == list(values | {name: value})
    dropped = json_edit.drop(put, name)
    assert json.loads(dropped) == {k: v for k, v in values.items() if k != name}
    if name not in values and values:
        assert dropped == text
    if name in values:  # all but the value stays, so written as it was it gives the same text
        old = values[name]
        written = json.dumps(old, indent=indent, ensure_ascii=ascii)
        again = json_edit.put(put, name, old)
        assert json.loads(again) == values
        assert again == text or written != json.dumps(old)


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path)
    done = cli("tune", "--config", str(tmp_path), "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["schema"], set(found["changed"])) == (
        0, "paddock/tune/1", set(NAMES))  # fmt: skip
    assert set(found["reset_by"]) == {"fuse_attention_qkv", "fuse_attention_ffn"}
    assert cli("tune", "--config", str(tmp_path), "--undo").returncode == 0
    assert (tmp_path / "config.json").read_bytes() == CONFIG
    assert cli("tune", "--config", str(tmp_path), "--target", "npu").returncode == 2
    assert cli("tune", "--config", str(tmp_path / "none")).returncode == 2


def test_a_link_in_the_place_of_the_draft_is_not_followed(tmp_path: Path) -> None:
    path, victim = write(tmp_path), tmp_path / "victim"
    victim.write_text("kept")
    for name in (path.name, f"{path.name}.before-paddock"):
        (tmp_path / f".{name}.paddock-draft").symlink_to(victim)
    run(path)
    assert victim.read_text() == "kept"
    assert not path.is_symlink() and path.read_bytes() != CONFIG
