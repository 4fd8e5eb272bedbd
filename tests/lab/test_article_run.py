"""The articles' programs, started by the tool in a box: what they do there, and what becomes of it.

The programs are ours and compute no model; the box's tools show the memory that they say they take.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.judge.logs import evaluation, text
from tests.judge.small_model import small_model
from tests.lab.boxes.box import Box, run_in
from tests.lab.boxes.box import start as start_box

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
NLP = "/srv/nlp"
HERE = f"{NLP}/llm/devices/npu/llama"
LOGS = f"{HERE}/sft_bf16_llama_N1C8"
# A copy of the tool in which a program may be silent for six seconds only.
OWN = "/srv/own"
ENV = "/opt/paddle/lib/python3.10/site-packages/paddle"
PROGRAMS = "tests/launch/programs"
SETUP = f"""
set -e
cp -r . {OWN}
sed -i 's/^silent_minutes = .*/silent_minutes = 0.1/' {OWN}/images/*/levels.toml
mkdir -p ~/.local/share/paddock/envs {HERE}/data {ENV}/distributed
ln -s /opt/paddle ~/.local/share/paddock/envs/ascend910b
touch {ENV}/distributed/__init__.py
cp {PROGRAMS}/launch.py {ENV}/distributed/launch.py
cp {PROGRAMS}/run_finetune.py {NLP}/llm/run_finetune.py
for n in 1 2 3 4; do echo '{{"src": "question", "tgt": "answer"}}'; done >{HERE}/data/train.json
cp {HERE}/data/train.json {HERE}/data/dev.json
"""
SFT = f"./paddock smoke --target npu --level train --recipe sft --checkout {NLP}"


@pytest.fixture(scope="module")
def box(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A healthy box with a checkout and a stack of ours."""
    model = small_model(tmp_path_factory.mktemp("model") / "Llama-2-13b")
    with start_box("ascend910b", checkout=clone) as box:
        run_in(box, f"mkdir -p {HERE}/meta-llama")
        argv = ["docker", "cp", str(model), f"{box.name}:{HERE}/meta-llama/"]
        subprocess.run(argv, check=True, capture_output=True)
        done = box.shell(SETUP)
        assert done.returncode == 0, done.stdout + done.stderr
        yield box


def run(
    box: Box, steps: int = 14, before: str = "", **variables: str
) -> tuple[int, dict[str, Any]]:
    """A run's exit status, and the verdict that it kept; `before` stands before the command."""
    given = " ".join(f"{name}={value}" for name, value in variables.items())
    script = f"rm -rf ~/.local/state/paddock {LOGS} {HERE}/output; cd {OWN}; {given} "
    done = box.shell(f"{script}{before} {SFT} --max-steps {steps}", timeout=120)
    kept = box.shell("cat ~/.local/state/paddock/ascend910b/levels/sft-*/verdict.json")
    assert kept.returncode == 0, done.stdout + done.stderr
    return done.returncode, json.loads(kept.stdout)


def reasons(verdict: dict[str, Any]) -> dict[str, str]:
    """The state of each reason."""
    return {one["key"]: one["state"] for one in verdict["verdicts"][0]["reasons"]}


def nothing_left(box: Box) -> bool:
    """Whether all ranks have ended, and freed their cards; waits for that up to a while."""
    look = (
        'grep -qs run_finetun[e] /proc/[0-9]*/cmdline || grep -q "python" /var/lib/lab/state.json'
    )
    wait = f"for n in $(seq 100); do {look} || exit 0; sleep 0.1; done; exit 1"
    return box.shell(wait).returncode == 0


