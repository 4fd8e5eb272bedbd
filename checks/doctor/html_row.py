"""A card in words, for the picture and the table of a page."""

from __future__ import annotations

from checks.doctor.html_cards import Card
from provision.words import text


def row(card: Card) -> list[str]:
    """All of a card for a row of a table; "" for what is not known."""
    one, state = card.device, card.state
    node = one.numa_node if one else None
    model = (one.name or one.ids) if one else ""
    names = dict.fromkeys(
        filter(None, (model, one.board if one else "", state.name if state else ""))
    )
    shown = [card.slot, "" if node is None or node < 0 else str(node), ", ".join(names)]
    if state is None:
        shown += [""] * 4
    else:
        degrees = "" if state.temperature is None else f"{state.temperature:g} °C"
        watts = "" if state.power is None else f"{state.power:g} W"
        shown += [state.number, state.health or "", degrees, watts]
    return [*shown, memory(card), link(card), (one.driver or "") if one else ""]


def memory(card: Card) -> str:
    """The memory of a card, `12.0 / 64 GiB`; "" where it is not known."""
    if not card.state or card.state.total is None:
        return ""
    total = f"{card.state.total / 1024:.0f} GiB"
    return total if card.state.used is None else f"{card.state.used / 1024:.1f} / {total}"


def link(card: Card) -> str:
    """The link of a card, `16 GT/s x16`, with what it can do where that is more."""
    one = card.device
    if one is None or one.link_speed_gt is None or one.link_width is None:
        return ""
    now = f"{one.link_speed_gt:g} GT/s x{one.link_width}"
    if not card.narrowed:
        return now
    speed, width = one.max_link_speed_gt or one.link_speed_gt, one.max_link_width or one.link_width
    most = f"{speed:g} GT/s x{width}"
    return f"{now} ({text('html.of', most=most)})"
