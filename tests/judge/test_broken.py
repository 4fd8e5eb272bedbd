"""Broken logs in the layouts of the programs: each has to be answered with its own cause."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.judge.conftest import Judge, keys
from tests.judge.logs import NPU_BEGIN, evaluation, header, step_line, text, training

TRACE = ["Traceback (most recent call last):",
         '  File "llm/run_finetune.py", line 700, in <module>', "    main()"]  # fmt: skip
HALF = training()[:43]  # 40 steps, the last at 810 seconds


def at(seconds: float, line: str) -> str:
    return header(seconds) + line


def waits(seconds: float) -> list[str]:
    """What a rank says that waited for another in vain."""
    time = header(seconds)[1:20].replace(" ", "-")
    return [f"EI0002: [PID: 4242] {time}.123.456 The wait execution of the Notify register times"
            " out. Reason: The Notify register has not received the Notify record."]  # fmt: skip


PADDLE_OOM = [
    *HALF, *TRACE,
    "SystemError: (Fatal) Operator flash_attention_npu raises an exception.",
    "ResourceExhaustedError: ",
    "",
    "Out of memory error on NPU 3. Cannot allocate 3.906250GB memory on NPU 3, 60.120000GB memory"
    " has been allocated and available memory is only 1.250000GB.",
    "  [Hint: Please decrease the batch size of your model.] (at /paddle/stat_allocator.h:80)",
    "  [operator < flash_attention_npu > error]",
]  # fmt: skip


def test_memory_as_paddle_says_it(judged: Judge) -> None:
    found = judged(PADDLE_OOM)
    [cause] = [one for one in found.causes if one.key == "memory"]
    assert found.outcome == "failed"
    assert dict(cause.values) | {
        "size": "3.906250GB", "device": "3", "free": "1.250000GB", "allocated": "60.120000GB",
        "operator": "flash_attention_npu", "step": 40,
    } == cause.values  # fmt: skip
    assert "3.906250GB" in cause.what


def test_memory_as_torch_npu_says_it(judged: Judge) -> None:
    line = ("RuntimeError: NPU out of memory. Tried to allocate 260.00 MiB (NPU 5; 60.97 GiB total"
            " capacity; 58.24 GiB already allocated; 58.24 GiB current active; 149.57 MiB free;"
            " 59.28 GiB reserved in total by PyTorch)")  # fmt: skip
    found = judged(workerlog_0=HALF, workerlog_5=[*TRACE, line])
    [cause] = [one for one in found.causes if one.key == "memory"]
    assert dict(cause.values) | {
        "size": "260.00 MiB", "device": "5", "total": "60.97 GiB", "free": "149.57 MiB",
        "rank": "5",
    } == cause.values  # fmt: skip
    assert "K139" in found.reading.finds


def test_memory_of_the_machine_is_not_a_card_s(judged: Judge) -> None:
    found = judged([*HALF, "OSError: [Errno 12] Cannot allocate memory"])
    assert [one for one in found.causes if one.key == "memory"] == []
    assert "K007" in found.reading.finds


def test_nan_by_the_loss(judged: Judge) -> None:
    losses: list[float | str] = [2.4, 2.3, 2.2, "nan", "nan", "nan", "nan", "nan", "nan"]
    found = judged(training(losses, total=9))
    [cause] = [one for one in found.causes if one.key == "nan"]
    assert (found.outcome, cause.values["step"]) == ("failed", 4)


def test_nan_by_the_check_for_it(judged: Judge) -> None:
    line = ("[PRECISION] [ERROR] in [device=npu:2, op=matmul_v2,"
            " tensor=llama.layers.17.mlp.down_proj.tmp_0, dtype=bf16], numel=4096, num_nan=12,"
            " num_inf=0, num_zero=3, max=1.0e+00, min=-1.0e+00, mean=nan")  # fmt: skip
    found = judged(workerlog_0=HALF, workerlog_2=[NPU_BEGIN, step_line(1, 2.4, 30), line, *TRACE])
    [cause] = [one for one in found.causes if one.key == "nan"]
    assert (
        dict(cause.values) | {"operator": "matmul_v2", "layer": "17", "rank": "2"} == cause.values
    )


def test_slow(judged: Judge) -> None:
    found = judged(evaluation(speed=0.3))
    assert keys(found, "warning") == {"slow"}


def test_a_hang_without_a_word(judged: Judge) -> None:
    later = [at(810 + 60 * n, "heartbeat: waiting for data") for n in range(1, 40)]
    found = judged([*HALF, *later])
    [cause] = found.causes
    assert (cause.key, cause.values["step"], cause.values["time"]) == ("hang", 40, "39 min 0 s")


def test_a_rank_that_hangs_is_named(judged: Judge) -> None:
    """The others wait for it and say so; it says nothing."""
    found = judged(
        workerlog_0=[*HALF, *waits(2700), *TRACE],
        workerlog_1=[NPU_BEGIN, at(812, "forward"), *waits(2701)],
        workerlog_2=[NPU_BEGIN, at(815, "forward")],
        workerlog_3=[NPU_BEGIN, at(812, "forward"), *waits(2702)],
    )
    assert [(one.key, one.rank) for one in found.causes] == [("hang-ranks", "2")]


def test_the_rank_that_failed_first_is_named(judged: Judge) -> None:
    """Not the first by number, and not those that only lost it."""
    found = judged(
        workerlog_0=[*HALF, at(830, "x"), *waits(1200)],
        workerlog_1=[NPU_BEGIN, at(840, "x"), *waits(1201)],
        workerlog_2=[NPU_BEGIN, at(811, "x"), *TRACE, "RuntimeError: ACL stream synchronize failed,"
                     " error code:507015"],
        workerlog_3=[NPU_BEGIN, at(820, "x"), *TRACE, "RuntimeError: ACL stream synchronize failed,"
                     " error code:507014"],
    )  # fmt: skip
    [cause] = found.causes
    assert (cause.key, cause.rank) == ("rank-known", "2")
    assert "K141" in cause.what


def test_where_no_time_tells_the_first_none_is_claimed(judged: Judge) -> None:
    found = judged(
        workerlog_0=[*TRACE, "RuntimeError: error code:507015"],
        workerlog_1=[*TRACE, "RuntimeError: error code:507014"],
    )
    [cause] = found.causes
    assert (cause.key, cause.values["ranks"], cause.rank) == ("ranks", "0, 1", "")


def test_where_all_only_waited_none_is_blamed(judged: Judge) -> None:
    found = judged(workerlog_0=[*HALF, *waits(1300)], workerlog_1=[NPU_BEGIN, *waits(1200)])
    assert [(one.key, one.rank) for one in found.causes] == [("hang", ""), ("rank-later", "1")]


def test_an_error_that_nobody_knows_is_shown_with_its_rank(judged: Judge) -> None:
    found = judged(
        workerlog_0=[*HALF, *waits(1200)],
        workerlog_1=[NPU_BEGIN, at(811, "x"), *TRACE, "ValueError: the moon is full"],
    )
    [cause] = found.causes
    assert (cause.key, cause.rank, "the moon is full" in cause.what) == ("rank", "1", True)


def test_a_card_that_died(judged: Judge) -> None:
    found = judged([*HALF, at(815, "device(3) is not working, lost heartbeat"), *TRACE])
    assert ("K173" in found.reading.finds, found.outcome) == (True, "failed")


def test_the_operator_package_is_missing(judged: Judge) -> None:
    found = judged([NPU_BEGIN, at(9, "  Total optimization steps = 100"),
                    "EZ9903: Ascend910B3 not implemented"])  # fmt: skip
    assert found.outcome == "failed"
    assert "K135" in found.reading.finds


def test_an_error_while_the_model_is_saved(judged: Judge) -> None:
    """All steps are done; what they came to is lost."""
    lost = [*TRACE, "OSError: [Errno 28] No space left on device: './output/model_state.pdparams'"]
    found = judged([*training(), *lost])
    assert (found.outcome, set(found.reading.finds)) == ("failed", {"K001"})
    found = judged(workerlog_0=training(), workerlog_1=[NPU_BEGIN, *lost])
    assert (found.outcome, [one.rank for one in found.causes]) == ("failed", ["1"])


def test_a_line_that_only_looks_like_a_failure_does_not_undo_a_result(judged: Judge) -> None:
    found = judged(["npu-smi: command not found", *evaluation()])
    assert (found.outcome, set(found.reading.finds)) == ("passed", {"K168"})


def test_an_error_of_an_earlier_run_in_the_same_log(judged: Judge) -> None:
    found = judged([*training()[:20], *TRACE, "ValueError: x", *training()])
    assert (found.outcome, keys(found, "warning")) == ("passed", {"restarted"})


def test_killed_by_the_kernel(judged: Judge) -> None:
    found = judged([*HALF, "run.sh: line 3:   991 Killed"])
    assert (found.outcome, set(found.reading.finds)) == ("failed", {"K154"})


def test_a_folder_of_a_run(cli: Cli, tmp_path: Path) -> None:
    """The ranks lie in the launcher's folder, beside files that are no logs."""
    folder = tmp_path / "sft_bf16_llama_N1C8"
    folder.mkdir()
    (folder / "workerlog.0").write_bytes(text([*HALF, *waits(1200)]))
    (folder / "workerlog.10").write_bytes(text(PADDLE_OOM[-7:]))
    (folder / "workerlog.2").write_bytes(text([NPU_BEGIN, *waits(1201)]))
    (folder / "of run1²2.log").write_bytes(b"")  # a digit, but of no number
    (folder / "model.pdiparams").write_bytes(b"Traceback (most recent call last):\n" * 10)
    result = cli("smoke", "--diagnose", str(folder), "--json")
    value = json.loads(result.stdout)
    assert (result.returncode, value["outcome"]) == (8, "failed")
    assert [Path(one["name"]).name for one in value["explain"]["logs"]] == [
        "of run1²2.log", "workerlog.0", "workerlog.2", "workerlog.10",
    ]  # fmt: skip
    assert [(one["key"], one["rank"]) for one in value["causes"]] == [
        ("memory", "10"), ("rank-known", "10"),
    ]  # fmt: skip
    assert value["causes"][0]["values"]["step"] == 40  # of rank 0: this one prints none
    assert [(one["id"], one["follows"]) for one in value["explain"]["findings"]] == [
        ("K139", ""), ("K201", "K139"),
    ]  # fmt: skip


@pytest.mark.parametrize("cut", [0, 1, 17, 100, 5000])
def test_a_log_cut_anywhere_is_never_passed(judged: Judge, cut: int) -> None:
    data = text(evaluation())
    assert judged(data[: len(data) - 200 - cut]).outcome == "unknown"
