"""Files of a checkpoint that are not whole, made by cutting whole ones anywhere."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checks.checkpoint import file
from checks.checkpoint.command import checkpoint
from checks.checkpoint.fault import Fault, Whole
from checks.checkpoint.folder import examine
from provision.errors import PaddockError
from tests.conftest import Cli
from tests.fit.test_fit import CONFIG


def safetensors(tensors: dict[str, int]) -> bytes:
    """float32 vectors of so many values."""
    header, at = {}, 0
    for name, count in tensors.items():
        offsets = [at, at + 4 * count]
        header[name] = {"dtype": "F32", "shape": [count], "data_offsets": offsets}
        at = offsets[1]
    text = json.dumps({"__metadata__": {"format": "pd"}, **header}).encode()
    return struct.pack("<Q", len(text)) + text + b"\1" * at


def pdparams(protocol: int = 4) -> bytes:
    values = {"llama.norm": bytes(range(256)) * 40, "n": [1, 2.5, 10**30, None, True], "名": "值"}
    return pickle.dumps(values, protocol)


def pdiparams() -> bytes:
    """Two tensors: float32 [2, 300] (its dimensions apart) and int64 [3] (packed)."""
    first = b"\x08\x05\x10\x02\x10\xac\x02"
    second = b"\x08\x03\x12\x01\x03"
    return b"".join(
        struct.pack("<IQI", 0, 0, 0) + struct.pack("<I", len(described)) + described + b"\1" * size
        for described, size in ((first, 2 * 300 * 4), (second, 24))
    )


def archive() -> bytes:
    """As torch.save writes it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.writestr("archive/data.pkl", pickle.dumps({}))
        made.writestr("archive/data/0", b"\1" * 5000)
    return stream.getvalue()


KINDS: dict[str, Callable[[], bytes]] = {
    "model.safetensors": lambda: safetensors({"a": 300, "b": 50}),
    "model_state.pdparams": pdparams,
    "old.pdparams": lambda: pdparams(2),
    "older.pdparams": lambda: pdparams(0),
    "inference.pdiparams": pdiparams,
    "pytorch_model.bin": archive,
}


def look(folder: Path, name: str, data: bytes) -> Any:
    (folder / name).write_bytes(data)
    return file.look(folder / name)[0]


@pytest.mark.parametrize("name", KINDS)
def test_a_whole_file_is_whole_and_a_cut_one_is_not(tmp_path: Path, name: str) -> None:
    data = KINDS[name]()
    assert isinstance(look(tmp_path, name, data), Whole)
    boundary = {data.rindex(b"\0" * 16)} if name.endswith(".pdiparams") else set()
    for cut in {*range(0, len(data), 97), *range(len(data) - 60, len(data))} - boundary:
        seen = look(tmp_path, name, data[:cut])
        assert isinstance(seen, Fault), cut
        assert seen.name in ("short", "nothing", "no-directory"), (cut, seen)
        assert seen.missing is None or seen.missing <= len(data) - cut
    if not name.endswith((".bin", ".pdiparams")):
        more = look(tmp_path, name, data + b"more")
        assert (more.name, more.values) == ("long", {"more": "4"})


def test_a_safetensors_file_tells_by_how_much_it_is_short(tmp_path: Path) -> None:
    data = safetensors({"a": 300, "b": 50})
    seen = look(tmp_path, "model.safetensors", data[:-1234])
    assert (seen.missing, seen.at_least) == (1234, False)


