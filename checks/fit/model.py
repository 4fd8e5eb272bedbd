"""The sizes of a Llama model: of a name in `images/models.toml`, a config.json, or a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec

from provision.document import Table, read
from provision.errors import PaddockError, unknown_name
from provision.facts import small
from provision.paths import IMAGES
from provision.words import text

Size = Annotated[int, msgspec.Meta(ge=1, le=1 << 40)]
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

    `scaled` says that the config stretches rotary positions beyond `max_position_embeddings`.
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
    scaled: bool = False

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


class Rows(Table, frozen=True):
    """`images/models.toml`."""

    models: list[Row]


def rows() -> list[Row]:
    """The named models."""
    return read(IMAGES / "models.toml", Rows, Row).models


def find(value: str) -> Model:
    """The model that `--model` means: a file or a folder that exists, else a name.

    Raises PaddockError `unknown-model`, `bad-model`.
    """
    path = Path(value).expanduser()
    if small.is_folder(path):
        return of_file(path / "config.json")
    if small.is_file(path) or path.suffix == ".json":
        return of_file(path)
    named = {row.name: row for row in rows()}
    if row := named.get(value.lower()):
        fields = {name: getattr(row, name) for name in Model.__struct_fields__ if name != "scaled"}
        return Model(**fields)
    raise unknown_name("unknown-model", value, list(named))


def of_file(path: Path) -> Model:
    """The model of a config.json. Raises PaddockError `bad-model` for what is none of Llama's."""
    values = config_of(path)
    require_llama(path, values)
    given = {name: values[name] for name in Model.__struct_fields__
             if name != "name" and values.get(name) is not None}  # fmt: skip
    given.setdefault("num_key_value_heads", values.get("num_attention_heads"))
    given["scaled"] = _scaled(values)
    try:
        model = msgspec.convert({**given, "name": str(path)}, Model)
    except msgspec.ValidationError as error:
        raise bad(path, str(error).replace("Object", "config.json")) from None
    _whole(path, model, values.get("head_dim"))
    return model


def _scaled(values: dict[str, Any]) -> bool:
    """Whether rotary positions are stretched: PaddleNLP's field, or one of transformers' two."""
    for name in ("rope_scaling_type", "rope_scaling", "rope_parameters"):
        kind = values.get(name)
        if isinstance(kind, dict):
            kind = kind.get("rope_type", kind.get("type", "default"))
        if kind not in (None, "default"):
            return True
    return False


def config_of(path: Path) -> dict[str, Any]:
    """A config.json as values. Raises PaddockError `bad-model`."""
    try:
        with small.opened(path) as stream:
            data = stream.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        raise bad(path, getattr(error, "strerror", None) or str(error)) from None
    if len(data) > _LARGEST:
        raise bad(path, text("fit.model.large"))
    try:
        values = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise bad(path, text("fit.model.json", reason=error)) from None
    if not isinstance(values, dict):
        raise bad(path, text("fit.model.object"))
    return values


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
