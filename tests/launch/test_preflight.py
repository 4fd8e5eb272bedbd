"""What is looked at before a run: room on the cards, its examples, its model, its cards."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from checks.launch import demand, inputs, preflight
from checks.launch.cards import Card
from checks.launch.found import joined
from checks.launch.wish import Filled, Wish, filled
from provision.errors import PaddockError
from provision.facts import nodes
from provision.facts.nodes import Node
from tests.conftest import Cli
from tests.judge.small_model import small_model


def recipe(name: str, target: str = "ascend910b", checkout: Path | None = None) -> Filled:
    """A recipe; with a checkout its folder is there."""
    _, found = filled(Wish(target, "all", name, checkout=checkout))
    if checkout:
        found[0].folder.mkdir(parents=True)
    return found[0]


def npu(used: int, total: int = 65536) -> Card:
    return Card("910B3", used, total, "OK", True)


def asked(one: Filled, target: str = "ascend910b") -> demand.Demand:
    return demand.demand(one, target)


def test_a_recipe_s_arguments_are_the_run_that_fit_counts() -> None:
    run = asked(recipe("sft")).run
    assert (run.train, run.batch, run.seq, run.dtype, run.tp, run.cards) == (
        True, 2, 4096, "bfloat16", 8, 8,
    )  # fmt: skip
    assert (run.sharding, run.sharding_degree, run.sequence_parallel) == ("stage1", 1, True)
    run = asked(recipe("pretrain")).run
    assert (run.tp, run.sharding, run.sharding_degree, run.lora) == (4, "stage1", 2, 0)
    assert asked(recipe("lora")).run.lora == 32
    found = asked(recipe("perplexity", "s60"), "s60")
    run = found.run
    assert (found.model.name, run.train, run.batch, run.seq) == (
        "sci-benchmark-llama-13b-5k", False, 4, 512,
    )  # fmt: skip
    assert asked(recipe("predict")).run.seq == 2048


@pytest.mark.parametrize(
    ("given", "dtype", "lora", "recompute"),
    [
        ({"bf16": "false", "fp16": ""}, "float16", 0, "none"),
        ({"bf16": "False"}, "float32", 0, "none"),
        ({"lora": "1"}, "bfloat16", 8, "none"),
        ({"recompute": "true"}, "bfloat16", 0, "full"),
        ({"recompute": "1", "recompute_granularity": "core_attn"}, "bfloat16", 0, "core_attn"),
    ],
)
def test_flags_as_the_trainer_takes_them(
    given: dict[str, str], dtype: str, lora: int, recompute: str
) -> None:
    one = recipe("sft")
    one = msgspec.structs.replace(one, arguments={**one.arguments, **given})
    run = asked(one).run
    assert (run.dtype, run.lora, run.recompute) == (dtype, lora, recompute)


def test_cards_that_have_room_and_cards_that_have_not() -> None:
    wanted = asked(recipe("sft"))  # 34.1 GiB
    fits = preflight.memory(wanted, "ascend910b", [npu(3400)] * 8)
    assert (fits.missing, len(fits.notes), "stay free" in fits.notes[0]) == ([], 1, True)
    tight = preflight.memory(wanted, "ascend910b", [npu(3400)] * 7 + [npu(28500)])
    assert (tight.missing, "tight" in tight.notes[0]) == ([], True)
    for full in (npu(40000), npu(3400, 32768)):  # another's program; a smaller card
        no = preflight.memory(wanted, "ascend910b", [npu(3400)] * 7 + [full])
        [line] = no.missing
        assert "does not fit" in line and "--" in line, line


def test_cards_that_nobody_knows_are_said_and_refuse_only_what_fits_on_none() -> None:
    unknown = preflight.memory(asked(recipe("sft")), "ascend910b", [])
    assert unknown.missing == []
    assert "unknown" in unknown.notes[0] and "910B4" in unknown.notes[-1]
    one = recipe("sft")
    large = {**one.arguments, "per_device_train_batch_size": "64"}
    never = asked(msgspec.structs.replace(one, arguments=large))
    [line] = preflight.memory(never, "ascend910b", []).missing
    assert "does not fit" in line
    # A card whose memory in use is not told is as good as unknown.
    card = msgspec.structs.replace(npu(0), used=None)
    assert "unknown" in preflight.memory(asked(recipe("sft")), "ascend910b", [card]).notes[0]


def test_the_model_in_a_folder_is_the_one_that_counts(tmp_path: Path) -> None:
    one = recipe("sft", checkout=tmp_path)
    assert asked(one).model.name == "llama2-13b"
    folder = small_model(one.folder / "meta-llama/Llama-2-13b")
    assert asked(one).model.hidden_size == 64
    assert inputs.model(one).missing == []
    small_model(folder, model_type="bert")
    with pytest.raises(PaddockError, match="bert"):
        asked(one)
    lines = joined(preflight._sizes(one, "ascend910b", "npu")).missing
    assert len(lines) == 1 and "bert" in lines[0]


def test_a_model_that_is_cut_and_one_that_is_fetched(tmp_path: Path) -> None:
    one = recipe("sft", checkout=tmp_path)
    assert "meta-llama/Llama-2-13b" in inputs.model(one).notes[0]
    file = small_model(one.folder / "meta-llama/Llama-2-13b") / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-3])
    [line] = inputs.model(one).missing
    assert "model.safetensors" in line


def test_broken_lines_are_named(tmp_path: Path) -> None:
    one = recipe("sft", checkout=tmp_path)
    (one.folder / "data").mkdir()
    assert len(inputs.data(one).missing) == 1  # neither train nor dev
    good, odd = '{"src": "a", "tgt": "b"}\n', '{"src": "a", "tgt": " "}\n'
    (one.folder / "data/train.json").write_text(good + odd + "{\n" * 7 + good)
    (one.folder / "data/dev.json").write_text(good)
    found = inputs.data(one)
    assert ["line 3" in found.missing[0], "2 more" in found.missing[-1], len(found.missing)] == [
        True, True, 6,
    ]  # fmt: skip
    assert "2 of 10" in found.notes[0] and "1 of 1" in found.notes[1]
    assert inputs.data(recipe("pretrain", checkout=tmp_path / "other")).missing == []


@pytest.mark.parametrize(
    ("cards", "there", "lines"),
    [
        ((0, 1), [0, 1], 0),
        ((0, 1), [4, 5], 0),  # a container that has two of the host's cards counts them anew
        ((4, 5), [4, 5], 2),
        ((0, 7), [0, 1], 1),
        ((1, 0), [0, 1], 1),  # the variable wants them in order
    ],
)
def test_cards_as_their_variable_counts_them(
    cards: tuple[int, ...], there: list[int], lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [Node(f"/dev/davinci{n}", "Huawei", "char") for n in there]
    monkeypatch.setattr(nodes, "collect", lambda _: found)
    one = msgspec.structs.replace(recipe("sft"), cards=cards)
    assert len(list(preflight._cards(one, "npu", Path("/")))) == lines


def test_a_dry_run_says_what_would_be_looked_at(cli: Cli, home: Path) -> None:
    done = cli("smoke", "--target", "npu", "--level", "train", "--recipe", "sft", "--dry-run")
    assert done.returncode == 0, done.stderr
    told = done.stdout.rpartition("exec python")[2].splitlines()
    comments = [line for line in told if line.startswith("#")]
    for part in ("/dev/davinci*", "34.1 GiB", "data/", "24.2 GiB", "60000", "npu-smi info"):
        assert any(part in line for line in comments), part
    value = json.loads(cli("smoke", "--target", "s60", "--level", "model", "--dry-run",
                           "--json").stdout)  # fmt: skip
    assert any("26.1 GiB" in line for line in value["recipes"][0]["looks"])
    assert not (home / "state" / "s60").exists()
