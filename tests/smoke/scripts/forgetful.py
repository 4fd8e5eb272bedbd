"""What the check of a checkpoint says of one that was not read, or read in part; prints JSON.

python forgetful.py, with the probes on PYTHONPATH.
"""
# mypy: disable-error-code="import-not-found"
# (the modules of the probes, which stand beside each other where they run)

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import paddle
from report import Report
from target import Target
from train import Learner, Run

CONFIG = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1,
          "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 100,
          "max_position_embeddings": 16}  # fmt: skip
SPEC: dict[str, Any] = {
    "tolerance": {}, "counted": True, "tiny": {"config": CONFIG, "shape": [2, 16]},
    "train": {"steps": 6, "learning_rate": 1e-2, "agreement": 1e-4},
}  # fmt: skip


def said(run: Run) -> str:
    """The error of the check, "" for none."""
    try:
        run.resumed()
    except AssertionError as error:
        return str(error)
    return ""


def weights_only(self: Learner, folder: Path) -> None:
    """Leave the optimizer's states out."""
    self.model.set_state_dict(paddle.load(str(folder / "model.pdparams")))


def main() -> None:
    """Train once, and go on from the checkpoint in three ways."""
    with tempfile.TemporaryDirectory() as folder:
        target = Target("loopback", SPEC, Report(Path(folder) / "out.jsonl"))
        target.select()
        run = Run(target, Path(folder), SPEC)
        run.on_cpu()
        run.on_device()
        found = {"right": said(run)}
        Learner.load = weights_only
        found["weights"] = said(run)
        Learner.load = lambda self, folder: None
        found["nothing"] = said(run)
    print(json.dumps(found))


main()
