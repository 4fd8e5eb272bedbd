"""The commands of the levels, what is checked before, and a real run of a stand-in program."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from checks.judge.levels import Levels, levels
from checks.judge.reading import Watcher
from checks.judge.signs import anchors
from checks.launch import cards, carry, demand, live, operators, preflight, watch
from checks.launch.cards import Card
from checks.launch.script import script
from checks.launch.wish import Filled, Wish, filled, wish
from checks.logs.window import Window
from checks.runs.record import runs
from provision.arguments import cards as numbers
from provision.arguments import named
from provision.errors import PaddockError
from provision.site import Site
from tests.conftest import Cli
from tests.judge.logs import NPU_BEGIN, evaluation, prediction, text, training
from tests.judge.small_model import small_model

CARDS = "0,1,2,3,4,5,6,7"


def words(target: str, level: str, recipe: str) -> list[str]:
    """The last command of a rendered script, as the shell splits it."""
    _, [one] = filled(Wish(target, level, recipe))
    shell = script(one, target)
    return shlex.split(shell[shell.index("exec ") :].replace("\\\n", " "))


def exports(target: str, level: str, recipe: str) -> dict[str, str]:
    """The variables that a script sets."""
    _, [one] = filled(Wish(target, level, recipe))
    rows = [line for line in script(one, target).splitlines() if line.startswith("export ")]
    return dict(shlex.split(line)[1].split("=", 1) for line in rows)


def pairs(argv: list[str]) -> dict[str, str]:
    """`--key value` as a table; "" for a flag without a value."""
    found: dict[str, str] = {}
    for here, after in zip(argv, [*argv[1:], "--"], strict=True):
        if here.startswith("--"):
            found[here[2:]] = "" if after.startswith("--") else after
    return found


def test_the_evaluation_is_the_article_s() -> None:
    argv = words("s60", "model", "perplexity")
    assert argv[:3] == ["exec", "python", "-u"]
    assert argv[3] == "../../../../slm/examples/benchmark/wiki_lambada/eval.py"
    assert pairs(argv) == {
        "model_name_or_path": "__internal_testing__/sci-benchmark-llama-13b-5k", "device": "gcu",
        "batch_size": "4", "eval_path": "./wikitext-103/wiki.valid.tokens",
        "tensor_parallel_degree": "1", "logging_steps": "10", "use_flash_attention": "True",
        "dtype": "float16",
    }  # fmt: skip
    assert exports("s60", "model", "perplexity") == {
        "PADDLE_RUN_ASYNC": "true", "FLAGS_use_stride_kernel": "false",
        "FLAGS_auto_growth_chunk_size_in_mb": "512",
        "FLAGS_use_stream_safe_cuda_allocator": "false",
        "CUSTOM_DEVICE_BLACK_LIST": "softmax_with_cross_entropy", "TOPS_VISIBLE_DEVICES": "0",
        "PYTHONPATH": "../../../${PYTHONPATH:+:$PYTHONPATH}",
    }  # fmt: skip


def test_the_fine_tunings_are_the_article_s() -> None:
    sft, lora = (words("ascend910b", "train", name) for name in ("sft", "lora"))
    assert sft[3:5] == ["-m", "paddle.distributed.launch"]
    own = pairs(sft)
    assert "../../../run_finetune.py" in sft
    assert (own["devices"], own["log_dir"]) == (CARDS, "./sft_bf16_llama_N1C8")
    assert own["max_steps"] == "100"
    assert own["sharding_parallel_config"] == "enable_stage1_tensor_fusion enable_stage1_overlap"
    expected = {
        "tensor_parallel_degree": "8", "pipeline_parallel_degree": "1", "learning_rate": "3e-06",
        "gradient_accumulation_steps": "64", "per_device_train_batch_size": "2", "bf16": "true",
        "fp16_opt_level": "O2", "pad_to_multiple_of": "4096", "zero_padding": "0",
        "fuse_attention_qkv": "true", "sequence_parallel": "1", "src_length": "1024",
    }  # fmt: skip
    assert expected.items() <= own.items()
    theirs = pairs(lora)
    assert theirs.keys() - own.keys() == {"lora", "lora_rank"}
    assert own.keys() - theirs.keys() == {"sharding", "sharding_parallel_config"}
    assert {key for key in own.keys() & theirs.keys() if own[key] != theirs[key]} == {
        "model_name_or_path", "output_dir", "log_dir",
    }  # fmt: skip
    assert (theirs["model_name_or_path"], theirs["lora_rank"]) == (
        "meta-llama/Llama-2-13b-chat", "32",
    )  # fmt: skip


def test_the_pretraining_has_the_path_that_exists() -> None:
    argv = words("ascend910b", "train", "pretrain")
    own = pairs(argv)
    assert "../../../run_pretrain.py" in argv
    assert "../run_pretrain.py" not in argv
    expected = {
        "devices": CARDS, "tensor_parallel_degree": "4", "sharding_parallel_degree": "2",
        "max_steps": "2000", "split": "949,50,1", "bf16": "", "unified_checkpoint": "",
        "tensor_parallel_config": "enable_mp_async_allreduce enable_mp_skip_c_identity",
        "min_learning_rate": "0.000001", "input_dir": "./pre-data", "do_train": "",
    }  # fmt: skip
    assert expected.items() <= own.items()


def test_the_variables_of_training() -> None:
    for recipe in ("sft", "lora", "pretrain"):
        assert exports("ascend910b", "train", recipe) == {
            "GLOG_v": "0", "FLAGS_npu_storage_format": "1", "FLAGS_use_stride_kernel": "0",
            "HCCL_OP_BASE_FFTS_MODE_ENABLE": "TRUE", "MULTI_STREAM_MEMORY_REUSE": "1",
            "HCCL_INTRA_PCIE_ENABLE": "0", "HCCL_INTRA_ROCE_ENABLE": "1",
            "FLAGS_allocator_strategy": "naive_best_fit", "ASCEND_RT_VISIBLE_DEVICES": CARDS,
            "FLAGS_NPU_MC2": "1", "MC2_Recompute": "1",
            "PYTHONPATH": "../../../../${PYTHONPATH:+:$PYTHONPATH}",
        }  # fmt: skip


def test_the_deployment() -> None:
    export, predict = (words("ascend910b", "deploy", name) for name in ("export", "predict"))
    assert export[3] == "predict/export_model.py"
    assert predict[3] == "predict/predictor.py"
    assert pairs(export)["output_path"] == pairs(predict)["model_name_or_path"]
    assert {"inference_model": "", "block_attn": "", "dtype": "float16"}.items() <= pairs(
        export
    ).items()
    assert pairs(predict)["mode"] == "static"
    assert exports("ascend910b", "deploy", "export")["FLAGS_enable_pir_api"] == "0"


@pytest.mark.parametrize("target", ["s60", "ascend910b"])
def test_no_script_kills_or_hides(target: str, tmp_path: Path) -> None:
    """Nobody else's processes are ended, the exit status is the program's, and bash reads it."""
    known, recipes = filled(Wish(target, "all"))
    assert len(recipes) == len(known.recipes)
    for one in recipes:
        shell = script(one, target)
        code = [line for line in shell.splitlines() if not line.startswith("#")]
        assert not any(word in " ".join(code) for word in ("kill", "grep", "&>", " &"))
        assert shell.rstrip().rpartition("exec python -u")[1]
        file = tmp_path / "run.sh"
        file.write_text(shell)
        subprocess.run(["bash", "-n", file], check=True)
        program = Path(sys.executable).with_name("shellcheck")
        ignored = "SC1090,SC2034"  # files that are known only on the machine
        subprocess.run([program, "-e", ignored, file], check=True)


def test_the_script_stands_still_without_a_checkout(tmp_path: Path) -> None:
    _, [one] = filled(Wish("s60", "model"))
    (tmp_path / "run.sh").write_text(script(one, "s60"))
    env = {name: value for name, value in os.environ.items() if name != "PADDLENLP"}
    result = subprocess.run(
        ["bash", tmp_path / "run.sh"], env=env, capture_output=True, text=True, check=False
    )
    assert (result.returncode != 0, "PADDLENLP" in result.stderr) == (True, True)


def test_values_are_quoted() -> None:
    _, [one] = filled(Wish("s60", "model", checkout=Path("/a b/$(touch x)")))
    assert "cd '/a b/$(touch x)'/llm/devices/gcu/llama || exit" in script(one, "s60")


def test_the_command(cli: Cli) -> None:
    result = cli("smoke", "--target", "npu", "--level", "train", "--dry-run", "--json",
                 "--cards", "8-15", "--max-steps", "7")  # fmt: skip
    value = json.loads(result.stdout)
    assert [one["name"] for one in value["recipes"]] == ["sft", "lora", "pretrain"]
    for one in value["recipes"]:
        assert one["arguments"]["max_steps"] == "7"
        assert one["environment"]["ASCEND_RT_VISIBLE_DEVICES"] == "8,9,10,11,12,13,14,15"
        assert all(row["why"] for row in one["differences"])
    assert "没有" in cli("smoke", "--target", "s60", "--level", "model", "--dry-run",
                       PADDOCK_LANG="zh").stdout  # fmt: skip


@pytest.mark.parametrize(
    ("flags", "what"),
    [
        (("--target", "npu", "--level", "train", "--cards", "0-3"), "tensor_parallel_degree 8"),
        (("--target", "npu", "--level", "deploy", "--cards", "0-1"), "2 cards"),
        (("--target", "npu", "--level", "train", "--cards", "0-"), "--cards"),
        (("--target", "npu", "--level", "train", "--max-steps", "0"), "--max-steps"),
        (("--target", "npu", "--level", "train", "--recipe", "sff"), "sft"),
        (("--target", "loopback", "--level", "train"), "loopback"),
        (("--target", "s60", "--level", "deploy"), "s60"),
        (("--target", "s60", "--level", "model", "--cards", "0-1"), "2 cards"),
        (("--target", "s60", "--level", "model", "--max-steps", "5"), "perplexity"),
        (("--target", "npu", "--level", "deploy", "--max-steps", "5"), "export"),
        (("--target", "s60", "--level", "model", "--checkout", "/no/such"), "/no/such"),
    ],
)
def test_bad_flags_are_refused(flags: tuple[str, ...], what: str) -> None:
    given = dict(zip(flags[::2], flags[1::2], strict=True))
    with pytest.raises(PaddockError) as caught:
        own = ("--target", "--level", "--recipe", "--cards", "--max-steps", "--checkout")
        target, *others = (given.get(name, "") for name in own)
        filled(wish(named(target), *others))
    assert (caught.value.status, what in str(caught.value)) == (2, True), caught.value


def test_a_checkout_that_lacks_the_recipe(here: Cli, tmp_path: Path) -> None:
    flags = ("smoke", "--target", "s60", "--level", "model", "--dry-run", "--checkout")
    told = here(*flags, str(tmp_path)).stdout
    assert f"# Missing in {tmp_path}" in told
    lost = json.loads(here(*flags, str(tmp_path), "--json").stdout)["recipes"][0]["missing"]
    assert lost and all(line in told for line in lost)
    _, [one] = filled(Wish("s60", "model", checkout=tmp_path))
    for name in (one.recipe.program, *one.recipe.needs):
        (one.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (one.folder / name).touch()
    assert "# Missing in" not in here(*flags, str(tmp_path)).stdout
    assert here(*flags, str(tmp_path / "absent")).returncode == 2


def test_a_window_is_of_a_text(here: Cli) -> None:
    result = here("smoke", "--target", "loopback", "--window", "64")
    assert result.returncode == 2 and "--text" in result.stderr


def test_a_log_is_judged_or_something_started(here: Cli, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("hello\n")
    result = here("smoke", "--diagnose", str(tmp_path / "log"), "--level", "train")
    assert (result.returncode, "--level" in result.stderr, result.stdout) == (2, True, "")


def test_cards() -> None:
    assert numbers("") == ()
    assert numbers("0-3, 6") == (0, 1, 2, 3, 6)
    for wrong in ("1,1", "3-1", "a", "0-2,2", ",", "-1", "٣"):
        with pytest.raises(PaddockError):
            numbers(wrong)


# A stand-in for `paddle.distributed.launch`: as many processes as cards, each with a log of its
# own; the first one's lines are shown. It is no proof of anything about hardware.
LAUNCH = """
import os, subprocess, sys, time
devices = sys.argv[sys.argv.index("--devices") + 1].split(",")
folder = sys.argv[sys.argv.index("--log_dir") + 1]
program = next(i for i, one in enumerate(sys.argv) if one.endswith("run_finetune.py"))
os.makedirs(folder, exist_ok=True)
ranks = []
for rank, _ in enumerate(devices):
    log = open(f"{folder}/workerlog.{rank}", "w")
    env = {**os.environ, "PADDLE_TRAINER_ID": str(rank)}
    ranks.append(subprocess.Popen([sys.executable, *sys.argv[program:]], stdout=log, stderr=log,
                                  env=env, start_new_session=True))
