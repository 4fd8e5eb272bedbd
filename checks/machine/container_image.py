"""Is the named container's image made for the card and for the driver of this host?"""

from __future__ import annotations

from checks.machine import documented, here, told_cards
from checks.machine.finding import APART, Check, Evidence, Finding
from checks.machine.in_container import named
from provision import pairs, versions
from provision.facts import ascend_driver, enflame, image_name
from provision.facts.snapshot import Facts, Unread

_KINDS = {"cann": "driver+cann", "tops": "paddle+plugin+tops+driver"}


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
    cards = _cards(facts)
    there = sorted({generation or "" for generation, _ in cards})
    made = image_name.chip(image)
    if not made or not there or "" in there or made[1].generation in there:
        return None
    line = cards[0][1]
    values = {"word": made[0], "made": made[1].generation, "here": ", ".join(there)}
    return Finding("error", "chip", values, [shown, line], source=made[1].source)


def _cards(facts: Facts) -> list[tuple[str | None, Evidence]]:
    """The generation of each card, with what shows it: on the bus, else in npu-smi's table."""
    if isinstance(facts.accelerators, Unread):
        return [(one.model, one.evidence) for one in told_cards.told(here.outputs(facts), "npu")]
    return [(card.generation, Evidence(f"{card.slot} {card.ids} {card.name}", here.bus(facts)))
            for card in facts.accelerators]  # fmt: skip


def _driver(facts: Facts, image: str, shown: Evidence) -> Finding | None:
    """An image whose CANN or TopsRider is not known to go with the host's driver."""
    cann, tops = image_name.cann(image), image_name.topsrider(image)
    name, made = ("cann", cann) if cann else ("tops", tops or "")
    outputs, kernel = here.outputs(facts), here.kernel(facts)
    driver = ascend_driver.version(outputs) if cann else enflame.driver_version(kernel, outputs)
    if not made or driver is None:
        return None
    version, where = driver
    verdict = pairs.judge(_KINDS[name], {name: made, "driver": version})
    rows = [row for row in documented.naming(_KINDS[name], name, made) if "driver" in row.versions]
    drivers = documented.all_of(rows, "driver")
    evidence = [shown, Evidence(f"driver {version}", where)]
    values = {"made": made, "driver": version, "wanted": ", ".join(drivers) or "?"}
    if verdict.state == "fails" and verdict.row:
        return Finding("error", "fails", values, evidence, source=verdict.row.source)
    if verdict.row or not rows or (cann and not _is_older(version, drivers)):
        return None
    return Finding("warning", name, values, evidence, source=rows[0].source)


def _is_older(driver: str, drivers: list[str]) -> bool:
    """Whether a driver is older than all of these. Ascend's newer drivers run an older CANN."""
    return all(versions.compare(driver, one.removesuffix(".x")) == -1 for one in drivers)


CHECK = Check("container-image", _run)
