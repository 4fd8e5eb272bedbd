"""Starts a command, and sends it a signal once a log has a line: `stop.py SIGNAL LOG WORD ARGV`."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

number, log, word, argv = signal.Signals[sys.argv[1]], Path(sys.argv[2]), sys.argv[3], sys.argv[4:]
log.unlink(missing_ok=True)
with subprocess.Popen(argv) as process:
    while process.poll() is None and not (log.exists() and word in log.read_text()):
        time.sleep(0.05)
    process.send_signal(number)
    sys.exit(process.wait() & 0xFF)
