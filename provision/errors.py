"""Every failure a user can meet: a code, an exit status by class, and three sentences.

The sentences (what happened, likely cause, what to do) stand in the catalogue under
`error.CODE.what`, `.cause` and `.do`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from provision.words import text

USAGE, STACK, MACHINE, NETWORK, INTEGRITY, STEP, SMOKE, BUSY, INTERNAL, INTERRUPTED = (
    2, 3, 4, 5, 6, 7, 8, 9, 70, 130,
)  # fmt: skip
SOUND, WARNINGS, ERRORS, UNKNOWN = 0, 10, 11, 12
"""How a command that examines ends when it could: by the worst that it found."""

STATUS: Final[dict[str, int]] = {
    "unknown-target": USAGE,
    "unknown-release": USAGE,
    "unknown-step": USAGE,
    "unknown-backend": USAGE,
    "unknown-level": USAGE,
    "unknown-recipe": USAGE,
    "no-program": USAGE,
    "unknown-run": USAGE,
    "no-runs": USAGE,
    "degrees": USAGE,
    "no-checkout-given": USAGE,
    "launch-not-ready": MACHINE,
    "unknown-form": USAGE,
    "unknown-model": USAGE,
    "bad-model": USAGE,
    "bad-data": USAGE,
    "no-checkpoint": USAGE,
    "no-heads": USAGE,
    "no-backup": USAGE,
    "no-base": USAGE,
    "bad-file": USAGE,
    "bad-wheel": USAGE,
    "bad-command": USAGE,
    "bad-option": USAGE,
    "bad-snapshot": USAGE,
    "snapshot-inside": USAGE,
    "nothing-sent": USAGE,
    "nothing-yet": USAGE,
    "fix-consent": USAGE,
    "flag-needs": USAGE,
    "flags-apart": USAGE,
    "not-rehearsed": USAGE,
    "bad-text": USAGE,
    "no-target-for-card": USAGE,
    "no-steps": USAGE,
    "consent-needed": USAGE,
    "declined": USAGE,
    "unknown-failure": USAGE,
    "no-checkout": USAGE,
    "unknown-action": USAGE,
    "unknown-variant": USAGE,
    "no-machine": USAGE,
    "lab-not-up": USAGE,
    "lab-needs": MACHINE,
    "lab-failed": MACHINE,
    "source-missing": USAGE,
    "source-ref": USAGE,
    "source-dirty": USAGE,
    "source-no-history": USAGE,
    "stack-missing": STACK,
    "stack-syntax": STACK,
    "stack-field": STACK,
    "stack-type": STACK,
    "stack-part": STACK,
    "no-lock": STACK,
    "no-compiler": MACHINE,
    "no-card": MACHINE,
    "wrong-card": MACHINE,
    "unsupported-os": MACHINE,
    "plugin-overlap": MACHINE,
    "needs-root": MACHINE,
    "reboot-needed": MACHINE,
    "card-busy": MACHINE,
    "tools-missing": MACHINE,
    "package-missing": MACHINE,
    "package-several": USAGE,
    "package-twins": USAGE,
    "package-unreadable": MACHINE,
    "package-other": INTEGRITY,
    "package-damaged": INTEGRITY,
    "package-unsound": INTEGRITY,
    "package-changed": INTEGRITY,
    "package-unsafe": INTEGRITY,
    "step-hangs": STEP,
    "settings-failed": STEP,
    "no-python": MACHINE,
    "no-pip": MACHINE,
    "disk-full": MACHINE,
    "system-full": MACHINE,
    "system-closed": MACHINE,
    "output-failed": MACHINE,
    "no-room": MACHINE,
    "temporary-full": MACHINE,
    "no-headers": MACHINE,
    "memory-unread": MACHINE,
    "read-only": MACHINE,
    "not-provisioned": MACHINE,
    "needs-step": MACHINE,
    "no-zstd": MACHINE,
    "no-paddle": MACHINE,
    "build-machine": MACHINE,
    "build-unready": MACHINE,
    "build-memory": MACHINE,
    "trial-memory": MACHINE,
    "paddle-fails": MACHINE,
    "no-builder": MACHINE,
    "image-package": MACHINE,
    "image-unfit": MACHINE,
    "engine-absent": MACHINE,
    "engine-denied": MACHINE,
    "engine-lost": MACHINE,
    "engine-refused": MACHINE,
    "container-lacks": MACHINE,
    "container-name": USAGE,
    "container-differs": USAGE,
    "container-disk": MACHINE,
    "container-died": STEP,
    "no-container": MACHINE,
    "no-client": MACHINE,
    "image-gone": NETWORK,
    "image-denied": NETWORK,
    "image-offline": NETWORK,
    "image-changed": INTEGRITY,
    "image-record": MACHINE,
    "registry": NETWORK,
    "no-network": NETWORK,
    "offline-missing": NETWORK,
    "source-offline": NETWORK,
    "source-unreached": NETWORK,
    "build-network": NETWORK,
    "bad-certificate": NETWORK,
    "server-failed": NETWORK,
    "download-failed": NETWORK,
    "download-refused": INTEGRITY,
    "wrong-hash": INTEGRITY,
    "step-failed": STEP,
    "step-known": STEP,
    "step-unverified": STEP,
    "undo-left": STEP,
    "wheel-unfit": STEP,
    "smoke-failed": SMOKE,
    "smoke-known": SMOKE,
    "busy": BUSY,
    "installer-busy": BUSY,
    "tune-busy": BUSY,
    "tune-unwritable": MACHINE,
    "interrupted": INTERRUPTED,
    "internal": INTERNAL,
}


class PaddockError(Exception):
    """A failure with a remedy.

    `code` is a key of STATUS; `values` fill the sentences; `details` are lines shown below them
    (the last lines of a log, say). `more` is what only the JSON object has.
    """

    more: Mapping[str, object] = {}

    def __init__(self, code: str, details: tuple[str, ...] = (), **values: object) -> None:
        super().__init__(code, values)
        self.code = code
        self.values = values
        self.details = details

    @property
    def status(self) -> int:
        """The exit status of this failure's class."""
        return STATUS[self.code]

    def part(self, name: str) -> str:
        """One sentence, `what`, `cause` or `do`, in the user's language."""
        return text(f"error.{self.code}.{name}", **self.values)

    def __str__(self) -> str:
        return "\n".join(self.part(name) for name in ("what", "cause", "do"))

    def to_json(self) -> dict[str, object]:
        """The failure as a JSON object: code, status, the sentences and the details."""
        parts = {name: self.part(name) for name in ("what", "cause", "do")}
        return {"code": self.code, "status": self.status, **parts, "details": list(self.details),
                **self.more}  # fmt: skip


class Told(PaddockError):
    """A failure that this tool has met in another process, with the sentences of its document.

    `more` are details that this process adds.
    """

    def __init__(self, told: Mapping[str, Any], *more: str) -> None:
        super().__init__(str(told["code"]), (*(told.get("details") or ()), *more))
        self.told = told

    def part(self, name: str) -> str:
        """A sentence as it was told, in the language that was asked for."""
        return str(self.told[name])


def unknown_name(code: str, name: str, known: list[str]) -> PaddockError:
    """An error of `code` that names what exists and the nearest of it: what begins so, if any, else
    what is spelled alike or holds it (`910b`), in letters of either case.
    """
    import difflib

    small = name.lower()
    begun = [one for one in known if small and one.lower().startswith(small)]
    holding = [one for one in known if small and small in one.lower()]
    near = begun or difflib.get_close_matches(small, known, n=1) or holding
    hint = text("nearest", name=near[0]) if near else ""
    return PaddockError(code, name=name, known=", ".join(known), hint=hint)
