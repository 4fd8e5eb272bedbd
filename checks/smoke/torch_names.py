"""The names of torch_npu that are registered, and the versions that explain missing ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.judge.names import names, published
from checks.machine import documented
from checks.smoke.demands import Demand
from checks.smoke.process import Event
from checks.smoke.proof import last
from provision.versions import begins
from provision.words import text

NAME = "torch_npu"
_KIND = "torch_npu+cann"


def asked() -> list[str]:
    """The full names that torch_npu has."""
    return [one.name for one in names().values() if one.returns]


def registered(events: Sequence[Event]) -> Iterator[Demand]:
    """What a probe found: those that a Llama needs have to be there, the others are told."""
    found = last(events, "torch")
    if not found:
        return
    if found["error"]:
        yield Demand(NAME, "", text("smoke.torch.import", reason=found["error"]))
        return
    needed = [name for name in found["missing"] if names()[name].fused]
    count = len(found["present"])
    values = {"npu": found["torch_npu"], "torch": found["torch"], "count": count,
              "all": count + len(found["missing"])}  # fmt: skip
    if needed:
        why = _pairing(found["torch_npu"], found["torch"])
        said = ", ".join(needed)
        yield Demand(NAME, "", text("smoke.torch.missing", names=said, why=why, **values))
        return
    yield Demand(NAME, text("smoke.torch.there", **values), None)


def _pairing(npu: str, torch: str) -> str:
    """What is wrong with these versions as far as they tell it, and what would go together."""
    own = npu.partition("+")[0]
    if own not in published():
        return text("smoke.torch.unpublished", npu=npu or "?", known=", ".join(_near(own)))
    wanted = own.partition("rc")[0].partition(".post")[0]  # the torch whose number it has
    if not begins(torch, wanted):
        return text("smoke.torch.other", npu=npu, torch=torch or "?", wanted=wanted)
    known = documented.all_of(documented.naming(_KIND, NAME, own), "cann")
    if known:
        return text("smoke.torch.cann", known=", ".join(known))
    return text("smoke.torch.unknown", npu=npu)


def _near(own: str) -> list[str]:
    """The published versions of the same minor release; the newest ones where there are none."""
    minor = ".".join(own.split(".")[:2])
    return [one for one in published() if begins(one, minor)] or published()[-3:]
