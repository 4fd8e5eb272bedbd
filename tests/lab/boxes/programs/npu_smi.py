#!/usr/bin/python3
"""Stands for `npu-smi`: prints in its layouts what the files of this box say.

The cards are in /var/lib/lab/state.json, versions in the driver's own files. What the real tool
needs to work (its library, the control node and the right to open it) this one needs as well.
Layouts: `info` b (HBM), `-l`, `-m`, and `-t TOPIC` of the 23.x to 25.x tools.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

STATE = Path("/var/lib/lab/state.json")
ASCEND = Path("/usr/local/Ascend")
LIBRARY = Path("/usr/local/dcmi/libdcmi.so")
HAL = ASCEND / "driver/lib64/driver/libascend_hal.so"
MANAGER = Path("/dev/davinci_manager")
RULE = "+---------------------------+---------------+" + "-" * 52 + "+"
DOUBLE = RULE.replace("-", "=")
LINE = "+" + "-" * 96 + "+"
USAGE = "Usage: npu-smi info <watch|proc|-h|-m|-l|-t type> [Options...]"


def version(package: str) -> str:
    """`Version=` of a package's version file."""
    try:
        text = (ASCEND / package / "version.info").read_text()
    except OSError:
        return "NA"
    match = re.search(r"^Version=(.+)$", text, re.MULTILINE)
    return match[1] if match else "NA"


def fail(*lines: str, status: int = 1) -> None:
    print(*lines, sep="\n")
    raise SystemExit(status)


def check(fault: str) -> None:
    """End as the real tool does where what it needs is absent or a fault is set."""
    for library in (LIBRARY, HAL):
        if not library.exists():
            what = f"{library.name}: cannot open shared object file: No such file or directory"
            sys.exit(f"npu-smi: error while loading shared libraries: {what}")
    if fault == "hang":
        time.sleep(3600)
    if not fault and not os.access(MANAGER, os.R_OK | os.W_OK):
        fault = "-8005"
    if fault == "-8020":
        fail("DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)",
             "dcmi model initialized failed, because the device is used. ret is -8020")  # fmt: skip
    if fault == "-9005":
        fail("npu get board type failed. ret is -9005")
    if fault:
        fail(f"dcmi module initialize failed. ret is {fault}")


def table(state: dict[str, Any]) -> None:
    """`npu-smi info`."""
    cards = state["cards"]
    tool = f"npu-smi {state['tool']}"
    print(LINE, f"| {tool:<32} Version: {version('driver'):<53}|", RULE, sep="\n")
    print("| NPU   Name                | Health        "
          "| Power(W)    Temp(C)           Hugepages-Usage(page)|")  # fmt: skip
    print("| Chip                      | Bus-Id        "
          "| AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |")  # fmt: skip
    print(DOUBLE)
    for card in cards:
        card_rows(card)
    print(RULE)
    print("| NPU     Chip              | Process id    "
          "| Process name             | Process memory(MB)      |")  # fmt: skip
    print(DOUBLE)
    for card in cards:
        process_rows(card)


def card_rows(card: dict[str, Any]) -> None:
    memory = "{:<5}/ {:<13}".format(*card["memory"])
    hbm = "{:<5}/ {:<13}".format(*card["hbm"])
    name, health = f"{card['id']:<6}{card['name']}", card["health"]
    print(f"| {name:<26}| {health:<14}| {card['power']:<12}{card['temperature']:<18}"
          f"{'0    / 0':<21}|")  # fmt: skip
    print(f"| {0:<26}| {card['bus']:<14}| {card['aicore']:<12}{memory:<18.18}{hbm:<21.21}|")
    print(DOUBLE)


def process_rows(card: dict[str, Any]) -> None:
    for one in card.get("processes", []):
        chip = f"{card['id']:<8}0"
        print(f"| {chip:<26}| {one['pid']:<14}| {one['name']:<25}| {one['memory']:<24}|")
    if not card.get("processes"):
        print(f"| {'No running processes found in NPU ' + str(card['id']):<95}|")
    print(DOUBLE)


def pairs(*rows: tuple[str, object]) -> None:
    """Rows `label : value` in the tool's columns; an empty label is a blank line."""
    width = max(31, *(len(label) + 1 for label, _ in rows))
    for label, value in rows:
        print(f"\t{label:<{width}}: {value}" if label else "")


def listed(state: dict[str, Any]) -> None:
    """`-l`."""
    pairs(("Total Count", len(state["cards"])))
    for card in state["cards"]:
        pairs(("", ""), ("NPU ID", card["id"]), ("Chip Count", 1))


def mapping(state: dict[str, Any]) -> None:
    """`-m`: the logical ids count the chips that are there."""
    print("\t" + "".join(f"{name:<31}" for name in
                         ("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name")))  # fmt: skip
    for logic, card in enumerate(state["cards"]):
        for row in ((card["id"], 0, logic, f"Ascend {card['name']}"), (card["id"], 1, "-", "Mcu")):
            print("\t" + "".join(f"{value!s:<31}" for value in row))


