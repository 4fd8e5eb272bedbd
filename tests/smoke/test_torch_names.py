"""Names of torch_npu, asked of a stand-in: real registration needs CANN, and is not claimed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
import pytest

from checks.judge.names import names, published
from checks.smoke import torch_names
from checks.smoke.report import judge
from checks.smoke.run import Job, settings_of, start
from checks.smoke.show import level_lines
from provision.paths import IMAGES
from tests.smoke.values import check, ended, proof

ASKED = torch_names.asked()
SHORT = [name.partition(".")[2] for name in ASKED]


def made(folder: Path, npu: str, torch: str, functions: list[str], head: str = "") -> None:
    """Both modules, with metadata, as an environment has them."""
    for name, version, body in (
        ("torch", torch, ""),
        ("torch_npu", npu, head + "".join(f"def {one}(*_): ...\n" for one in functions)),
    ):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(body, encoding="utf-8")
        info = folder / f"{name}-{version}.dist-info"
        info.mkdir()
        text = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n"
        (info / "METADATA").write_text(text, encoding="utf-8")


def error(folder: Path) -> tuple[str, str]:
    """What was wrong, and else what was told, of torch_npu in a folder."""
    given = {**os.environ, "PYTHONPATH": str(folder)}
    probe = start(Path(sys.executable), "npu", Job("torch_names.py", {"names": ASKED}, 60), given)
    assert (probe.status, probe.events[-1]["event"]) == (0, "end"), probe
    found = list(torch_names.registered(probe.events))
    assert len(found) == 1
    return found[0].error or "", found[0].detail


def test_all_names_are_there(tmp_path: Path) -> None:
    made(tmp_path, "2.1.0.post12", "2.1.0", SHORT)
    wrong, said = error(tmp_path)
    assert wrong == ""
    assert f"{len(ASKED)} of {len(ASKED)} names" in said and "torch_npu 2.1.0.post12" in said


def test_a_name_that_no_llama_needs_may_be_missing(tmp_path: Path) -> None:
    made(tmp_path, "2.1.0.post12", "2.1.0", [n for n in SHORT if "moe" not in n])
    wrong, said = error(tmp_path)
    assert wrong == "" and f"{len(ASKED) - 2} of {len(ASKED)}" in said


@pytest.mark.parametrize(
    ("npu", "torch", "said"),
    [
        ("2.3.0", "2.3.0", "no published version of torch_npu; there are 2.3.1rc1, 2.3.1,"),
        ("2.1.0.post12", "2.3.1", "made for torch 2.1.0, here is 2.3.1"),
        ("2.1.0.post12", "2.1.0+cpu", "goes with CANN 8.1"),
        ("2.9.1", "2.9.1", "written nowhere"),
    ],
)
def test_a_missing_registration_is_explained_by_versions(
    tmp_path: Path, npu: str, torch: str, said: str
) -> None:
    made(tmp_path, npu, torch, [n for n in SHORT if n != "npu_rms_norm"])
    wrong, _ = error(tmp_path)
    assert "lacks torch_npu.npu_rms_norm: " in wrong
    assert said in wrong


def test_the_articles_names_count_for_nothing(tmp_path: Path) -> None:
    """Only a module `npu` within it would have them, and no release does."""
    made(tmp_path, "2.1.0", "2.1.0", ["linear_activation", "rms_norm", "fused_add_norm"])
    wrong, _ = error(tmp_path)
    assert f"has 0 of {len(ASKED)} names" in wrong


def test_a_torch_npu_that_does_not_load_is_told(tmp_path: Path) -> None:
    made(tmp_path, "2.1.0", "2.1.0", SHORT, "raise ImportError('libhccl.so: cannot open')\n")
    wrong, _ = error(tmp_path)
    assert "cannot be imported: ImportError: libhccl.so: cannot open" in wrong


def test_without_torch_npu_it_is_left_out(tmp_path: Path) -> None:
    probe = start(Path(sys.executable), "npu", Job("torch_names.py", {"names": ASKED}, 60),
                  {**os.environ, "PYTHONPATH": str(tmp_path)})  # fmt: skip
    assert list(torch_names.registered(probe.events)) == []
    good = ended([{"event": "begin", "registered": ["npu"], "counters": None}, *check("one"),
                  proof("npu:0", None), {"event": "end"}])  # fmt: skip
    report = judge("ops", "npu", [good, probe], settings_of(IMAGES / "s60"))
    assert report.passed
    assert report.skipped == {"torch_npu": "not installed"}


def test_an_import_that_kills_python_fails_the_level(tmp_path: Path) -> None:
    made(tmp_path, "2.1.0", "2.1.0", SHORT, "import os, signal; os.kill(os.getpid(), 11)\n")
    probe = start(Path(sys.executable), "npu", Job("torch_names.py", {"names": ASKED}, 60),
                  {**os.environ, "PYTHONPATH": str(tmp_path)})  # fmt: skip
    failed = [one for one in judge("ops", "npu", [probe]).checks if not one.passed]
    assert [(one.name, one.error) for one in failed] == [("torch_npu", "killed by SIGSEGV")]


def test_what_is_there_is_shown_and_the_data_are_whole(tmp_path: Path) -> None:
    event = {"event": "torch", "torch": "2.1.0", "torch_npu": "2.1.0", "error": None,
             "present": ASKED, "missing": []}  # fmt: skip
    good = ended([{"event": "begin", "registered": ["npu"], "counters": None}, *check("one"),
                  proof("npu:0", None), event, {"event": "end"}])  # fmt: skip
    assert any("among them all fused operators" in one for one in level_lines(judge(
        "ops", "npu", [good])))  # fmt: skip
    operations = {one.fused for one in names().values() if one.fused}
    assert operations == {"rms_norm", "add_rms_norm", "swiglu", "ffn", "attention", "rotary"}
    assert all(one.returns for one in names().values() if one.fused)
    assert len(published()) == len(set(published())) == 67
    assert msgspec.to_builtins(settings_of(IMAGES / "ascend910b"))["torch_names"] is True
