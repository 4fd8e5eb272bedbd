"""How a run that fails or is stopped comes to its end: vendors' installers are let finish.

An installer that is cut short while it writes into a card may leave one that does not start again.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import TypeVar

from provision.amounts import duration
from provision.guard import signals
from provision.process import Processes
from provision.words import text

_APART = 1.0  # seconds: a key that is held down, and a closed terminal, send several at once
_T = TypeVar("_T")

Tell = Callable[[str], None]


def wind_up(processes: Processes, work: Collection[Future[_T]], tell: Tell, *, asked: bool) -> None:
    """Stop what runs, and return when all `work` has ended, the lasting part of it by itself.

    A signal says that it is waited for (`asked`: one has come already), and another one ends also
    that. A terminal that was closed asks for nothing: nobody has read what is told.
    """
    heard: SimpleQueue[int] = SimpleQueue()  # a signal's handler may put into this kind
    with signals(lambda number, _: heard.put(number)):
        stopping = threading.Thread(target=processes.stop)
        stopping.start()
        told: float | None = None
        is_said = False
        while any(not one.done() for one in work):
            number = _next(heard)
            lasting = processes.lasting()
            names = text("plan.comma").join(lasting)
            if not lasting:
                continue
            if told is None and (asked or number):
                tell(text("patience.asked", steps=_silent(lasting)))
                told = time.monotonic()
            elif told is None and not is_said:
                tell(text("patience.failed", steps=names))
                is_said = True
            elif told and number not in (0, signal.SIGHUP) and time.monotonic() > told + _APART:
                tell(text("patience.ended", steps=names))
                processes.stop(lasting=True)
                if stuck := processes.lasting():
                    tell(text("patience.stuck", steps=text("plan.comma").join(stuck),
                              process=os.getpid()))  # fmt: skip
        stopping.join()


def _silent(lasting: Mapping[str, float]) -> str:
    """The names, each with the time since it last printed something."""
    said = (text("patience.silent", step=name, time=duration(seconds))
            for name, seconds in lasting.items())  # fmt: skip
    return text("plan.comma").join(said)


def _next(heard: SimpleQueue[int]) -> int:
    """The next signal; 0 where none comes within a moment."""
    try:
        return heard.get(timeout=0.1)
    except Empty:
        return 0


def to_its_end(work: Callable[[], _T], processes: Processes, tell: Tell) -> _T:
    """What `work` returns, which runs a lasting script. Raises what it raises."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            wind_up(processes, [future], tell, asked=True)
            raise


def passed_on(work: Callable[[], _T], send: Callable[[signal.Signals], None]) -> _T:
    """What `work` returns, which follows a run elsewhere. Raises what it raises.

    That run is sent each signal that comes here, and ends itself as `wind_up` has it.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            heard: SimpleQueue[int] = SimpleQueue()
            with signals(lambda number, _: heard.put(number)):
                send(signal.SIGTERM)
                while not future.done():
                    if number := _next(heard):
                        send(signal.Signals(number))
            raise
