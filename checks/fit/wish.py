"""What is to run, and on how many cards; what cannot be is refused here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from checks.fit.model import Model
from provision.errors import PaddockError
from provision.words import text

BYTES: Final = {"float32": 4, "float16": 2, "bfloat16": 2}
SHARDING: Final = ("", "stage1", "stage2", "stage3")
RECOMPUTE: Final = ("none", "core_attn", "full_attn", "full")
KERNELS: Final = ("plain", "fused")


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """One run. `batch` is per card and step (a micro-batch), `seq` the whole length in tokens.

    `tp`, `pp` and `sharding_degree` are how many cards share tensors, layers and the optimizer's
    states; `cards` are all of the run. `kv_bits` are per value in the cache, `lora` is a rank or 0,
    `tables` are those of sines and cosines in each layer.
    """

    train: bool
    batch: int
    seq: int
    dtype: str
    tp: int = 1
    pp: int = 1
    sharding: str = ""
    sharding_degree: int = 1
    cards: int = 1
    kv_bits: int = 16
    lora: int = 0
    recompute: str = "none"
    sequence_parallel: bool = False
    kernels: str = "fused"
    tables: int = 2

    @property
    def size(self) -> int:
        """Bytes of one value of the dtype."""
        return BYTES[self.dtype]

    @property
    def groups(self) -> int:
        """Groups of cards that talk to each other: all of them, and one for each kind of share."""
        data = self.cards // (self.tp * self.pp * self.sharding_degree)
        several = sum(n > 1 for n in (self.tp, self.pp, self.sharding_degree, data))
        return several + 1 if several else 0


def checked(wish: Wish, model: Model) -> Wish:
    """The wish itself. Raises PaddockError `bad-option` for what cannot be."""
    for option, value, key, values in _impossible(wish, model):
        raise PaddockError("bad-option", option=option, value=value, wanted=text(key, **values))
    return wish


Refusal = tuple[str, object, str, dict[str, object]]


def possible(wish: Wish, model: Model) -> bool:
    """Whether nothing speaks against it."""
    return next(_impossible(wish, model), None) is None


def _impossible(wish: Wish, model: Model) -> Iterator[Refusal]:
    """Each option that cannot be so: its name, its value, and what is wanted instead.

    How Paddle's tensor and pipeline parallelism divide: paddlenlp 3.0.0b4
    transformers/llama/modeling.py, paddlepaddle 3.3.1 meta_parallel/parallel_layers/pp_layers.py.
    """
    yield from _shares(wish, model)
    yield from _together(wish)
    most = model.longest
    if most is not None and wish.seq > most:
        yield "--seq", wish.seq, "fit.wanted.seq", {"most": most}
    whole = wish.tp * wish.pp * wish.sharding_degree
    if wish.cards % whole:
        yield "--cards", wish.cards, "fit.wanted.cards", {"whole": whole}


def _shares(wish: Wish, model: Model) -> Iterator[Refusal]:
    """What the degrees have to divide."""
    counts = (model.num_attention_heads, model.intermediate_size)
    if any(count % wish.tp for count in counts):
        yield "--tp", wish.tp, "fit.wanted.tp", {"heads": counts[0], "ffn": counts[1]}
    few = model.num_key_value_heads
    if few % wish.tp and wish.tp % few:
        yield "--tp", wish.tp, "fit.wanted.tp-kv", {"heads": few}
    if model.num_hidden_layers % wish.pp:
        yield "--pp", wish.pp, "fit.wanted.pp", {"layers": model.num_hidden_layers}
    if wish.sequence_parallel and (wish.tp == 1 or wish.seq % wish.tp):
        yield "--sequence-parallel", wish.tp, "fit.wanted.sequence", {}


def _together(wish: Wish) -> Iterator[Refusal]:
    """Options that exclude or need each other."""
    if wish.sharding_degree > 1 and not wish.sharding:
        yield "--sharding-degree", wish.sharding_degree, "fit.wanted.degree", {}
    if wish.pp > 1 and wish.sharding in ("stage2", "stage3"):
        yield "--sharding", wish.sharding, "fit.wanted.stage1", {}
    given = {"--sharding": wish.sharding, "--lora": wish.lora,
             "--recompute": wish.recompute.replace("none", ""),
             "--sequence-parallel": wish.sequence_parallel}  # fmt: skip
    for option, value in given.items():
        if value and not wish.train:
            yield option, value, "fit.wanted.train", {}
    if wish.train and wish.kv_bits != wish.size * 8:
        yield "--kv-bits", wish.kv_bits, "fit.wanted.infer", {}
    if wish.kv_bits > wish.size * 8:
        yield "--kv-bits", wish.kv_bits, "fit.wanted.kv", {"bits": wish.size * 8}