def test_a_run_of_eight_ranks(box: Box) -> None:
    status, verdict = run(box, steps=24)
    assert (status, verdict["outcome"], verdict["exit_status"]) == (0, "passed", 0), verdict
    assert reasons(verdict)["memory-used"] == "holds"
    figures = verdict["verdicts"][0]["figures"]
    assert figures["memory_peak_bytes"] == (3407 + 21 * 1024) << 20
    assert figures["memory_before_bytes"] == 3407 << 20
    assert set(verdict["cards"]["during_mib"]) == set("01234567")
    assert nothing_left(box)

    listed = box.shell("cd /srv/own; ./paddock history --target npu --json")
    [kept] = json.loads(listed.stdout)["runs"]
    [level] = kept["smoke"]["levels"]
    assert (level["level"], level["passed"], level["device"]) == ("train", True, "npu")
    assert len(level["series"]["sft.loss"]) == 24
    assert level["figures"]["sft.loss"] < 0.1 < level["figures"]["sft.first_loss"]
    speed = level["figures"]["sft.steps_per_second"] * 2 * 64 * 4096
    assert level["figures"]["sft.tokens_per_second"] == pytest.approx(speed)
    page = box.shell("cd /srv/own; ./paddock report --target npu --html -")
    assert page.returncode == 0, page.stderr
    assert "train.sft.loss" in page.stdout


def test_a_rank_that_dies(box: Box) -> None:
    status, verdict = run(box, LAB_FAULT="die:5:9")
    assert (status, verdict["outcome"], verdict["exit_status"]) == (8, "failed", 1)
    assert [(one["key"], one["rank"]) for one in verdict["causes"]] == [("rank-known", "5")]
    assert verdict["verdicts"][0]["figures"]["step"] == 8  # partial results are kept
    assert nothing_left(box)


def test_a_rank_that_hangs(box: Box) -> None:
    """It is ended by its progress, and so are the others, which wait for it."""
    status, verdict = run(box, LAB_FAULT="hang:2:6")
    assert (status, verdict["exit_status"]) == (8, None)
    assert verdict["causes"][0]["key"].startswith("hang")
    assert verdict["verdicts"][0]["figures"]["step"] == 5
    assert nothing_left(box)


def test_memory_that_runs_out(box: Box) -> None:
    status, verdict = run(box, LAB_FAULT="memory:3:7")
    assert status == 8
    cause = verdict["causes"][0]
    assert (cause["key"], cause["rank"], cause["values"]["device"]) == ("memory", "3", "3")


