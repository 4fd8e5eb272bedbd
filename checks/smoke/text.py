"""The perplexity of any text on a device: `paddock smoke --text FILE`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from checks.smoke.process import Ended
from checks.smoke.proof import last, stand_in
from checks.smoke.report import all_checks
from checks.smoke.run import Job, start
from checks.smoke.settings import Smoke
from provision.errors import PaddockError
from provision.words import text as words


class TextReport(msgspec.Struct, frozen=True, kw_only=True):
    """A text's perplexity = exp(loss); loss is the mean of -log p, in nats.

    `tokens` are all of the text's; each window's first one is not predicted. `device` is where the
    results were found, `stand_in` says that no card computed.
    """

    stand_in: str | None = None
    schema: str = "paddock/text/1"
    file: str
    device: str
    window: int
    tokens: int
    loss: float
    perplexity: float
    seconds: float


def evaluate(  # noqa: PLR0913, PLR0917 (what to evaluate, and where)
    python: Path,
    device: str,
    file: Path,
    window: int,
    settings: Smoke,
    variables: Mapping[str, str] | None = None,
) -> TextReport:
    """Compute the perplexity of a UTF-8 file in windows of `window` tokens.

    Raises PaddockError `bad-text` for a file or window that cannot be used, and `smoke-failed`,
    with the failed checks as details, when the device does not compute it.
    """
    spec = {**settings.spec(), "text": read_text(file, window), "window": window}
    given = os.environ if variables is None else variables
    ended = start(python, device, Job("perplexity.py", spec, settings.silence.model), given)
    return read(ended, device, file, window, settings)


def read_text(file: Path, window: int) -> str:
    """The text in a file. Raises PaddockError `bad-text` for no UTF-8 text, or a useless window."""
    if window < 2:  # noqa: PLR2004 (one token predicts nothing)
        raise bad(file, words("smoke.text.window", window=window))
    try:
        content = file.read_bytes().decode("utf-8")
    except OSError as error:
        raise bad(file, str(error.strerror)) from None
    except UnicodeDecodeError as error:
        raise bad(file, words("smoke.text.not-utf8", position=error.start)) from None
    if not content:
        raise bad(file, words("smoke.text.empty"))
    return content


def bad(file: Path, reason: str) -> PaddockError:
    """The error for a text that cannot be evaluated."""
    return PaddockError("bad-text", file=file, reason=reason)


def read(ended: Ended, device: str, file: Path, window: int, settings: Smoke) -> TextReport:
    """The report of a probe that has ended. Raises PaddockError as `evaluate` does."""
    figures = {e["name"]: e["value"] for e in ended.events if e["event"] == "figure"}
    if figures.get("tokens") == 1:
        raise bad(file, words("smoke.text.short"))
    failed = [check for check in all_checks(ended, device) if not check.passed]
    if failed or "perplexity" not in figures:
        seen = [f"{check.name}: {check.error}" for check in failed]
        raise PaddockError(
            "smoke-failed", (*seen, *ended.log), levels="text", target=settings.target
        )  # fmt: skip
    places = sorted(last(ended.events, "proof")["places"])
    return TextReport(
        stand_in=stand_in(ended.events, device),
        file=str(file), device=", ".join(places), window=window, tokens=figures["tokens"],
        loss=figures["loss"], perplexity=figures["perplexity"], seconds=round(ended.seconds, 3),
    )  # fmt: skip