def board(card: dict[str, Any], chip: str | None) -> None:
    if chip is not None:
        pairs(("NPU ID", card["id"]), ("Chip ID", 0), ("Chip Type", "Ascend"),
              ("Chip Name", card["name"]), ("Chip Version", "V1"), ("Board ID", "0x60"),
              ("PCB ID", "NA"), ("BOM ID", 1), ("VDie ID", card["serial"]),
              ("NDie ID", "NA"), ("Chip Position ID", 0), ("PCIe Bus Info", card["bus"]),
              ("Firmware Version", version("firmware")))  # fmt: skip
        return
    pairs(("NPU ID", card["id"]), ("Product Name", "LAB-A2"), ("Model", "NA"),
          ("Manufacturer", "Huawei"), ("Serial Number", card["serial"]),
          ("Software Version", version("driver")), ("Firmware Version", version("firmware")),
          ("Compatibility", card["compatibility"]), ("Board ID", "0x60"), ("PCB ID", "A"),
          ("BOM ID", 1), ("PCIe Bus Info", card["bus"]), ("Slot ID", card["id"]),
          ("Class ID", "NA"), ("PCI Vendor ID", "0x19E5"), ("PCI Device ID", card["device"]),
          ("Subsystem Vendor ID", "0x19E5"), ("Subsystem Device ID", card["subsystem"]),
          ("Chip Count", 1))  # fmt: skip


def health(card: dict[str, Any]) -> None:
    errors = card.get("errors", [])
    texts = [error["text"] for error in errors] or ["NA"]
    pairs(("Health Status", card["health"]),
          ("Error Code", " ".join(error["code"] for error in errors) or "NA"),
          ("Error Information", texts[0]))  # fmt: skip
    for text in texts[1:]:
        print(f"\n\t{'':<31}: {text}")


def rows(name: str, card: dict[str, Any]) -> list[tuple[str, object]]:
    """What a topic that is a plain list shows of a chip; empty for a topic that is none."""
    (memory, memory_all), (hbm, hbm_all) = card["memory"], card["hbm"]
    heat, power, busy = card["temperature"], card["power"], card["aicore"]
    shares = [("DDR Usage Rate(%)", 100 * memory // max(1, memory_all)),
              ("HBM Usage Rate(%)", 100 * hbm // hbm_all)]  # fmt: skip
    counts = ("Error Count", "Aggregate Total Err Cnt", "Isolated Pages Count")
    lists: dict[str, list[tuple[str, object]]] = {
        "memory": [("DDR Capacity(MB)", memory_all), ("DDR Clock Speed(MHz)", 0),
                   ("HBM Capacity(MB)", hbm_all), ("HBM Clock Speed(MHz)", 1600),
                   ("HBM Temperature(C)", heat + 2), ("HBM Manufacturer ID", "0x56")],
        "common": [("Memory Usage Rate(%)", shares[0][1]), shares[1],
                   ("Aicore Usage Rate(%)", busy), ("Aicore Freq(MHZ)", 1800),
                   ("Aicore curFreq(MHZ)", 1800), ("Aicore Count", 20),
                   ("Temperature(C)", heat), ("NPU Real-time Power(W)", power)],
        "usages": [("DDR Capacity(MB)", memory_all), shares[0], ("DDR Hugepages Total(page)", 0),
                   ("DDR Hugepages Usage Rate(%)", 0), ("HBM Capacity(MB)", hbm_all), shares[1],
                   ("Aicore Usage Rate(%)", busy), ("Aicpu Usage Rate(%)", 0),
                   ("Ctrlcpu Usage Rate(%)", 0), ("DDR Bandwidth Usage Rate(%)", 0),
                   ("HBM Bandwidth Usage Rate(%)", 0)],
        "temp": [("NPU Temperature (C)", heat)],
        "power": [("NPU Real-time Power(W)", power)],
        "ecc": [(f"HBM {kind} Bit {count}", card["ecc"][kind])
                for count in counts for kind in ("Single", "Double")],
    }  # fmt: skip
    return lists.get(name, [])


def topic(name: str, card: dict[str, Any], chip: str | None) -> None:
    """`-t NAME -i N [-c N]`. The chip's id stands behind its values."""
    shown = rows(name, card)
    if name == "board":
        board(card, chip)
    elif name == "health":
        health(card)
    elif name == "proc-mem":
        proc_mem(card)
    elif shown:
        pairs(("NPU ID", card["id"]), ("Chip Count", 1), ("", ""), *shown, ("Chip ID", 0))
    else:
        fail("Error parameter of -t", USAGE)


def proc_mem(card: dict[str, Any]) -> None:
    pairs(("NPU ID", card["id"]), ("Chip Count", 1), ("", ""))
    for one in card.get("processes", []):
        print(f"\tProcess id:{one['pid']:<8}Process name:{one['name']:<18.13}"
              f"Process memory(MB):{one['memory']}")  # fmt: skip
    pairs(("Chip ID", 0))


def main() -> None:
    words = sys.argv[1:]
    state = json.loads(STATE.read_text())
    if words == ["-v"]:
        fail(f"npu-smi version: {state['tool']}", status=0)
    check(state["fault"])
    if words[:1] != ["info"]:
        fail("Usage: npu-smi <Command|-h|-v> [Options...]")
    if words == ["info"]:
        table(state)
    elif words == ["info", "-l"]:
        listed(state)
    elif words == ["info", "-m"]:
        mapping(state)
    else:
        options = dict(zip(words[1::2], words[2::2], strict=False))
        found = [card for card in state["cards"] if str(card["id"]) == options.get("-i")]
        if not found:
            fail("Invalid card id.", "Error parameter of -i", USAGE)
        topic(options.get("-t", ""), found[0], options.get("-c"))


if __name__ == "__main__":
    main()