def test_large_values_are_skipped_not_read(tmp_path: Path) -> None:
    """A sparse file of 3 GB, of which the last byte is missing or not."""
    path = tmp_path / "big.pdparams"
    size = 3 << 30
    with path.open("wb") as stream:
        stream.write(b"\x80\x04\x8e" + struct.pack("<Q", size))
        stream.seek(size, 1)
        stream.write(b".")
    assert isinstance(file.look(path)[0], Whole)
    with path.open("r+b") as stream:
        stream.truncate(size)
    seen = file.look(path)[0]
    assert isinstance(seen, Fault)
    assert seen.missing == 12
    path.unlink()


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "ran",)

    assert isinstance(look(tmp_path, "evil.pdparams", pickle.dumps(Evil())), Whole)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("name", "data", "fault"), [
    ("a.safetensors", b"", "nothing"), ("a.safetensors", b"\0" * 4096, "zeros"),
    ("a.safetensors", b"<html><body>404</body></html>", "format"),
    ("a.safetensors", struct.pack("<Q", 2) + b"[]", "header"),
    ("a.safetensors", struct.pack("<Q", 2) + b"{}", "no-tensors"),
    ("a.safetensors", safetensors({}), "no-tensors"),
    ("a.safetensors", safetensors({"a": 3}).replace(b'[3]', b'[4]'), "tensor"),
    ("a.safetensors", safetensors({"a": 3}).replace(b'[0, ', b'[1, '), "tensor"),
    ("a.pdparams", b"\x80\x04\xff.", "format"), ("a.pdparams", b"hello world", "format"),
    ("a.bin", b"\x7fELF", "format"), ("a.pdiparams", b"hello world, hello", "format"),
])  # fmt: skip
def test_other_content(tmp_path: Path, name: str, data: bytes, fault: str) -> None:
    assert look(tmp_path, name, data).name == fault


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_pointer_of_git_lfs_says_how_large_the_file_is(tmp_path: Path, end: bytes) -> None:
    lines = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5000\n"
    data = lines.replace(b"\n", end)
    seen = look(tmp_path, "model.safetensors", data)
    assert (seen.name, seen.missing) == ("pointer", 5000 - len(data))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A whole checkpoint in two files, with its index and config."""
    shards = {
        "model-1.safetensors": {f"model.layers.{n}.w": 10 for n in range(2)},
        "model-2.safetensors": {f"model.layers.{n}.w": 10 for n in range(2, 4)} | {"lm_head": 5},
    }
    for name, tensors in shards.items():
        (tmp_path / name).write_bytes(safetensors(tensors))
    weights = {tensor: name for name, tensors in shards.items() for tensor in tensors}
    index = {"metadata": {"total_size": 180}, "weight_map": weights}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    return tmp_path


def faults(folder: Path) -> list[tuple[str, str]]:
    return [(one.file, fault.name) for one in examine(folder) for fault in one.faults]


def test_a_whole_folder(folder: Path) -> None:
    assert faults(folder) == []
    assert checkpoint([str(folder)], json=False) == 0


def change(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    path.write_text(path.read_text().replace(old, new))


INDEX = "model.safetensors.index.json"


def test_what_a_folder_may_lack(folder: Path) -> None:
    two = folder / "model-2.safetensors"
    data = two.read_bytes()
    two.write_bytes(data[:-7])
    assert ("model-2.safetensors", "short") in faults(folder)
    two.unlink()
    assert faults(folder) == [(INDEX, "no-shard"), ("config.json", "no-layers")]
    two.write_bytes(data)
    change(folder, INDEX, '"lm_head"', '"lm_tail"')
    assert faults(folder) == [(INDEX, "not-in-shard"), (INDEX, "not-in-index")]
    change(folder, INDEX, '"lm_tail"', '"lm_head"')
    change(folder, INDEX, "180", "184")
    assert faults(folder) == [(INDEX, "total")]
    assert checkpoint([str(folder)], json=False) == 10
    change(folder, INDEX, "184", "180.0")
    (folder / "vocabulary.bin").write_bytes(b"another program's")
    assert faults(folder) == []
    (folder / INDEX).write_text("{")
    (folder / "model-3.safetensors.incomplete").touch()
    assert faults(folder) == [("model-3.safetensors.incomplete", "unfinished"), (INDEX, "index")]


def test_a_folder_that_is_not_of_a_llama(folder: Path) -> None:
    """That is no damage: the layers were not looked at, which is said."""
    change(folder, "config.json", '"llama"', '"qwen2"')
    assert faults(folder) == [("config.json", "other-model")]
    assert checkpoint([str(folder)], json=False) == 10
    change(folder, "config.json", '"qwen2"', "")
    assert faults(folder) == [("config.json", "config")]
    (folder / "config.json").unlink()
    assert faults(folder) == [("config.json", "config")]
    assert checkpoint([str(folder)], json=False) == 11


@pytest.mark.parametrize("name", ["adapter_config.json", "lora_config.json", "prefix_config.json"])
def test_a_folder_of_adapters_has_no_config_of_a_model(tmp_path: Path, name: str) -> None:
    (tmp_path / "adapter_model.safetensors").write_bytes(safetensors({"layers.0.lora_A": 4}))
    (tmp_path / name).write_text("{}")
    assert faults(tmp_path) == [("config.json", "adapter")]
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    assert faults(tmp_path) == [("config.json", "adapter")]


@pytest.mark.parametrize(("there", "lost"), [
    (["pytorch_model-00001-of-00002.bin"], "pytorch_model-00002-of-00002.bin"),
    (["model_state-00001-of-00002.pdparams"], "model_state-00002-of-00002.pdparams"),
    (["model-00001-of-00003.safetensors", "model-00003-of-00003.safetensors"],
     "model-00002-of-00003.safetensors"),
    (["model_state.tp01_of_02.pdparams"], "model_state.tp00_of_02.pdparams"),
    (["optimizer-00002-of-00002.pdopt"], "optimizer-00001-of-00002.pdopt"),
    (["model-00000-of-00002.safetensors"], "model-00001-of-00002.safetensors"),
    (["model-00004-of-00003.safetensors", "model-00002-of-00003.safetensors",
      "model-00003-of-00003.safetensors"], "model-00001-of-00003.safetensors"),
])  # fmt: skip
def test_a_part_that_its_siblings_promise(tmp_path: Path, there: list[str], lost: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    for name in there:
        kind = KINDS["pytorch_model.bin" if name.endswith(".bin") else "model_state.pdparams"]
        safe = name.endswith(".safetensors")
        (tmp_path / name).write_bytes(safetensors({"norm": 4}) if safe else kind())
    (told,) = [fault for one in examine(tmp_path) for fault in one.faults]
    assert (told.name, told.values["count"], told.values["names"]) == ("no-part", "1", lost)
    assert checkpoint([str(tmp_path)], json=False) == 11
    (tmp_path / lost).write_bytes((tmp_path / there[0]).read_bytes())
    assert faults(tmp_path) == []


def test_a_part_that_an_index_names_is_told_once(folder: Path) -> None:
    for number in (1, 2):
        old, new = f"model-{number}.", f"model-0000{number}-of-00002."
        (folder / f"{old}safetensors").rename(folder / f"{new}safetensors")
        change(folder, INDEX, old, new)
    assert faults(folder) == []
    (folder / "model-00002-of-00002.safetensors").unlink()
    assert faults(folder) == [(INDEX, "no-shard"), ("config.json", "no-layers")]
    (folder / INDEX).unlink()
    assert faults(folder)[0] == ("model-00001-of-00002.safetensors", "no-part")


def test_a_folder_without_weights(tmp_path: Path) -> None:
    assert [name for _, name in faults(tmp_path)] == ["no-weights", "config"]
    with pytest.raises(PaddockError, match="none"):
        examine(tmp_path / "none")


def test_a_name_stays_on_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = tmp_path / "a\n\x1b[2Jb"
    odd.mkdir()
    (odd / "c\n.pdparams").write_bytes(b"")
    checkpoint([str(odd)], json=False)
    assert "a\n" not in (out := capsys.readouterr().out)
    assert "\x1b" not in out


def test_the_command(cli: Cli, folder: Path) -> None:
    cut = folder / "model-1.safetensors"
    cut.write_bytes(cut.read_bytes()[:-9])
    done = cli("checkpoint", str(folder))
    assert done.returncode == 11
    assert "x model-1.safetensors: it ends too early (9 bytes missing)" in done.stdout
    found = json.loads(cli("checkpoint", str(folder), "--json").stdout)
    assert found["schema"] == "paddock/checkpoint/1"
    assert found["checkpoints"][0]["files"][0]["faults"][0]["missing"] == 9
