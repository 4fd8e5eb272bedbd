"""A Llama of a few kilobytes, whole as a checkpoint."""

from __future__ import annotations

import json
import struct
from pathlib import Path

CONFIG = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64,
    "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 8,
    "num_key_value_heads": 8, "vocab_size": 256, "max_position_embeddings": 4096,
}  # fmt: skip


def small_model(folder: Path, **config: object) -> Path:
    """Write the model into a folder; `config` changes fields of its config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**CONFIG, **config}))
    names = ["llama.embed_tokens.weight", *(f"llama.layers.{n}.norm.weight" for n in range(2))]
    tensors = {name: {"dtype": "F16", "shape": [4], "data_offsets": [8 * n, 8 * n + 8]}
               for n, name in enumerate(names)}  # fmt: skip
    head = json.dumps(tensors).encode()
    data = struct.pack("<Q", len(head)) + head + bytes(8 * len(names))
    (folder / "model.safetensors").write_bytes(data)
    return folder
