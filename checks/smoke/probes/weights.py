"""The model file: weights, sizes and tokenizer of a Llama model, read from GGUF."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from bpe import Tokenizer

Array = Any  # a numpy array; the stacks' numpy versions disagree about its type parameters


@dataclass(frozen=True)
class Sizes:
    """A Llama model's sizes and constants."""

    layers: int
    heads: int
    kv_heads: int
    rope_base: float
    epsilon: float


@dataclass(frozen=True)
class Model:
    """Sizes, weights by GGUF name as float32 arrays [out, in], and the tokenizer."""

    sizes: Sizes
    weights: dict[str, Array]
    tokenizer: Tokenizer


def packaged(distribution: str, name: str, sha256: str) -> Path:
    """The file called `name` of an installed distribution, after its hash is checked.

    Raises FileNotFoundError when it is not there, ValueError when it is another file.
    """
    files = metadata.files(distribution) or []
    found = [Path(str(file.locate())) for file in files if file.name == name]
    if not found:
        raise FileNotFoundError(f"no {name} in the package {distribution}")
    digest = hashlib.sha256(found[0].read_bytes()).hexdigest()
    if digest != sha256:
        raise ValueError(f"{name} has the sha256 {digest}, expected {sha256}")
    return found[0]


def load(path: Path) -> Model:
    """Read a GGUF file of the Llama architecture. Raises ValueError for another one."""
    from gguf import GGUFReader

    reader = GGUFReader(path)
    facts = {name: field.contents() for name, field in reader.fields.items()}
    kind = facts["general.architecture"], facts["tokenizer.ggml.pre"]
    if kind != ("llama", "smollm"):
        raise ValueError(f"{path.name}: architecture and tokenizer {kind} are not known here")
    vocabulary = [facts[f"tokenizer.ggml.{n}"] for n in ("tokens", "merges", "unknown_token_id")]
    sizes = read_sizes(facts)
    return Model(sizes, read_weights(reader, sizes), Tokenizer(*vocabulary))


def read_sizes(facts: dict[str, Any]) -> Sizes:
    """The sizes that a forward pass needs; the others are in the shapes of the weights."""
    names = (
        "block_count", "attention.head_count", "attention.head_count_kv", "rope.freq_base",
        "attention.layer_norm_rms_epsilon",
    )  # fmt: skip
    return Sizes(*(facts[f"llama.{name}"] for name in names))


def read_weights(reader: Any, sizes: Sizes) -> dict[str, Array]:
    """All tensors as float32, queries and keys in the usual order of rows."""
    from gguf import dequantize

    heads = {"attn_q.weight": sizes.heads, "attn_k.weight": sizes.kv_heads}
    weights = {}
    for tensor in reader.tensors:
        array = np.asarray(dequantize(tensor.data, tensor.tensor_type), "float32")
        kind = tensor.name.partition(".")[2].partition(".")[2]
        weights[tensor.name] = unpermuted(array, heads[kind]) if kind in heads else array
    return weights


def unpermuted(array: Array, heads: int) -> Array:
    """Rows as rotary embedding by halves wants them: GGUF stores each head's halves interleaved."""
    rows, columns = array.shape
    pairs = array.reshape(heads, rows // heads // 2, 2, columns)
    return np.ascontiguousarray(pairs.swapaxes(1, 2).reshape(rows, columns))
