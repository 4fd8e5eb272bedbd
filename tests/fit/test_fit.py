"""The formulas against figures counted by hand, what is refused, and the command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checks.fit import memory, weights
from checks.fit.cards import cards_of, target_of
from checks.fit.cards import memory as known_memory
from checks.fit.command import answer, fit
from checks.fit.judge import Room, largest
from checks.fit.model import Model, find, rows
from checks.fit.show import lines
from checks.fit.tile import tile
from checks.fit.wish import Wish, possible
from provision.amounts import MIB
from provision.errors import PaddockError
from provision.paths import targets
from tests.conftest import Cli

GIB = 1 << 30
CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
    "intermediate_size": 96, "num_hidden_layers": 4, "num_attention_heads": 8,
    "num_key_value_heads": 2, "vocab_size": 1000, "max_position_embeddings": 256,
}  # fmt: skip
FLAGS: dict[str, Any] = dict.fromkeys(
    ("model", "batch", "seq", "dtype", "tp", "pp", "cards", "sharding", "sharding_degree",
     "recompute", "lora", "kv_bits", "kernels", "card", "ecc"), "",
) | {"train": False, "infer": False, "sequence_parallel": False}  # fmt: skip


def wish(**values: Any) -> Wish:
    base = {"train": True, "batch": 1, "seq": 128, "dtype": "float32", "kv_bits": 32}
    return Wish(**{**base, **values})


@pytest.fixture
def small(tmp_path: Path) -> Model:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    return find(str(path))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_named_models_have_the_parameters_that_are_published(row: Any) -> None:
    model = find(row.name)
    one = wish()
    assert weights.parameters(model, one, weights.stages(model, one)[0]) == row.parameters


def test_tensor_and_pipeline_parallelism_share_out_all_parameters(small: Model) -> None:
    whole = weights.parameters(small, wish(), weights.stages(small, wish())[0])
    shared = wish(tp=2, pp=2)
    sums = sum(weights.parameters(small, shared, one) for one in weights.stages(small, shared))
    norms = (2 * 4 + 1) * 64  # every card of a tensor has the whole norms
    assert 2 * sums - norms == whole


def test_key_heads_that_cannot_be_split_are_on_every_card(small: Model) -> None:
    assert [weights.kv_width(small, tp) for tp in (1, 2, 4, 8)] == [16, 8, 16, 16]
    assert possible(wish(tp=4, cards=4), small)


def test_a_tied_head_is_counted_once_and_copied_to_a_later_stage(small: Model) -> None:
    tied = msgspec.structs.replace(small, tie_word_embeddings=True)
    table = 1000 * 64

    def count(model: Model, **values: Any) -> int:
        one = wish(**values)
        return sum(weights.parameters(model, one, stage) for stage in weights.stages(model, one))

    assert count(small) - count(tied) == table
    assert count(small, pp=2) == count(tied, pp=2)


def test_states_by_dtype_and_stage(small: Model) -> None:
    def states(**values: Any) -> list[float]:
        one = wish(**values)
        stage = weights.stages(small, one)[0]
        found, count = weights.state(small, one, stage), weights.parameters(small, one, stage)
        return [round(part / count, 2) for part in
                (found.weights, found.gradients, found.optimizer)]  # fmt: skip

    half: dict[str, Any] = {"dtype": "bfloat16", "kv_bits": 16}
    shared = half | {"cards": 4, "sharding_degree": 4}
    assert states() == [4, 4, 8]
    assert states(**half) == [2, 2, 12]
    assert states(**half, tp=2) == [2, 4, 12]
    assert states(**shared, sharding="stage1") == [2, 4, 3]
    assert states(**shared, sharding="stage2") == [2, 0.5, 3]
    assert states(**shared, sharding="stage3") == [0.5, 0.5, 3]
    assert weights.state(small, wish(train=False), weights.stages(small, wish())[0])[2:] == (0, 0)


@pytest.mark.parametrize(("bits", "share"), [(16, 1.0), (8, 0.5), (4, 4.5 / 16)])
def test_the_cache_by_its_bits(bits: int, share: float) -> None:
    """13B at 4096 tokens in 16 bits: 2 x 40 layers x 4096 x 5120 x 2 bytes = 3.125 GiB."""
    one = wish(train=False, seq=4096, dtype="float16", kv_bits=bits)
    found = memory.parts(find("llama2-13b"), one)[0].kv_cache
    assert found == pytest.approx(3.125 * GIB * share)


def test_grouped_heads_shrink_the_cache() -> None:
    one = wish(train=False, seq=4096, dtype="float16", kv_bits=16)
    cache = memory.parts(find("llama2-70b"), one)[0].kv_cache
    assert cache == 2 * 80 * 4096 * (8 * 128) * 2


def test_plain_scores_grow_with_the_square_and_tiled_ones_with_the_length() -> None:
    model = find("llama2-13b")
    found = [memory.attention(model, wish(train=False, seq=n, kernels="fused"))
             for n in (1024, 2048)]  # fmt: skip
    assert found[1].plain == 4 * found[0].plain
    assert found[1].tiled == 2 * found[0].tiled


def test_earlier_stages_hold_more_micro_batches(small: Model) -> None:
    found = memory.parts(small, wish(pp=4))
    assert [one.stage for one in found] == [1, 2, 3, 4]
    kept = [one.activations + one.attention for one in found[:3]]
    assert kept[0] - kept[1] == kept[1] - kept[2] > 0
    assert found[3].logits > 0 == found[0].logits


def test_recomputing_more_keeps_less(small: Model) -> None:
    for kernels in ("plain", "fused"):
        kept = [memory.most(small, wish(recompute=part, kernels=kernels, batch=4))
                for part in ("none", "core_attn", "full_attn", "full")]  # fmt: skip
        assert kept == sorted(kept, reverse=True)
        assert len(set(kept)) == 4


def test_the_runs_of_the_articles_fit_where_they_were_run() -> None:
    """SFT, LoRA and pretraining on eight cards with 64 GB, perplexity on one S60."""
    common = {"train": True, "batch": "2", "seq": "4096", "sequence_parallel": True,
              "model": "llama2-13b", "card": "910B3"}  # fmt: skip
    for more in (
        {"tp": "8", "sharding": "stage1"},
        {"tp": "8", "lora": "32"},
        {"tp": "4", "sharding": "stage1", "sharding_degree": "2"},
    ):
        found = answer("ascend910b", FLAGS | common | more)
        assert (found.cards[0].verdict, found.run.cards) == ("fits", 8), more
    s60 = {"infer": True, "model": "sci-benchmark-llama-13b-5k", "batch": "4", "seq": "512"}
    assert answer("s60", FLAGS | s60).cards[0].verdict == "fits"
    assert (
        answer("ascend910b", FLAGS | s60 | {"card": "910B4", "batch": "6"}).cards[0].verdict
        == "tight"
    )


def test_without_a_card_every_kind_is_judged_the_worst_first() -> None:
    found = answer("ascend910b", FLAGS | {"model": "llama2-13b", "train": True, "tp": "8"})
    assert found.cards[0].card == "910B4"
    assert found.cards == sorted(found.cards, key=lambda one: one.left)
    assert len(found.cards) > 3
    both = answer("s60", FLAGS | {"model": "llama2-7b", "infer": True})
    assert [one.memory // MIB for one in both.cards] == [42976, 49120]
    one = answer("s60", FLAGS | {"model": "llama2-7b", "infer": True, "ecc": "off"})
    assert [card.memory // MIB for card in one.cards] == [49120]


@pytest.mark.parametrize("flags", [
    {"model": "llama2-13b", "train": True, "tp": "8", "batch": "8"},
    {"model": "llama2-7b", "train": True, "batch": "4"},
    {"model": "llama2-70b", "train": True, "batch": "4"},
    {"model": "llama2-13b", "infer": True, "batch": "64", "card": "910B4"},
    {"model": "llama3-70b", "infer": True, "batch": "64", "kernels": "plain"},
])  # fmt: skip
def test_each_change_makes_it_fit_and_is_not_more_than_needed(flags: dict[str, Any]) -> None:
    """The options that are named are typed again: they are the proof."""
    found = answer("ascend910b", FLAGS | {"card": "910B4"} | flags)
    assert found.cards[0].verdict != "fits"
    assert found.changes
    for options in found.changes:
        words = " ".join(options).split()
        typed: dict[str, Any] = {}
        for word, value in zip(words, [*words[1:], ""], strict=True):
            if word.startswith("--"):
                given = True if not value or value.startswith("--") else value
                typed[word[2:].replace("-", "_")] = given
        again = answer("ascend910b", FLAGS | {"card": "910B4"} | flags | typed)
        assert again.cards[0].verdict == "fits", options
        if "batch" in typed:
            more = {"batch": str(2 * int(typed["batch"]))}
            twice = answer("ascend910b", FLAGS | {"card": "910B4"} | flags | typed | more)
            assert twice.cards[0].verdict != "fits" or int(more["batch"]) >= int(flags["batch"])


def test_the_largest_that_fits_is_the_largest() -> None:
    known, model = known_memory(), find("llama2-7b")
    room = Room(model, cards_of(known, "s60", "", "on")[0], target_of(known, "s60"))
    one = wish(train=False, seq=2048, dtype="float16", kv_bits=16)
    found = largest(room, one)
    for name, most in found.items():
        assert room.fits(msgspec.structs.replace(one, **{name: most}))
        assert not room.fits(msgspec.structs.replace(one, **{name: most + 1}))


def test_where_nothing_fits_that_is_said(tmp_path: Path) -> None:
    """In a config.json with sizes that nobody has the amounts stay readable, too."""
    huge = CONFIG | {"hidden_size": 1 << 36, "intermediate_size": 1 << 36, "vocab_size": 1 << 36}
    (tmp_path / "config.json").write_text(json.dumps(huge))
    told = "\n".join(lines(answer("s60", FLAGS | {"model": str(tmp_path), "infer": True})))
    assert "nothing fits" in told
    assert "> 1024 PiB" in told
    assert max(map(len, re.findall(r"\d+", told))) < 12
    assert not re.search("(batch|length) 0", told)


def test_one_of_the_largest_may_be_none() -> None:
    flags = {"model": "llama2-7b", "infer": True, "seq": "64", "batch": str(1 << 30), "ecc": "on"}
    found = answer("s60", FLAGS | flags)
    assert (found.largest["seq"], found.largest["batch"] > 0) == (0, True)
    assert f"batch {found.largest['batch']}, or length none" in "\n".join(lines(found))


def test_a_name_stays_on_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "a\n\x1b[2Jb"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    fit("s60", FLAGS | {"model": str(folder), "infer": True}, json=False)
    assert all(line.isprintable() for line in capsys.readouterr().out.split("\n"))


def test_ecc_of_a_card_that_has_one_figure() -> None:
    with pytest.raises(PaddockError, match=r"S60.*910B2") as caught:
        answer("ascend910b", FLAGS | {"model": "llama2-7b", "infer": True, "card": "910B2",
                                      "ecc": "on"})  # fmt: skip
    assert caught.value.values["option"] == "--ecc"


def test_a_tile_fills_the_local_memory_and_no_more() -> None:
    chip = known_memory().chips[0]
    model = find("llama2-13b")
    found = tile(chip, model, wish(train=False, seq=4096, dtype="float16"))
    assert found is not None
    assert (found.side, found.side % chip.granule) == (128, 0)
    assert found.vector <= chip.vector < found.vector * 1.3
    narrow = tile(chip, model, wish(train=False, seq=20, dtype="float16"))
    assert narrow is not None
    assert narrow.side == 32
    tight = msgspec.structs.replace(chip, vector=1000)
    assert tile(tight, model, wish(train=False, seq=4096)) is None


def test_each_target_has_a_row() -> None:
    assert {one.name for one in known_memory().targets} == set(targets())


REFUSED = [
    ({"tp": "3"}, "--tp"), ({"pp": "7"}, "--pp"), ({"seq": "5000"}, "--seq"),
    ({"batch": "0"}, "--batch"), ({"batch": "two"}, "--batch"), ({"batch": "9" * 99}, "--batch"),
    ({"kv_bits": "8"}, "--kv-bits"), ({"sharding": "stage9"}, "--sharding"),
    ({"sharding": "stage2", "pp": "2"}, "--sharding"), ({"cards": "3", "tp": "2"}, "--cards"),
    ({"sharding_degree": "2"}, "--sharding-degree"), ({"ecc": "on"}, "--ecc"),
    ({"ecc": "maybe"}, "--ecc"), ({"card": "910"}, "--card"), ({"dtype": "int8"}, "--dtype"),
    ({"recompute": "half"}, "--recompute"), ({"kernels": "fast"}, "--kernels"),
    ({"sequence_parallel": True}, "--sequence-parallel"), ({"model": ""}, "--model"),
    ({"train": False, "infer": True, "lora": "8"}, "--lora"),
    ({"train": False, "infer": True, "kv_bits": "5"}, "--kv-bits"),
    ({"train": False, "infer": True, "kv_bits": "32"}, "--kv-bits"),
    ({"model": "llama3-8b", "tp": "16", "kv_bits": "1"}, "--kv-bits"),
]  # fmt: skip


@pytest.mark.parametrize(("flags", "option"), REFUSED)
def test_what_cannot_be_is_refused(flags: dict[str, Any], option: str) -> None:
    given = FLAGS | {"model": "llama2-13b", "train": True} | flags
    with pytest.raises(PaddockError) as caught:
        answer("ascend910b", given)
    assert (caught.value.code, caught.value.values["option"]) == ("bad-option", option)
    assert "{" not in str(caught.value)


@pytest.mark.parametrize(("change", "says"), [
    ({"model_type": "mixtral"}, "mixtral"), ({"model_type": None}, "None"),
    ({"architectures": ["DeepseekV3ForCausalLM"]}, "DeepseekV3"),
    ({"architectures": ["LlamaForSequenceClassification"]}, "SequenceClassification"),
    ({"num_local_experts": 8}, "num_local_experts"), ({"attention_bias": True}, "attention_bias"),
    ({"quantization_config": {"bits": 4}}, "quantization_config"), ({"head_dim": 128}, "head_dim"),
    ({"hidden_size": None}, "hidden_size"), ({"vocab_size": -1}, "vocab_size"),
    ({"num_hidden_layers": 2.5}, "num_hidden_layers"), ({"num_attention_heads": 7}, "hidden_size"),
    ({"num_key_value_heads": 3}, "num_key_value_heads"), ({"hidden_act": "gelu"}, "hidden_act"),
])  # fmt: skip
def test_other_models_are_unknown(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    values = {k: v for k, v in (CONFIG | change).items() if v is not None}
    (tmp_path / "config.json").write_text(json.dumps(values))
    with pytest.raises(PaddockError) as caught:
        find(str(tmp_path))
    assert caught.value.code == "bad-model"
    assert says in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff\xfe", b'{"a": 1', b"[" * 100_000])
def test_a_file_that_is_no_config(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(data)
    with pytest.raises(PaddockError, match=r"config\.json"):
        find(str(path))


def test_a_bom_and_foreign_fields_are_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(CONFIG | {"_name": "模型"}).encode())
    assert find(str(tmp_path)).hidden_size == 64


LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}  # fmt: skip


@pytest.mark.parametrize(("change", "rows", "longest"), [
    ({"rope_scaling": LLAMA3}, 256, 256),
    ({"rope_scaling": LLAMA3, "rope_scaling_type": "unheard-of"}, 256, 256),
    ({"rope_scaling": {"type": "linear", "factor": 4.0}}, 256, 256),
    ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, 256, 256),
    ({"rope_scaling": None, "rope_scaling_type": None, "rope_scaling_factor": "x"}, 256, 256),
    ({"rope_parameters": {"rope_type": "linear", "factor": 2.0}}, 256, 256),
    ({"rope_scaling_factor": 4.0}, 256, 256),
    ({"rope_scaling_type": "linear"}, 256, 256),
    ({"rope_scaling_type": "linear", "rope_scaling_factor": 4}, 1024, 1024),
    ({"rope_scaling_type": "ntk", "rope_scaling_factor": 2.5}, 640, 640),
    ({"rope_scaling_type": "ntk", "rope_scaling_factor": 0.5}, 128, 128),
    ({"rope_scaling_type": "dynamic_ntk", "rope_scaling_factor": 4.0}, 256, None),
])  # fmt: skip
def test_rotary_scaling_is_what_paddlenlp_makes_of_it(
    tmp_path: Path, change: dict[str, Any], rows: int, longest: int | None
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG | change))
    model, one = find(str(tmp_path)), wish(train=False, seq=64)
    assert (model.positions, model.longest) == (rows, longest)
    tables = weights.state(model, one, weights.stages(model, one)[0]).tables
    assert tables == 4 * 2 * rows * 8 * 4  # layers, sines and cosines, head, float32
    found = answer("s60", FLAGS | {"model": str(tmp_path), "infer": True})
    assert found.run.seq == min(rows, 256)
    assert found.stages[0].tables == 4 * 3 * rows * 8 * 4  # PaddleNLP makes a third one for gcu
    assert possible(wish(seq=longest or 5000), model)
    if longest:
        assert found.largest["seq"] == longest
        assert not possible(wish(seq=longest + 1), model)
    else:
        assert found.largest["seq"] > 256
        long = wish(train=False, seq=5000)
        assert weights.state(model, long, weights.stages(model, long)[0]).tables > tables


@pytest.mark.parametrize(("change", "says"), [
    ({"rope_scaling_type": "llama3"}, "rope_scaling_type"),
    ({"rope_scaling_type": "yarn"}, "yarn"),
    ({"rope_scaling_type": "linear", "rope_scaling_factor": None}, "rope_scaling_factor"),
    ({"rope_scaling_type": "linear", "rope_scaling_factor": 0}, "rope_scaling_factor"),
    ({"rope_scaling_type": "ntk", "rope_scaling_factor": "2"}, "rope_scaling_factor"),
    ({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, "low_freq_factor"),
    ({"rope_scaling": "linear"}, "rope_scaling"),
])  # fmt: skip
def test_rotary_scaling_at_which_paddlenlp_fails(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG | change))
    with pytest.raises(PaddockError, match=says) as caught:
        find(str(tmp_path))
    assert caught.value.code == "bad-model"


def test_a_field_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG)[:-1] + ', "hidden_size": 128}')
    with pytest.raises(PaddockError, match="`hidden_size` is there twice"):
        find(str(path))


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    run = cli("fit", "--model", str(tmp_path), "--target", "npu", "--infer", "--json")
    found = json.loads(run.stdout)
    assert (run.returncode, found["schema"]) == (0, "paddock/fit/1")
    for stage in found["stages"]:
        parts = {k: v for k, v in stage.items() if k not in ("stage", "layers", "total")}
        assert sum(parts.values()) == stage["total"]
    told = cli("fit", "--model", "llama2-70b", "--target", "gcu", "--train", PADDOCK_LANG="zh")
    assert told.returncode == 11
    assert re.search(r"放不下，缺 [\d.]+ TiB", told.stdout)
    wrong = cli("fit", "--model", "llama2-17b", "--infer", "--json")
    assert wrong.returncode == 2
    assert json.loads(wrong.stdout)["code"] == "unknown-model"


def test_loopback_is_judged_by_the_memory_of_this_machine() -> None:
    run = FLAGS | {"model": "smollm2-135m", "infer": True, "seq": "64"}
    found = answer("loopback", run)
    assert (found.cards[0].card, found.run.dtype, found.run.kernels) == ("host", "float32", "plain")
    two = answer(
        "loopback", FLAGS | {"model": "smollm2-135m", "infer": True, "seq": "64", "tp": "3"}
    )
    assert two.cards[0].needed == 3 * two.stages[0].total