def test_a_card_that_dies_half_way(box: Box) -> None:
    try:
        status, verdict = run(box, LAB_FAULT="card:6:5", steps=40)
    finally:
        box.run("sed -i 's/Alarm/OK/' /var/lib/lab/state.json")
    assert (status, reasons(verdict)["card-ill"]) == (8, "failed")
    cause = verdict["causes"][0]
    assert (cause["key"], cause["values"]["card"], cause["values"]["now"]) == (
        "card-ill", 6, "Alarm",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_run_that_is_stopped(box: Box, name: str) -> None:
    """What there was is judged and kept, and nothing runs on."""
    stop = f"python3 {PROGRAMS}/stop.py {name} {LOGS}/workerlog.0 'global_step: 4,'"
    status, verdict = run(box, steps=400, before=stop)
    assert (status, verdict["stopped"], reasons(verdict)["stopped"]) == (130, True, "failed")
    assert verdict["verdicts"][0]["figures"]["step"] >= 4
    assert verdict["causes"] == []
    assert nothing_left(box)
    listed = box.shell("./paddock history --target npu --json")
    assert not json.loads(listed.stdout)["runs"][0]["smoke"]["passed"]


def test_a_tool_that_is_killed_leaves_no_rank(box: Box) -> None:
    stop = f"python3 {PROGRAMS}/stop.py SIGKILL {LOGS}/workerlog.0 'global_step: 4,'"
    script = f"rm -rf ~/.local/state/paddock {LOGS} {HERE}/output; cd {OWN}; {stop} {SFT}"
    box.shell(f"{script} --max-steps 400", timeout=120)
    assert nothing_left(box)
    told = box.shell("./paddock smoke --diagnose ~/.local/state/paddock/ascend910b/levels/sft-*/")
    assert "steps-cut" in told.stdout or "step" in told.stdout  # its log is there


def test_what_is_wrong_before_is_told_and_nothing_starts(box: Box) -> None:
    """Two broken lines, a card in use by another, a model that is cut."""
    broken = f"{HERE}/data/train.json"
    box.shell(f"cp {broken} /tmp/whole; printf '{{\"src\": 1}}\\nnothing\\n' >>{broken}")
    model = f"{HERE}/meta-llama/Llama-2-13b/model.safetensors"
    box.shell(f"cp {model} /tmp/model; truncate -s -5 {model}")
    done = box.shell(f"rm -rf ~/.local/state/paddock; {SFT}")
    box.shell(f"cp /tmp/whole {broken}; cp /tmp/model {model}")
    assert done.returncode == 4, done.stdout + done.stderr
    for part in ("line 5", "line 6", "model.safetensors"):
        assert part in done.stderr + done.stdout
    assert box.shell("ls ~/.local/state/paddock/ascend910b/levels").returncode != 0


GCU = f"{NLP}/llm/devices/gcu/llama"
EVAL = f"{NLP}/slm/examples/benchmark/wiki_lambada"
READY = f"""
set -e
mkdir -p ~/.local/share/paddock/envs {GCU}/wikitext-103 {EVAL} {ENV}/base
touch {GCU}/wikitext-103/wiki.valid.tokens
ln -s /opt/paddle ~/.local/share/paddock/envs/s60
echo 'get_all_op_names = lambda: ["softmax_with_cross_entropy"]' >{ENV}/base/core.py
cp {PROGRAMS}/eval.py {EVAL}/eval.py
"""
PPL = f"./paddock smoke --target s60 --level model --checkout {NLP} --json"


@pytest.fixture(scope="module")
def gcu(clone: Path) -> Iterator[Box]:
    """A healthy box with S60 cards, the same things in it, and the lines of an evaluation."""
    with start_box("s60", checkout=clone) as box:
        done = box.shell(READY)
        assert done.returncode == 0, done.stdout + done.stderr
        run_in(box, f"cat >{EVAL}/lines <<'END'\n{text(evaluation()).decode()}END\n")
        yield box


def answer(box: Box, command: str) -> dict[str, Any]:
    """What the tool prints as JSON."""
    value = json.loads(box.shell(command, timeout=120).stdout)
    assert isinstance(value, dict)
    return value


def test_the_perplexity_on_a_chosen_card(gcu: Box) -> None:
    value = answer(gcu, f"{PPL} --cards 2")
    [result] = value["results"]
    assert result["outcome"] == "passed", result
    assert reasons(result)["memory-used"] == "holds"
    figures = result["verdicts"][0]["figures"]
    assert (figures["ppl"], figures["memory_peak_bytes"]) == (12.785, (1129 + 27000) << 20)
    [kept] = answer(gcu, "./paddock history --target s60 --json")["runs"]
    [level] = kept["smoke"]["levels"]
    assert (level["level"], level["device"]) == ("model", "gcu")
    assert level["figures"]["perplexity.perplexity"] == 12.785


def test_where_no_memory_is_in_use_nothing_is_proved(gcu: Box) -> None:
    """The log is that of a good run; the card was never used."""
    value = answer(gcu, f"LAB_TAKES=0 {PPL}")
    [result] = value["results"]
    assert (result["outcome"], reasons(result)["memory-none"]) == ("unknown", "unknown")
    *_, kept = answer(gcu, "./paddock history --target s60 --json")["runs"]
    assert (kept["smoke"]["passed"], kept["smoke"]["levels"][0]["device"]) == (False, "")


def test_a_card_that_others_use_has_no_room(gcu: Box) -> None:
    state = "/var/lib/lab/state.json"
    gcu.run(f"""sed -i 's/"id": 3,/"id": 3, "used": 20000,/' {state}""")
    done = gcu.shell(f"{PPL} --cards 3")
    assert done.returncode == 4
    assert "20.6 GiB are in use" in done.stdout
