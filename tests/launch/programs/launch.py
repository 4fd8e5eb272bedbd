"""Stands for `paddle.distributed.launch`: a process for each device, each in a session of its own.

Each writes `workerlog.N`; those of the first are shown too. When one fails, the others are ended.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path


def main() -> int:
    words = sys.argv[1:]
    given = dict(zip(words[:4:2], words[1:4:2]))  # noqa: B905 - Python 3.9 has no strict=
    devices, folder = given["--devices"].split(","), Path(given["--log_dir"])
    folder.mkdir(parents=True, exist_ok=True)
    ranks = []
    for rank in range(len(devices)):
        variables = {"PADDLE_TRAINER_ID": str(rank), "PADDLE_TRAINERS_NUM": str(len(devices))}
        with (folder / f"workerlog.{rank}").open("w") as log:
            ranks.append(subprocess.Popen(
                [sys.executable, "-u", *words[4:]], stdout=log, stderr=log,
                env={**os.environ, **variables}, start_new_session=True,
            ))  # fmt: skip
    shown = (folder / "workerlog.0").open()
    while True:
        codes = [one.poll() for one in ranks]
        sys.stdout.write(shown.read())
        sys.stdout.flush()
        if any(codes) or None not in codes:
            break
        time.sleep(0.05)
    for one in ranks:
        if one.poll() is None:
            one.terminate()
        one.wait()
    return next((code for code in codes if code), 0) & 0xFF


if __name__ == "__main__":
    sys.exit(main())
