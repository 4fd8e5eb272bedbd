"""Logs as the programs write them, with figures of our own: layouts real, values invented."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone

BEGIN = datetime(2026, 3, 9, 8, 0, 0, tzinfo=timezone.utc)
TOKENS, WORDS = 279682, 217642
STEPS = 2186


def header(seconds: float, colour: bool = False) -> str:
    """What PaddleNLP's logger writes before each line."""
    time = (BEGIN + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
    line = f"[{time}] [    INFO]"
    return f"\x1b[32m{line}\x1b[0m - " if colour else f"{line} - "


def glog(seconds: float, text: str) -> str:
    """A line of glog."""
    return (BEGIN + timedelta(seconds=seconds)).strftime("I%m%d %H:%M:%S.%f 4242 ") + text


GCU_BEGIN = glog(0, "init.cc:242] CustomDevice: gcu, visible devices count: 1")
GCU_END = [glog(1540, "runtime.cc:130] Backend GCU finalize device:0"),
           glog(1540, "runtime.cc:98] Backend GCU Finalize")]  # fmt: skip
NPU_BEGIN = glog(0, "init.cc:242] CustomDevice: npu, visible devices count: 8")


def evaluation(  # noqa: PLR0913, PLR0917 - each is a property of a log
    loss: float = 2.5483, begin: int = 0, colour: bool = False, speed: float = 1.42,
    device: bool = True, tokens: int = TOKENS, words: int = WORDS,
) -> list[str]:  # fmt: skip
    """A whole log of an evaluation whose average loss is this."""
    ratio = (tokens - 1) / (words - 1)
    told = f"'Original Tokens: {tokens}, Detokenized tokens: {words}'"
    lines = [GCU_BEGIN] if device else []
    lines += [told, told]
    for step in range(begin, STEPS, 10):
        share = loss * min((step + 1) / (STEPS - 5), 1)
        figures = f"step {step}, batch: {step}, loss: {share:f}, speed: {speed:.2f} step/s"
        lines.append(header(step / speed, colour) + figures)
    lines.append(
        f"{header(STEPS / speed, colour)} validation results on ./wiki.valid.tokens"
        f" | avg loss: {loss:.4E} | ppl: {math.exp(min(20, loss)):.4E}"
        f" | adjusted ppl: {math.exp(min(20, loss * ratio)):.4E} | token ratio: {ratio} |"
    )
    return lines + (GCU_END if device else [])


def step_line(
    step: int, loss: float | str, seconds: float, took: float = 20.0, colour: bool = False
) -> str:
    """A line of the trainer's progress."""
    return (
        f"{header(seconds, colour)}loss: {loss}, learning_rate: 3e-06, global_step: {step},"
        f" current_memory_allocated: 40.12, interval_runtime: {took},"
        f" interval_samples_per_second: {128 / took:.4f}, interval_steps_per_second:"
        f" {1 / took:.4f}, progress_or_epoch: {step / 100:.4f}"
    )


def training(  # noqa: PLR0913, PLR0917
    losses: Sequence[float | str] | None = None, total: int = 100, end: bool = True,
    device: bool = True, took: float = 20.0, colour: bool = False,
) -> list[str]:  # fmt: skip
    """The log of rank 0 of a training run."""
    if losses is None:
        losses = [round(2.4 - 0.01 * n + 0.05 * math.sin(7 * n), 6) for n in range(total)]
    lines = [NPU_BEGIN] if device else []
    lines += [f"{header(1)}***** Running training *****",
              f"{header(1)}  Total optimization steps = {total:,}"]  # fmt: skip
    lines += [step_line(n + 1, one, 30 + took * n, took, colour) for n, one in enumerate(losses)]
    if end:
        after = 40 + took * len(losses)
        lines.append(
            f"{header(after)}train_runtime: {after:.2f}, train_samples_per_second: 6.4,"
            f" train_steps_per_second: 0.05, train_loss: 1.9, progress_or_epoch: 1.0"
        )
    return lines


PASSES = (
    "remove_residual_in_fused_bias_residual_layernorm", "remove_residual_in_rms_norm",
    "remove_blha_get_max_len", "llama_fuse_attention_layer_begin",
    "llama_fuse_attention_layer_end", "llama_fuse_attention_layer",
    "llama_fuse_lm_head_with_slice", "llama_fuse_lm_head", "llama_fuse_get_padding_offset",
)  # fmt: skip


def prediction(
    answer: str = "An idiom about learning.", passes: Iterable[str] = PASSES
) -> list[str]:
    """The log of a static prediction."""
    lines = [f"--- Running IR pass [{name}]" for name in passes]
    lines += ["***********Source**********", "Say something", "***********Target**********", "",
              "***********Output**********", answer]  # fmt: skip
    return lines


def text(lines: Iterable[str]) -> bytes:
    """Lines as a file's bytes."""
    return "".join(f"{line}\n" for line in lines).encode()
