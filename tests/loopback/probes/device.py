"""One behaviour of the plugin, by name; prints what happened as JSON."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
import paddle

MEGABYTE = 1 << 20

if sys.argv[1] != "types":  # then the plugin may be one of another place
    from paddle_custom_device import loopback


def view() -> Any:
    """A new transposed view: making it dense is one native task on the current stream."""
    return paddle.to_tensor(np.arange(4096.0).reshape(64, 64)).T


def stream() -> dict[str, Any]:
    """With slow streams: a task is queued at once, done later, and its result right."""
    x = view()
    queue = paddle.device.current_stream()
    queue.synchronize()
    start = time.monotonic()
    dense = x.contiguous()
    queued = time.monotonic() - start
    busy = not queue.query()
    queue.synchronize()
    return {
        "queued": queued, "done": time.monotonic() - start, "busy": busy, "idle": queue.query(),
        "right": np.array_equal(dense.numpy(), np.arange(4096.0).reshape(64, 64).T),
    }  # fmt: skip


def event() -> dict[str, Any]:
    """An event is done when the task before it is; another stream can wait for it."""
    x, y = view(), view()
    paddle.device.synchronize()
    done = paddle.device.Event()
    other = paddle.device.Stream()
    x.contiguous()
    done.record(paddle.device.current_stream())
    early = done.query()
    other.wait_event(done)
    with paddle.device.stream_guard(other):
        y.contiguous()
    other.synchronize()
    return {"early": early, "late": done.query()}


def memory() -> dict[str, Any]:
    """Fill the device; the error is Paddle's own, and afterwards all is well."""
    kept, failure = [], ""
    try:
        for _ in range(1000):
            kept.append(paddle.zeros([MEGABYTE // 4], dtype="float32"))
    except MemoryError as full:
        failure = str(full)
    count = len(kept)
    kept.clear()
    total = float(paddle.ones([MEGABYTE // 4], dtype="float32").sum())
    return {"count": count, "failure": failure, "sum": total, "stats": loopback.stats()}


def two() -> dict[str, Any]:
    """Work on device 1 happens there; a copy to device 0 has the same values."""
    before = loopback.stats()["devices"]
    paddle.set_device("loopback:1")
    x = paddle.to_tensor(np.arange(65536.0))
    y = x * 2 + 1
    used = [device["bytes_in_use"] for device in loopback.stats()["devices"]]
    copied = y._copy_to(paddle.CustomPlace("loopback", 0), True)
    after = [device["bytes_in_use"] for device in loopback.stats()["devices"]]
    return {
        "devices": paddle.device.get_available_custom_device(),
        "before": [device["bytes_in_use"] for device in before], "used": used, "after": after,
        "places": [str(t.place) for t in (x, y, copied)],
        "right": np.array_equal(copied.numpy(), np.arange(65536.0) * 2 + 1),
        "d2d": loopback.stats()["copies"]["d2d"],
    }  # fmt: skip


def allocation() -> dict[str, Any]:
    """Five sums, each with new memory: what each gave."""
    results = []
    for _ in range(5):
        try:
            results.append(float(paddle.ones([MEGABYTE // 4], dtype="float32").sum()))
        except OSError:
            results.append(-1.0)
    return {"results": results, "stats": loopback.stats()}


def hang() -> dict[str, Any]:
    print("started", flush=True)
    paddle.ones([4]).numpy()
    return {}


def counts() -> dict[str, Any]:
    """What one transposed copy there and back counts."""
    loopback.reset_stats()
    x = paddle.to_tensor(np.zeros((32, 8), dtype="float32"))
    x.T.contiguous().numpy()
    first = loopback.stats()
    loopback.reset_stats()
    return {"first": first, "second": loopback.stats(), "version": loopback.version()}


def check() -> dict[str, Any]:
    paddle.utils.run_check()
    return {"device": paddle.device.get_device()}


def product() -> dict[str, Any]:
    x = np.arange(12.0).reshape(3, 4)
    result = paddle.matmul(paddle.to_tensor(x), paddle.to_tensor(x.T))
    return {
        "place": str(result.place), "right": np.array_equal(result.numpy(), x @ x.T),
        "release": paddle.__version__,
    }  # fmt: skip


def types() -> dict[str, Any]:
    return {"types": paddle.device.get_all_custom_device_type()}


def fork() -> dict[str, Any]:
    """A forked child that ends in the ordinary way must not wait for threads it has not."""
    import os

    view().contiguous()
    child = os.fork()
    if child == 0:
        sys.exit(7)
    _, status = os.waitpid(child, 0)
    return {"child": os.waitstatus_to_exitcode(status)}


NAMES = (stream, event, memory, two, allocation, hang, counts, check, product, types, fork)
print(json.dumps({f.__name__: f for f in NAMES}[sys.argv[1]]()))
