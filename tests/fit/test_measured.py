"""The estimate against memory that real runs took: PaddleNLP's Llama, small, on loopback."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from checks import tune
from checks.fit import memory
from checks.fit.model import Model
from checks.fit.wish import Wish
from provision.stack import stack_file
from tests.conftest import variables
from tests.fit.test_fit import CONFIG

PAIR = stack_file("loopback").parent / "locks" / "3.3.1" / "paddlenlp.txt"
PROBE = Path(__file__).parent / "probes" / "measured.py"
GROUPED = {"vocab_size": 2000, "hidden_size": 256, "intermediate_size": 512,
           "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 4,
           "max_position_embeddings": 256}  # fmt: skip
LONG = GROUPED | {"vocab_size": 256, "hidden_size": 128, "num_key_value_heads": 8,
                  "intermediate_size": 256, "max_position_embeddings": 512}  # fmt: skip
TIED = GROUPED | {"tie_word_embeddings": True, "num_hidden_layers": 2}
# What is widest differs: the loss, the scores of attention, the feed-forward part, the states.
CASES: list[dict[str, Any]] = [
    {"sizes": GROUPED, "batch": 2, "seq": 256, "kind": "train"},
    {"sizes": GROUPED, "batch": 4, "seq": 64, "kind": "infer"},
    {"sizes": LONG, "batch": 1, "seq": 384, "kind": "train"},
    {"sizes": LONG, "batch": 1, "seq": 256, "kind": "full"},
    {"sizes": LONG, "batch": 1, "seq": 256, "kind": "full_attn"},
    {"sizes": LONG, "batch": 1, "seq": 256, "kind": "core_attn"},
    {"sizes": LONG, "batch": 1, "seq": 384, "kind": "infer"},
    {"sizes": TIED, "batch": 2, "seq": 128, "kind": "train"},
    {"sizes": TIED, "batch": 2, "seq": 128, "kind": "infer"},
    {"sizes": GROUPED | {"intermediate_size": 2048}, "batch": 1, "seq": 128, "kind": "train"},
    {"sizes": GROUPED, "batch": 2, "seq": 256, "kind": "lora"},
    {"sizes": GROUPED, "batch": 2, "seq": 256, "kind": "train", "fused": True},
    {"sizes": LONG, "batch": 1, "seq": 384, "kind": "train", "fused": True},
    {"sizes": LONG, "batch": 1, "seq": 384, "kind": "full", "fused": True},
    {"sizes": LONG, "batch": 1, "seq": 512, "kind": "infer", "fused": True},
]


def estimate(case: dict[str, Any]) -> int:
    """Bytes, by the formulas."""
    kind = case["kind"]
    wish = Wish(
        train=kind != "infer", batch=case["batch"], seq=case["seq"], dtype="float32", kv_bits=32,
        kernels="fused" if case.get("fused") else "plain", lora=16 if kind == "lora" else 0,
        recompute="none" if kind in ("train", "infer", "lora") else kind,
    )  # fmt: skip
    return memory.most(Model(name="small", **case["sizes"]), wish)


@pytest.fixture(scope="module")
def printed(
    stack: Path, stack_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Any]]:
    """What the probe prints, by the first word of its lines: a tuned config, then the runs."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    tune.tune("s60", str(folder), 1, "", undo=False, json=False)
    done = subprocess.run(
        [stack / "bin" / "python", PROBE, folder, json.dumps(CASES)], env=variables(stack_home),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, list[Any]] = {"config": [], "peak": []}
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word in found:
            found[word].append(json.loads(rest))
    return found


def test_the_estimate_is_within_ten_percent_of_what_runs_take(
    printed: dict[str, list[Any]],
) -> None:
    found = printed["peak"]
    assert len(found) == len(CASES)
    off = {f"{case['kind']} {number}": estimate(case) / run["peak"] - 1
           for number, (case, run) in enumerate(zip(CASES, found, strict=True))}  # fmt: skip
    assert all(run["left"] < 0.03 * run["peak"] for run in found), found
    assert all(abs(share) <= 0.1 for share in off.values()), off


def test_the_fields_that_are_reset_are_those_that_the_data_names(
    printed: dict[str, list[Any]],
) -> None:
    release = re.findall(r"paddlenlp==(\S+)", PAIR.read_text())[0]
    for field in tune.fields_of("s60"):
        assert printed["config"][0].get(field.name, False) is (release not in field.reset_by)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["kind"])
def test_another_size_is_another_estimate(case: dict[str, Any]) -> None:
    """What the measured test compares must move with each of what it varies."""
    larger = [case | {"batch": case["batch"] * 2}, case | {"seq": case["seq"] // 2}]
    sizes = case["sizes"]
    larger.append(case | {"sizes": sizes | {"num_hidden_layers": 2 * sizes["num_hidden_layers"]}})
    assert len({estimate(case), *map(estimate, larger)}) == 4
