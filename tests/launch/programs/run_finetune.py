"""Trains a line through points, one process of several, and prints what PaddleNLP's trainer prints.

It takes memory of its card as the box's `npu-smi` shows it, and waits at each step for the other
ranks. LAB_FAULT is `KIND:RANK:STEP`: there the rank dies, hangs, runs out of memory, or its card
falls ill and it hangs. LAB_PACE are the seconds of a step.
"""

from __future__ import annotations

import argparse
import atexit
import fcntl
import json
import os
import signal
import sys
import time
from pathlib import Path

STATE = Path("/var/lib/lab/state.json")
RANK, RANKS = int(os.environ["PADDLE_TRAINER_ID"]), int(os.environ["PADDLE_TRAINERS_NUM"])
CARD = int(os.environ["ASCEND_RT_VISIBLE_DEVICES"].split(",")[RANK])
KIND, WHO, WHEN = (os.environ.get("LAB_FAULT") or "none:-1:-1").split(":")
PACE = float(os.environ.get("LAB_PACE", "0.15"))
GIB = 1024


def change(**values: object) -> None:
    """Change what the box's tool shows of this rank's card; readers never see half of it."""
    with Path("/var/lib/lab/lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = json.loads(STATE.read_text())
        state["cards"][CARD].update(values)
        new = STATE.with_suffix(".new")
        new.write_text(json.dumps(state))
        new.replace(STATE)


def take(mib: int) -> None:
    one = {"pid": os.getpid(), "name": "python", "memory": mib}
    change(hbm=[3400 + CARD + mib, 65536], processes=[one] if mib else [])


def say(line: str) -> None:
    now = time.time()
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
    print(f"[{stamp},{int(now * 1000) % 1000:03}] [    INFO] - {line}", flush=True)


def meet(folder: Path, step: int) -> None:
    """Wait for all ranks to come to a step."""
    (folder / f"{RANK}").write_text(str(step))
    while any(reached(folder / f"{other}") < step for other in range(RANKS)):
        time.sleep(0.02)


def reached(file: Path) -> int:
    return int(file.read_text() or -1) if file.exists() else -1


def fault(step: int) -> None:
    if (RANK, step) != (int(WHO), int(WHEN)):
        return
    if KIND == "die":
        raise RuntimeError("ACL stream synchronize failed, error code:507015")
    if KIND == "memory":
        raise MemoryError(
            f"ResourceExhaustedError: Out of memory error on NPU {CARD}. Cannot allocate 3.906250GB"
            f" memory on NPU {CARD}, 60.120000GB memory has been allocated and available memory is"
            " only 1.250000GB."
        )
    if KIND == "card":
        change(health="Alarm")
    time.sleep(3600)


def end(number: int, _: object) -> None:
    """Free the card undisturbed: a driver would do it for a process that is no more."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(143)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--max_steps", type=int)
    parser.add_argument("--output_dir", type=Path)
    given, _ = parser.parse_known_args()
    signal.signal(signal.SIGTERM, end)
    atexit.register(take, 0)
    take(21 * GIB)
    print(f"I0101 00:00:00.000000 {os.getpid()} init.cc:242] CustomDevice: npu, visible devices"
          f" count: {RANKS}", flush=True)  # fmt: skip
    folder = given.output_dir / "meet"
    folder.mkdir(parents=True, exist_ok=True)
    meet(folder, 0)
    if RANK == 0:
        say("***** Running training *****")
        say(f"  Total optimization steps = {given.max_steps:,}")
    slope, points = 0.0, [(x / 10, 3 * x / 10) for x in range(-10, 11)]
    began = time.time()
    for step in range(1, given.max_steps + 1):
        start = time.time()
        fault(step)
        time.sleep(PACE)
        loss = sum((slope * x - y) ** 2 for x, y in points) / len(points)
        slope -= 0.2 * sum(2 * x * (slope * x - y) for x, y in points) / len(points)
        meet(folder, step)
        took = time.time() - start
        if RANK == 0:
            say(f"loss: {loss:.8f}, learning_rate: 3e-06, global_step: {step}, interval_runtime:"
                f" {took:.4f}, interval_samples_per_second: {128 / took:.4f},"
                f" interval_steps_per_second: {1 / took:.4f}, progress_or_epoch:"
                f" {step / given.max_steps:.4f}")  # fmt: skip
    if RANK == 0:
        took = time.time() - began
        say(f"train_runtime: {took:.4f}, train_samples_per_second: {128 / took:.4f},"
            f" train_steps_per_second: {given.max_steps / took:.4f}, train_loss: {loss:.6f},"
            " progress_or_epoch: 1.0")  # fmt: skip


if __name__ == "__main__":
    main()
