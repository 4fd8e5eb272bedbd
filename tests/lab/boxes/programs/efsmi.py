#!/usr/bin/python3
"""Stands for `efsmi`: prints in its layouts what the files of this box say.

The cards are in /var/lib/lab/state.json, the driver's version is the loaded module's. What the
real tool needs to work (its library, the module, the control node) this one needs as well.
Layouts: the table of 1.4.x, `-q` of 1.4.3.4 and `-L`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

STATE = Path("/var/lib/lab/state.json")
LIBRARY = Path("/usr/lib/libefml.so")
MODULE = Path("/sys/module/enflame/version")
CONTROL = Path("/dev/gcuctl")
BANNER = """\
------------------------------------------------------------------------------
-------------------- Enflame System Management Interface ---------------------
--------- Enflame Tech, All Rights Reserved. 2024-2025 Copyright (C) ---------
------------------------------------------------------------------------------
"""
RULE = "|" + "-" * 76 + "|"
END = RULE.replace("|", "+")


def check(fault: str) -> None:
    """End as the real tool does where what it needs is absent or a fault is set."""
    if not LIBRARY.exists():
        what = f"{LIBRARY.name}: cannot open shared object file: No such file or directory"
        print(f"efsmi: error while loading shared libraries: {what}", file=sys.stderr)
        raise SystemExit(127)
    if fault == "hang":
        time.sleep(3600)
    if fault or not MODULE.exists() or not os.access(CONTROL, os.R_OK | os.W_OK):
        print("HAL initialization failed", "Failed to initialize efml lib",
              "Initialize failed...", sep="\n")  # fmt: skip
        raise SystemExit(1)


def size(card: dict[str, Any]) -> int:
    """MiB that are left of 48 GiB; ECC takes an eighth."""
    return 42976 if card["ecc"] == "Enable" else 49120


def row(*cells: tuple[str, int]) -> None:
    print("|" + "|".join(f" {text:<{width}}" for text, width in cells) + "|")


def table(state: dict[str, Any]) -> None:
    """`efsmi`."""
    driver = MODULE.read_text().strip()
    print(BANNER)
    print(f"+{time.strftime('%Y-%m-%d, %H:%M:%S %Z'):-<76}+")
    print(f"| EFSMI    {state['tool']:<15} Driver Ver: {driver:<38}|", RULE, RULE, sep="\n")
    row(("DEV    NAME", 28), ("FW VER", 17), ("BUS-ID      ECC", 26))
    row(("TEMP   Dpm   Pwr(Usage/Cap)", 28), ("Mem     GCU Virt", 17), ("DUsed       SN", 26))
    for card in state["cards"]:
        print(RULE)
        short = card["bus"].partition(":")[2]
        row((f"{card['id']:<7}Enflame {card['name']}", 28), (card["firmware"], 17),
            (f"00:{short:<9}{card['ecc']}", 26))  # fmt: skip
        power = f"{card['power']}W / 300W"
        row((f"{card['temperature']}℃    {card['dpm']:<9}{power}", 28),
            (f"{size(card)}MiB Disable", 17), (f"{'0%':<12}{card['serial']}", 26))  # fmt: skip
        print(END)


def section(title: str, *values: tuple[str, object]) -> None:
    print(f"    {title}")
    rows(*values)


def rows(*values: tuple[str, object]) -> None:
    print(*(f"        {label:<24}: {value}" for label, value in values), sep="\n")


def query(state: dict[str, Any]) -> None:
    """`efsmi -q`."""
    print(BANNER)
    for card in state["cards"]:
        domain, bus, slot = card["bus"].split(":")
        device, function = slot.split(".")
        used = card.get("used", 0)
        print(f"DEV ID {card['id']}")
        section("Driver Info", ("Ver", MODULE.read_text().strip()))
        section("Device Info", ("Dev Name", card["name"]), ("Dev UUID", card["serial"][::-1]),
                ("Dev SN", card["serial"]), ("Dev PN", "EFB-0000000-00"),
                ("Dev MFD", "2025-1-1"), ("Health", card["health"]))  # fmt: skip
        section("PCIe Info", ("Vendor ID", "1e36"), ("Device ID", card["device"]),
                ("Domain", domain), ("Bus", bus), ("Dev", device), ("Func", function))  # fmt: skip
        print("        Link Info")
        width, generation = card["link"]
        rows(("Max Link Speed", "Gen5"), ("Max Link Width", "X16"),
             ("Cur Link Speed", f"Gen{generation}"), ("Cur Link Width", f"X{width}"))  # fmt: skip
        section("Clock Info", ("Mem CLK", "7000 MHz"))
        section("Power Info", ("Power Capa", "300 W"), ("Cur Power", f"{card['power']} W"),
                ("Dpm Level", card["dpm"]))  # fmt: skip
        section("Device Mem Info", ("Total Size", f"{size(card)} MiB"),
                ("Reserved Size", "1129 MiB"), ("Used Size", f"{used} MiB"),
                ("Free Size", f"{size(card) - 1129 - used} MiB"))  # fmt: skip
        section("Temperature Info", ("GCU Temp", f"{card['temperature']} ℃"))
        section("Device Usage Info", ("GCU Usage", "0.0 %"))
        section("ECC Mode", ("Current", card["ecc"]), ("Pending", card["ecc_pending"]))
        section("RMA Info", ("Flags", card["rma"]), ("Total DBE", card["dbe"]))
        section("Power Cable", ("Status", card["cable"]))


def listed(state: dict[str, Any]) -> None:
    """`efsmi -L`."""
    print(f"{'DEV':<7}{'SN':<18}{'Slot':<8}{'ID':<13}{'Bus':<16}{'CPU Affinity':<17}UUID")
    print("-" * 91)
    for card in state["cards"]:
        ids = f"1e36:{card['device']}"
        print(f"{card['id']:<7}{card['serial']:<18}{'N/A':<8}{ids:<13}{card['bus']:<16}"
              f"{'0-31':<17}{card['serial'][::-1]}")  # fmt: skip


def main() -> None:
    words = sys.argv[1:]
    state = json.loads(STATE.read_text())
    check(state["fault"])
    if "-i" in words:
        number = words[words.index("-i") + 1]
        state["cards"] = [card for card in state["cards"] if str(card["id"]) == number]
    if "-L" in words:
        listed(state)
    elif "-q" in words:
        query(state)
    else:
        table(state)


if __name__ == "__main__":
    main()
