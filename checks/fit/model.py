"""The sizes of a Llama model: of a name in `images/models.toml`, a config.json, or a folder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from checks import json_edit
from provision.amounts import size
from provision.document import Table, tables
from provision.errors import PaddockError, unknown_name
from provision.facts import small
from provision.paths import IMAGES
from provision.words import text

Size = Annotated[int, msgspec.Meta(ge=1, le=1 << 40)]
Factor = Annotated[float, msgspec.Meta(gt=0, le=1 << 20)]
_LARGEST = 16 << 20  # bytes of a config.json

_CLASSES = ("LlamaForCausalLM", "LlamaForCausalLMPipe")  # those with a head for the next token
# What the formulas here, and PaddleNLP's Llama, take for granted: by field, the values that say so.
# A field that is not there says so too. `hidden_act` decides what is kept of the feed-forward part.
_ASSUMED: dict[str, tuple[object, ...]] = {
    "hidden_act": ("silu", "swish", None),
    "alibi": (False, None),
    "attention_bias": (False, None),
    "mlp_bias": (False, None),
    "quantization_config": (None,),
    "num_local_experts": (None, 0, 1),
    "num_experts": (None, 0, 1),
    "n_routed_experts": (None, 0),
}


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A Llama model. Fields are named as in its config.json.

    The two of rotary scaling are PaddleNLP's own, as its Llama takes them (paddlenlp 3.0.0b4,
    transformers/llama/modeling.py, _init_rope): None and 1 where it stretches nothing.
    """

    name: str
    hidden_size: Size
    intermediate_size: Size
    num_hidden_layers: Size
    num_attention_heads: Size
    num_key_value_heads: Size
    vocab_size: Size
    max_position_embeddings: Size = 2048
    tie_word_embeddings: bool = False
    rope_scaling_type: Literal["linear", "ntk", "dynamic_ntk"] | None = None
    rope_scaling_factor: Factor = 1.0

    @property
    def positions(self) -> int:
        """Rows of the rotary tables as they are built: linear and ntk stretch them."""
        if self.rope_scaling_type in ("linear", "ntk"):
            return math.ceil(self.max_position_embeddings * self.rope_scaling_factor)
        return self.max_position_embeddings

    @property
    def longest(self) -> int | None:
        """Tokens that a sequence may have; None where nothing limits it.

        The tables end there. dynamic_ntk alone computes longer ones when they are needed.
        """
        return None if self.rope_scaling_type == "dynamic_ntk" else self.positions

    @property
    def head_size(self) -> int:
        """Elements of one head."""
        return self.hidden_size // self.num_attention_heads


class Row(Table, frozen=True, kw_only=True):
    """A named model."""

    name: str
    hidden_size: Size
    intermediate_size: Size
    num_hidden_layers: Size
    num_attention_heads: Size
    num_key_value_heads: Size
    vocab_size: Size
    max_position_embeddings: Size
    tie_word_embeddings: bool = False
    parameters: Size
    source: str
    seen: str


def rows() -> list[Row]:
    """The named models."""
    return tables(IMAGES / "models.toml", "models", Row)


def find(value: str) -> Model:
    """The model that `--model` means: a file or a folder that exists, else a name.

    Raises PaddockError `unknown-model`, `bad-model`.
    """
    path = Path(value)
    if small.is_folder(path):
        return of_file(path / "config.json")
    if small.is_file(path) or path.suffix == ".json":
        return of_file(path)
    named = {row.name: row for row in rows()}
    if row := named.get(value.lower()):
        names = set(Model.__struct_fields__) & set(Row.__struct_fields__)
        return Model(**{name: getattr(row, name) for name in names})
    raise unknown_name("unknown-model", value, list(named))


