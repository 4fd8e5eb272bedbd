"""Running probes: silence, death, half-written results, and what is kept of the log."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from checks.smoke.process import KEPT, Ended, Log, events_of, run_probe

WRITE = """
import os, subprocess, sys, time
def write(text):
    with open(sys.argv[1], "a") as file:
        file.write(text)
"""


def run(folder: Path, body: str, limit: float = 30.0) -> Ended:
    out = folder / "result.jsonl"
    return run_probe([sys.executable, "-c", WRITE + body, str(out)], out, limit, os.environ)


def test_a_probe_that_ends(tmp_path: Path) -> None:
    ended = run(tmp_path, """write('{"event": "end"}\\n'); print("said"); sys.exit(4)""")
    assert (ended.status, ended.events, ended.log) == (4, [{"event": "end"}], ("said",))


def test_a_silent_probe_is_cut_with_all_that_it_started(tmp_path: Path) -> None:
    body = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
write('{"event": "start", "name": "hang", "child": %d}\\n' % child.pid)
time.sleep(60)
"""
    begin = time.monotonic()
    ended = run(tmp_path, body, limit=2.0)
    assert ended.status is None
    assert time.monotonic() - begin < 20
    [event] = ended.events
    assert event["name"] == "hang"
    assert _gone(event["child"])


def _gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet counts as ended."""
    for _ in range(50):
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
def test_news_keep_a_slow_probe_alive(tmp_path: Path) -> None:
    body = """
for _ in range(6):
    write('{"event": "progress"}\\n')
    time.sleep(0.5)
"""
    ended = run(tmp_path, body, limit=2.0)
    assert (ended.status, len(ended.events)) == (0, 6)
    assert ended.seconds > 2.0


def test_a_child_that_keeps_the_log_open_does_not_delay_the_end(tmp_path: Path) -> None:
    body = """subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])"""
    begin = time.monotonic()
    assert run(tmp_path, body).status == 0
    assert time.monotonic() - begin < 20


def test_a_dying_probe_leaves_what_it_wrote(tmp_path: Path) -> None:
    body = """write('{"event": "start", "name": "a"}\\n{"event": "che'); os.abort()"""
    ended = run(tmp_path, body)
    assert ended.status == -6
    assert ended.events == [{"event": "start", "name": "a"}]


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        run_probe([str(tmp_path / "python")], tmp_path / "out", 1.0, os.environ)


@pytest.mark.parametrize("text", ["", "not json\n", "[1]\n", '{"no": 1}\n', '{"event": 1}\n'])
def test_what_is_no_event_is_left_out(tmp_path: Path, text: str) -> None:
    file = tmp_path / "result.jsonl"
    file.write_text(text + '{"event": "end"}\n{"event": "cut', encoding="utf-8")
    assert events_of(file) == [{"event": "end"}]
    assert events_of(tmp_path / "nothing") == []


def test_fallbacks_are_counted_and_the_noise_is_dropped() -> None:
    log = Log()
    line = b"I1129 19:31:28.5 7 kernel_factory.cc:389] missing loopback kernel: %s, expected_"
    line += b"kernel_key:(loopback, Undefined(AnyLayout), float32), fallbacking to CPU one!\n"
    noise = [b"I1129 19:31:28.5 7 dygraph.cc:1] \n", b"=====Finish_AD_API: sum=====\n", b"\n"]
    noise += [b"Forward Debug Info {\n", b"API_Name: sum1\n", b"Input: [ \n", b"\tShape: 1,\n"]
    told = [b"Traceback (most recent call last):\n", b'  File "x.py"\n', b"\xff broken\n"]
    log.read([line % b"matmul", *noise, line % b"add", *told, line % b"matmul"])
    assert log.fallback == {"matmul": 2, "add": 1}
    assert log.lines[0].startswith("Traceback")
    assert len(log.lines) == 3


def test_a_long_log_is_not_kept_whole() -> None:
    log = Log()
    log.read(b"line %d\n" % number for number in range(10_000))
    assert len(log.lines) == KEPT
    assert log.lines[-1] == "line 9999"
