"""Is the named container's image made for the card and for the driver of this host?"""

from __future__ import annotations

from checks.finding import APART, Check, Evidence, Finding
from checks.in_container import named
from provision import pairs
from provision.facts import enflame, image_name
from provision.facts.outputs import found
from provision.facts.snapshot import Facts, Unread
from provision.facts.texts.versions import VersionFile


def _run(facts: Facts) -> Finding:
    pair = named(facts)
    if not pair:
        return APART
    container, output = pair
    image = container.image or ""
    shown = Evidence(image or "no name", output.source)
    wrong = _chip(facts, image, shown) or _driver(facts, image, shown)
    return wrong or Finding("ok", evidence=[shown])


def _chip(facts: Facts, image: str, shown: Evidence) -> Finding | None:
    """An image for another chip than all cards of this machine have."""
    cards = [] if isinstance(facts.accelerators, Unread) else facts.accelerators
    here = sorted({card.generation or "" for card in cards})
    made = image_name.chip(image)
    if not made or not here or "" in here or made[1].generation in here:
        return None
    line = Evidence(f"{cards[0].slot} {cards[0].ids} {cards[0].name}", "/sys/bus/pci/devices")
    values = {"word": made[0], "made": made[1].generation, "here": ", ".join(here)}
    return Finding("error", "chip", values, [shown, line], source=made[1].source)


def _driver(facts: Facts, image: str, shown: Evidence) -> Finding | None:
    """An image whose CANN or TopsRider is not known to go with the host's driver."""
    cann, tops = image_name.cann(image), image_name.topsrider(image)
    driver = _npu_driver(facts) if cann else _gcu_driver(facts) if tops else None
    if driver is None:
        return None
    version, where = driver
    kind = "driver+cann" if cann else "paddle+plugin+tops+driver"
    verdict = pairs.judge(kind, {"cann": cann, "tops": tops, "driver": version})
    key = "cann" if cann else "tops"
    made = cann or tops or ""
    # A CANN newer than the list of a driver is the driver's own check; here only what is known.
    known = [row for row in verdict.nearest if made in row.versions.get(key, [])]
    if verdict.row and verdict.state != "fails":
        return None
    if verdict.state != "fails" and not any("driver" in row.versions for row in known):
        return None
    drivers = ", ".join(one for row in known for one in row.versions.get("driver", []))
    values = {"made": made, "driver": version, "wanted": drivers or "?"}
    source = verdict.row.source if verdict.row else known[0].source
    case = "fails" if verdict.state == "fails" else key
    return Finding("warning", case, values, [shown, Evidence(f"driver {version}", where)],
                   source=source)  # fmt: skip


def _npu_driver(facts: Facts) -> tuple[str, str] | None:
    """The version of the host's Ascend driver, and the file that tells it."""
    outputs = [] if isinstance(facts.outputs, Unread) else facts.outputs
    return next(((file.version, output.source) for file, output in found(outputs, VersionFile)
                 if file.kind == "driver version.info" and file.version), None)  # fmt: skip


def _gcu_driver(facts: Facts) -> tuple[str, str] | None:
    kernel = None if isinstance(facts.kernel, Unread) else facts.kernel
    outputs = [] if isinstance(facts.outputs, Unread) else facts.outputs
    return enflame.driver_version(kernel, outputs)


CHECK = Check("container-image", _run)
