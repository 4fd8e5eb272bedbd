"""Runs calls that wait, such as programs, side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
_AT_ONCE = 16  # with every card in trouble there are some fifty questions, all to one driver


def together(calls: Sequence[Callable[[], T]]) -> list[T]:
    """The results of calls that run side by side, in their order. Raises what a call raises."""
    results: dict[int, T] = {}
    errors: list[Exception] = []
    room = threading.Semaphore(_AT_ONCE)

    def work(place: int) -> None:
        try:
            with room:
                results[place] = calls[place]()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[place] for place in range(len(calls))]