status = 0
while any(one.poll() is None for one in ranks) and not status:
    status = next((one.returncode for one in ranks if one.returncode), 0)
    time.sleep(0.02)
for one in ranks:
    one.poll() is None and one.terminate()
    status = status or one.wait()
sys.stdout.write(open(f"{folder}/workerlog.0").read())
sys.exit(status)
"""
TRAIN = "import os, sys, time\nrank = int(os.environ['PADDLE_TRAINER_ID'])\n"
SPEAK = TRAIN + "print(open(os.environ['LINES']).read() if rank == 0 else '', flush=True)\n"
BREAK = SPEAK + "time.sleep(0.3)\nif rank == 1: raise RuntimeError('error code:507015')\n"
HANG = SPEAK + "time.sleep(600)\n"


class Stand(msgspec.Struct):
    """A stack and a checkout with programs of our own in them."""

    known: Levels
    one: Filled
    place: preflight.Place
    records: Path


@pytest.fixture
def stand(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Stand:
    """The cards are ours: with each look there is more in use on them."""
    used = itertools.count(3400, 500)
    monkeypatch.setattr(
        cards, "look", lambda _: (Card("910B3", next(used), 65536, "OK", True),) * 8
    )
    monkeypatch.setattr(watch, "_FIRST", 0.1)
    known = levels("ascend910b")
    assert known
    checkout, root = tmp_path / "nlp", tmp_path / "root"
    package = tmp_path / "fake" / "paddle" / "distributed"
    package.mkdir(parents=True)
    (package / "launch.py").write_text(LAUNCH)
    (package.parent / "base.py").write_text(
        "class core:\n    get_all_op_names = staticmethod(lambda: ['softmax_with_cross_entropy'])\n"
    )
    here = checkout / known.recipes[0].folder
    (here / "data").mkdir(parents=True)
    (tmp_path / "lines").write_text("\n".join(training()))
    small_model(here / "meta-llama/Llama-2-13b")
    (here / "data/train.json").write_text('{"src": "a", "tgt": "b"}\n' * 3)
    recipe = msgspec.structs.replace(known.recipes[0], setup=(), cards=2)
    _, [one] = filled(Wish("ascend910b", "train", "sft", checkout=checkout))
    arguments = {**one.arguments, "tensor_parallel_degree": "2"}
    one = msgspec.structs.replace(one, recipe=recipe, cards=(0, 1), arguments=arguments)
    variables = {
        **os.environ, "PYTHONPATH": str(tmp_path / "fake"), "LINES": str(tmp_path / "lines"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }  # fmt: skip
    place = preflight.Place(Path(sys.executable), variables, tmp_path / "records", root)
    return Stand(known, one, place, tmp_path / "records")


def go(
    stand: Stand, program: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, dict[str, object]]:
    """Run the recipe with this program as its own; the nodes of the cards cannot be made here."""
    (stand.one.folder / stand.one.recipe.program).write_text(program)
    monkeypatch.setattr(preflight, "_cards", lambda *_: ())
    status = carry.carry_out(stand.known, [stand.one], stand.place, json=False)
    [file] = stand.records.glob("sft-*/verdict.json")
    return status, json.loads(file.read_text())


def test_a_run_of_two_ranks(
    stand: Stand, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, record = go(stand, SPEAK, monkeypatch)
    assert (status, record["exit_status"], record["outcome"]) == (0, 0, "passed")
    assert "all steps are done" in capsys.readouterr().out
    names = sorted(path.name for path in next(stand.records.iterdir()).iterdir())
    assert names == ["run.log", "run.sh", "verdict.json", "workerlog.0", "workerlog.1"]


def test_a_rank_that_fails_is_named_and_the_status_kept(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(stand.place.variables["LINES"]).write_text("\n".join(training()[:40]))
    status, record = go(stand, BREAK, monkeypatch)
    assert (status, record["exit_status"]) == (8, 1)
    causes = record["causes"]
    assert isinstance(causes, list)
    assert [(one["key"], one["rank"]) for one in causes] == [("rank-known", "1")]
    verdicts = record["verdicts"]
    assert isinstance(verdicts, list)
    assert verdicts[0]["figures"]["step"] == 37  # partial results are kept


def test_a_run_without_progress_is_ended_with_its_ranks(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = msgspec.structs.replace(stand.one.recipe, first_minutes=2 / 60, silent_minutes=2 / 60)
    stand.one = msgspec.structs.replace(stand.one, recipe=recipe)
    began = time.monotonic()
    status, record = go(stand, HANG, monkeypatch)
    assert time.monotonic() - began < 60
    assert (status, record["exit_status"]) == (8, None)
    causes = record["causes"]
    assert isinstance(causes, list)
    assert causes[0]["key"].startswith("hang")
    program = str(stand.one.folder)
    left = [path for path in Path("/proc").glob("[0-9]*/cwd") if path.exists()
            and str(path.readlink()) == program]  # fmt: skip
    assert left == []


@pytest.mark.slow
def test_progress_keeps_a_long_run_alive(tmp_path: Path) -> None:
    """The limit is on silence, not on the whole: eight steps of 0.3 s under a limit of 1.5 s."""
    lines = [line.replace("'", "") for line in training()[3:11]]
    program = "import time\n" + "".join(
        f"print('{one}', flush=True); time.sleep(.3)\n" for one in lines
    )
    seen: list[int | None] = []
    ended = live.run(
        [sys.executable, "-c", program], os.environ, tmp_path, tmp_path / "log",
        live.Limits(1.5, 1.5), lambda one: seen.append(one.step),
    )  # fmt: skip
    assert (ended.status, ended.seconds > 2) == (0, True)
    assert (tmp_path / "log").read_text().splitlines() == lines


def test_the_progress_is_told() -> None:
    known, seen = levels("s60"), Watcher(0)
    assert known
    data = text(evaluation()[:103])
    window = Window(data, 0, len(data), len(data), 0, len(data), exact=False)
    seen.look(window, {word for word in anchors() if word in data})
    said: list[str] = []
    carry._teller(known, said.append)(seen.seen)
    [line] = said
    left = round((2186 - 990) / 1.42)
    assert "step 990 of 2186" in line
    assert f"{left // 60} min {left % 60} s left" in line


def test_an_interrupted_run_leaves_no_process_and_its_log(tmp_path: Path) -> None:
    program = f"import time\nprint({NPU_BEGIN!r}, flush=True)\ntime.sleep(600)"
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    ended = live.run([sys.executable, "-c", program], os.environ, tmp_path, tmp_path / "log",
                     live.Limits(60, 60), lambda _: None)  # fmt: skip
    assert (ended.status, ended.stopped) == (None, True)
    assert (tmp_path / "log").read_text() == f"{NPU_BEGIN}\n"


def test_a_stopped_run_is_one_object_in_json(
    stand: Stand, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(argv: object, variables: object, folder: Path, log: Path, *_: object) -> live.Ended:
        log.write_bytes(text(training()[:20]))
        return live.Ended(None, 0.0, 3.0, stopped=True)

    monkeypatch.setattr(live, "run", stopped)
    (stand.one.folder / stand.one.recipe.program).write_text("")
    monkeypatch.setattr(preflight, "_cards", lambda *_: ())
    assert carry.carry_out(stand.known, [stand.one], stand.place, json=True) == 130
    [result] = json.loads(capsys.readouterr().out)["results"]
    [verdict] = result["verdicts"]
    assert (result["outcome"], verdict["figures"]["step"]) == ("failed", 17)
    with pytest.raises(KeyboardInterrupt):
        carry.carry_out(stand.known, [stand.one], stand.place, json=False)
    assert len(list(runs(Site("ascend910b")))) == 2  # what there was is kept


EXPORT = """
import pathlib, sys
folder = pathlib.Path(sys.argv[sys.argv.index("--output_path") + 1])
source = pathlib.Path(sys.argv[sys.argv.index("--model_name_or_path") + 1])
folder.mkdir(parents=True)
(folder / "model.json").write_text("{}")
(folder / "config.json").write_text((source / "config.json").read_text())
tensor = bytes(16) + bytes([4, 0, 0, 0, 0x08, 5, 0x10, 4]) + bytes(16)  # four float32
(folder / "model.pdiparams").write_bytes(tensor)
"""


def test_an_export_and_a_prediction(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = stand.one.checkout
    assert checkout
    source = checkout / "llm/devices/npu/llama/output/sft_bf16_llama_N1C8"
    (checkout / "llm/predict").mkdir()
    say = f"import time\nprint({NPU_BEGIN!r})\ntime.sleep(0.4)\n"  # while its memory is looked at
    (checkout / "llm/predict/export_model.py").write_text(say + EXPORT)
    answer = "\n".join(prediction())
    (checkout / "llm/predict/predictor.py").write_text(f"{say}print({answer!r})\n")
    _, recipes = filled(Wish("ascend910b", "deploy", checkout=checkout))
    here = [msgspec.structs.replace(one, recipe=msgspec.structs.replace(one.recipe, setup=()))
            for one in recipes]  # fmt: skip
    small_model(source)
    monkeypatch.setattr(preflight, "_cards", lambda *_: ())
    assert carry.carry_out(stand.known, here, stand.place, json=False) == 0
    (checkout / "llm/predict/export_model.py").write_text(say)  # ends well, and writes nothing
    subprocess.run(["rm", "-r", checkout / "llm/devices/npu/llama/inference"], check=True)
    assert carry.carry_out(stand.known, here[:1], stand.place, json=False) == 8


def test_what_is_missing_is_named_each(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(stand.one.folder / "data")
    recipe = msgspec.structs.replace(stand.one.recipe, setup=[["/no/set_env.sh"]])
    environment = {**stand.one.environment, "HCCL_INTRA_PCIE_ENABLE": "1",
                   "CUSTOM_DEVICE_BLACK_LIST": "softmax_with_cross_entropy, matmul"}  # fmt: skip
    one = msgspec.structs.replace(stand.one, recipe=recipe, environment=environment)
    monkeypatch.setattr(demand, "saved_bytes", lambda *_: 1 << 60)
    with socket.socket() as other:
        other.bind(("", 0))
        other.listen()
        port = other.getsockname()[1]
        environment["HCCL_IF_BASE_PORT"] = str(port)
        lines = "\n".join(preflight.look(one, stand.known, stand.place).missing)
    for part in ("run_finetune.py", "/data", "/no/set_env.sh", "card 0", "card 1",
                 "HCCL_INTRA_PCIE", f"port {port}", "free at", "names matmul"):  # fmt: skip
        assert part in lines, (part, lines)
    assert "softmax_with_cross_entropy" not in lines


def test_a_run_that_is_not_ready_does_not_begin(stand: Stand) -> None:
    with pytest.raises(PaddockError) as caught:
        carry.carry_out(stand.known, [stand.one], stand.place, json=True)
    assert caught.value.code == "launch-not-ready"
    assert not stand.records.exists()


def test_the_disk_that_checkpoints_take() -> None:
    _, found = filled(Wish("ascend910b", "train"))
    sft, lora, pretrain = (
        demand.saved_bytes(one, demand.demand(one, "ascend910b")) for one in found
    )
    billion = 13_015_864_320
    assert sft == 2 * billion  # 100 steps: saved once, at the end
    assert pretrain == 2 * billion + (2 + 12) * billion  # the optimizer's states as well
    assert 0.2 < lora / (1 << 30) < 0.3


def test_names_on_the_black_list_are_the_installed_paddle_s(stack: Path) -> None:
    """The legacy name of an operator is known, that of its kernel is not and would be ignored."""
    names = "softmax_with_cross_entropy,cross_entropy_with_softmax,matmul_v2,matmul_v3"
    lines = list(operators.unknown(names, stack / "bin" / "python", os.environ))
    assert [line.split()[2].rstrip(",") for line in lines] == [
        "cross_entropy_with_softmax", "matmul_v3",
    ]  # fmt: skip
    assert "nearest: matmul" in lines[1]
    [unread] = operators.unknown("matmul_v2", Path("/no/python"), os.environ)
    assert "/no/python" in unread
