"""The kinds of steps. A new kind is one file and one line here."""

from __future__ import annotations

from provision.steps import (
    account,
    built,
    card,
    debs,
    fetch,
    given,
    install,
    loaded,
    packages,
    system,
    toolchain,
    vendor,
    venv,
    wheel,
)
from provision.steps.base import Kind

KINDS: dict[str, Kind] = {
    "toolchain": toolchain.Toolchain(),
    "venv": venv.Venv(),
    "packages": packages.Packages(),
    "wheel": wheel.Wheel(),
    "install": install.Install(),
    "card": card.Card(),
    "system": system.System(),
    "account": account.Account(),
    "vendor": vendor.Vendor(),
    "debs": debs.Debs(),
    "fetch": fetch.Fetch(),
    "given": given.Given(),
    "loaded": loaded.Loaded(),
    "built": built.Built(),
}
