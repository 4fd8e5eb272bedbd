"""The smoke tests' result as lines for a person."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from provision.amounts import duration, size
from provision.columns import left
from provision.words import text

if TYPE_CHECKING:
    from checks.smoke.report import LevelReport
    from checks.smoke.text import TextReport

SHOWN = 3  # fallback kernels named, of often dozens
_OPERATIONS = {  # as people call them
    "rms_norm": "RMSNorm", "add_rms_norm": "add+RMSNorm", "rotary": "RoPE",
    "attention": "attention", "swiglu": "SwiGLU", "qkv": "QKV", "ffn": "FFN",
}  # fmt: skip
LOG_LINES = 12


def level_lines(report: LevelReport) -> list[str]:
    """One line for a level that passed, and what ran where; for a failed one what failed."""
    verdict = text("smoke.passed" if report.passed else "smoke.failed")
    said = f"{left(told(report), 52)} {left(verdict, 7)} {duration(report.seconds):>6}"
    head = f"  {report.level:<7} {said}"
    return [head, *(f"          {line}" for line in below(report))]


def told(report: LevelReport) -> str:
    """What a level shows, in one sentence."""
    done, count = sum(check.passed for check in report.checks), len(report.checks)
    where = report.device or text("smoke.nowhere")
    if not report.passed:
        return text("smoke.some", failed=count - done, count=count, device=where)
    return text(f"smoke.{report.level}", device=where, count=count, **_values(report))


def _values(report: LevelReport) -> dict[str, str]:
    """The figures in a level's sentence."""
    figures = report.figures
    if report.level == "ops":
        worst = max((v for k, v in figures.items() if k.endswith("_float32")), default=0.0)
        count = sum(bool(one.dtypes) for one in report.operators)
        return {"worst": f"{worst:.1e}", "operators": str(count)}
    if report.level == "model":
        names = {"found": "perplexity_device", "cpu": "perplexity_cpu"}
        return {name: f"{figures[figure]:.4f}" for name, figure in names.items()}
    if report.level == "train":
        return {end: f"{figures[f'loss_{end}']:.3f}" for end in ("first", "last")}
    if report.level == "deploy":
        return {"worst": f"{figures['largest_difference']:.1e}"}
    if report.level == "perf":
        first = 1000 * figures["first_token_seconds"]
        return {"first": f"{first:.0f}", "speed": f"{figures['tokens_per_second']:.3g}"}
    return {}


def below(report: LevelReport) -> list[str]:
    """The lines below a level's own: failures with the log's end, or what ran where."""
    lines = [f"x {c.name}: {c.error}" for c in report.checks if not c.passed]
    lines += [f"| {line}" for line in report.log[-LOG_LINES:]]
    lines += [c.detail for c in report.checks if c.name == "fits" and c.passed]
    lines += [text("smoke.skipped", name=name, reason=why) for name, why in report.skipped.items()]
    lines += _operators(report)
    if times := _latencies(report.figures):
        lines.append(text("smoke.ops.latency", times=times))
    own = ("_normal", "torch_npu")
    lines += [c.detail for c in report.checks if c.name.endswith(own) and c.passed]
    native, fallback = sum(report.native.values()), sum(report.fallback.values())
    if report.level == "perf":  # where fallbacks are not all counted
        return [*lines, *_speeds(report.figures)]
    if native or fallback or not report.counted:
        often = sorted(report.fallback, key=lambda name: -report.fallback[name])[:SHOWN]
        names = ", ".join(often) or "-"
        kernels = len(report.fallback)
        key = "smoke.kernels" if report.counted else "smoke.kernels-untold"
        lines.append(text(key, native=native, fallback=fallback, kernels=kernels, names=names))
    return lines


def _operators(report: LevelReport) -> list[str]:
    """Which kernels ran for the fused operators, and what is not there."""
    right = [one for one in report.operators if one.dtypes]
    told = {
        "own": [one.name for one in right if not one.on_cpu],
        "cpu": [one.name for one in right if one.on_cpu],
        "part": [f"{one.name} ({next(iter(one.partly.values()))})" for one in right if one.partly],
        "absent": [f"{one.name} ({_OPERATIONS.get(one.operation, one.operation)})"
                   for one in report.operators if one.absent and not one.dtypes],
    }  # fmt: skip
    return [text(f"smoke.ops.{key}", names=", ".join(dict.fromkeys(names)), device=report.device)
            for key, names in told.items() if names]  # fmt: skip


def _latencies(figures: Mapping[str, float]) -> str:
    """Each operation's time beside that of its plain form, such as `RoPE 0.12 (0.5)`."""
    return ", ".join(
        f"{said} {figures[f'{name}_ms']:.3g} ({figures[f'{name}_plain_ms']:.3g})"
        for name, said in _OPERATIONS.items() if f"{name}_plain_ms" in figures
    )  # fmt: skip


def _speeds(figures: Mapping[str, float]) -> list[str]:
    """What level `perf` measured beside its two speeds; nothing where it did not come so far."""
    shares = {name: figures.get(f"{name}_spread") for name in ("first_token", "token")}
    peak = figures.get("peak_bytes", math.nan)
    if not math.isfinite(peak) or None in shares.values():
        return []
    load, memory = duration(figures["load_seconds"]), size(int(peak))
    spreads = {name: f"{share:.0%}" for name, share in shares.items()}
    return [text("smoke.perf.more", load=load, memory=memory, **spreads)]


def text_lines(report: TextReport) -> list[str]:
    """A text's tokens, loss and perplexity."""
    values = {
        "tokens": report.tokens, "window": report.window, "loss": f"{report.loss:.6f}",
        "perplexity": f"{report.perplexity:.4f}", "device": report.device, "file": report.file,
        "seconds": duration(report.seconds),
    }  # fmt: skip
    first = [report.stand_in] if report.stand_in else []
    return [*first, text("smoke.text.file", **values), text("smoke.text.result", **values)]