def of_file(path: Path) -> Model:
    """The model of a config.json. Raises PaddockError `bad-model` for what is none of Llama's."""
    values = config_of(path)
    require_llama(path, values)
    given = {name: values[name] for name in Model.__struct_fields__
             if name not in _NOT_GIVEN and values.get(name) is not None}  # fmt: skip
    given.setdefault("num_key_value_heads", values.get("num_attention_heads"))
    given |= _scaling(path, values)
    try:
        model = msgspec.convert({**given, "name": small.shown(path)}, Model)
    except msgspec.ValidationError as error:
        raise bad(path, str(error).replace("Object", "config.json")) from None
    _whole(path, model, values.get("head_dim"))
    return model


_NOT_GIVEN = ("name", "rope_scaling_type", "rope_scaling_factor")
_LLAMA3 = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")


def _scaling(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    """PaddleNLP's two fields of rotary scaling, where they have an effect.

    Of transformers' `rope_scaling` PaddleNLP takes llama3 alone, before its own fields; there
    `max_position_embeddings` is the stretched length already. All else in it changes nothing.
    Raises PaddockError `bad-model` for what PaddleNLP fails at.
    """
    theirs = values.get("rope_scaling")
    if not isinstance(theirs, dict | None):
        raise bad(path, text("fit.model.field", field="rope_scaling", value=_shown(theirs)))
    if theirs and theirs.get("rope_type") == "llama3":
        if lost := next((name for name in _LLAMA3 if theirs.get(name) is None), None):
            raise bad(path, text("fit.model.lacks", field=f"rope_scaling.{lost}"))
        return {}
    if values.get("rope_scaling_type") is None:
        return {}
    return {name: values[name] for name in _NOT_GIVEN if name != "name" and name in values}


def config_of(path: Path) -> dict[str, Any]:
    """A config.json as values. Raises PaddockError `bad-model`."""
    try:
        with small.opened(path) as stream:
            data = stream.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        raise bad(path, getattr(error, "strerror", None) or str(error)) from None
    if len(data) > _LARGEST:
        raise bad(path, text("too-large", size=size(_LARGEST)))
    try:
        values = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise bad(path, text("fit.model.json", reason=error)) from None
    if not isinstance(values, dict):
        raise bad(path, text("fit.model.object"))
    _once(path, data)
    return values


def _once(path: Path, data: bytes) -> None:
    """Raises PaddockError `bad-model` for a field that is there twice: which one is meant?"""
    try:
        names = [one.name for one in json_edit.members(data.decode("utf-8"))]
    except (ValueError, RecursionError) as error:
        raise bad(path, text("fit.model.json", reason=error)) from None
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise bad(path, text("fit.model.twice", field=_shown(twice)))


def require_llama(path: Path, values: dict[str, Any]) -> None:
    """Raises PaddockError `bad-model` unless the config is of a Llama as PaddleNLP computes it."""
    kind, classes = values.get("model_type"), values.get("architectures") or []
    if kind != "llama":
        raise bad(path, text("fit.model.type", name=_shown(kind)))
    if not isinstance(classes, list) or any(name not in _CLASSES for name in classes):
        raise bad(path, text("fit.model.architectures", names=_shown(classes)))
    for field, allowed in _ASSUMED.items():
        if values.get(field) not in allowed:
            raise bad(path, text("fit.model.field", field=field, value=_shown(values[field])))


def _whole(path: Path, model: Model, head_size: object) -> None:
    """Raises PaddockError `bad-model` where heads do not divide what they share."""
    pairs = (("hidden_size", "num_attention_heads"), ("num_attention_heads", "num_key_value_heads"))
    for large, few in pairs:
        if getattr(model, large) % getattr(model, few):
            values = {"large": large, "few": few, "a": getattr(model, large),
                      "b": getattr(model, few)}  # fmt: skip
            raise bad(path, text("fit.model.heads", **values))
    if head_size not in (None, model.head_size):
        raise bad(path, text("fit.model.field", field="head_dim", value=_shown(head_size)))


def bad(path: Path, reason: str) -> PaddockError:
    """The error for a file that is no model of ours."""
    return PaddockError("bad-model", file=small.shown(path), reason=reason)


def _shown(value: object) -> str:
    """A value from a file, in short."""
    return str(value)[:60]
