"""Does Paddle, and what else is on this machine, have what the wheel's libraries ask for?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from checks.machine.finding import APART, Evidence, Finding, names
from checks.wheels.contents import is_library
from checks.wheels.subject import Subject
from provision.facts.linking.library_folders import products
from provision.facts.linking.linkage import Linkage, Needed

# The libraries that a plugin is linked with, by the releases of Paddle: 2.6 and 3.0 to 3.3.
_PADDLE = re.compile(r"lib(paddle|phi(_core|_kernel.*)?|common)\.so|core_(no)?avx\.so")
# phi::capi is what a plugin compiles for itself, from sources that come with Paddle's headers.
_OURS = re.compile(r"PD_|_ZN?[VrK]*K?(?:6paddle|3phi(?!4capi)|6common|4phi)")
_CAPI = re.compile(r"_ZN?[VrK]*3phi4capi")
_PAST_THE_LOADER = ("loads", "skipped", "hangs", "crashes", "raises", "unknown")
_SOURCE = "measured: plugins built for and run with paddlepaddle 2.6.2 to 3.3.1"


def split(links: Iterable[Linkage], paddle: str | None) -> tuple[list[Linkage], list[Needed]]:
    """The linkage without what nobody can expect here, and that: Paddle, or a vendor's libraries.

    A vendor's library is expected where anything of its product is installed.
    """
    kept, apart = [], []
    for one in links:
        out = [need for need in one.needed if need.found is None and _is_elsewhere(need, paddle)]
        rest = [need for need in one.needed if need not in out]
        kept.append(msgspec.structs.replace(one, needed=rest))
        apart += out
    return kept, apart


def _is_elsewhere(need: Needed, paddle: str | None) -> bool:
    """Whether a library belongs to what is not on this machine at all."""
    if _is_paddle(need):
        return paddle is None
    return bool(need.product) and not need.near and not _is_here(need.product or "")


def _is_paddle(need: Needed) -> bool:
    return bool(_PADDLE.fullmatch(Path(need.name).name))


def _is_here(product: str) -> bool:
    folders = [folder for one in products() if one.name == product for folder in one.folders]
    return any(any(Path("/").glob(folder.lstrip("/"))) for folder in folders)


def surroundings(subject: Subject) -> Finding:
    """What the libraries rest on is on this machine, so that the rest can be judged."""
    apart = subject.apart
    if not subject.linkage:
        return APART
    if not apart:
        line = f"paddlepaddle {subject.paddle}" if subject.paddle else "no library of Paddle"
        return Finding("ok", evidence=[Evidence(line, subject.path.name)])
    evidence = [Evidence(f"{one.name} => not found", one.of) for one in apart[:4]]
    vendors = [one.product for one in apart if one.product]
    values = {"products": names(dict.fromkeys(vendors)), "name": apart[0].name}
    case = "product" if vendors else "paddle"
    return Finding("unknown", case, values, evidence)


def symbols(subject: Subject) -> Finding:
    """Each symbol is in a library that the wheel's library links, directly or through another."""
    links = [one for one in subject.linkage if not one.problem]
    if not links:
        return APART
    whole = [msgspec.structs.replace(one, needed=[*one.needed, *_apart(subject, one)])
             for one in links]  # fmt: skip
    helpers = [one for one in whole if _is_helper(one)]
    own = [one for one in whole if one not in helpers]
    lazy = [one for one in own if one.missing_symbols and _is_taken(subject, one)]
    rest = [_as_told(subject, one) for one in own if one not in lazy]
    for ask, ones in ((_unlinked, own), (_missing, rest), (_further, whole), (_lent, helpers)):
        if finding := next(filter(None, map(ask, ones)), None):
            return finding
    if unsettled := next((one for one in links if one.unsettled), None):
        values = {"file": unsettled.file, "count": str(len(unsettled.unsettled))}
        evidence = [Evidence(f"undefined symbol: {name}", unsettled.file)
                    for name in unsettled.unsettled[:3]]  # fmt: skip
        return Finding("unknown", "unsettled", values, evidence)
    if lazy and (finding := _missing(lazy[0])):
        return msgspec.structs.replace(finding, state="warning", case="lazy")
    return Finding("ok", evidence=[Evidence("all symbols found", links[0].file)])


def _is_helper(one: Linkage) -> bool:
    """Whether neither Paddle nor Python opens a library, but some other part of the wheel."""
    path = Path(one.file)
    is_plugin = path.parent.name == "paddle_custom_device"
    return is_library(one.file) and path.name.startswith("lib") and not is_plugin


def _lent(one: Linkage) -> Finding | None:
    """Symbols that a helper does not link: who loads it may have loaded them before, for all."""
    lost = [*one.unlinked, *one.missing_symbols]
    if not lost:
        return None
    evidence = [Evidence(f"undefined symbol: {name}", one.file) for name in lost[:3]]
    values = {"file": one.file, "symbol": lost[0], "count": str(len(lost))}
    return Finding("unknown", "lent", values, evidence)


def _is_taken(subject: Subject, one: Linkage) -> bool:
    """Whether the trial has shown that the loader does without a library's missing symbols.

    Paddle opens what lies in that folder, and the loader names the first symbol that it cannot do
    without. So these explain nothing that comes later: that Paddle skips it, hangs or crashes.
    Without a trial it is known of what no Paddle has, and is looked up only when it is called.
    """
    loaded = subject.trial.loaded if subject.trial else None
    if not (loaded and subject.is_plugin and Path(one.file).parent.name == "paddle_custom_device"):
        return all(_CAPI.match(name) and name in one.late for name in one.missing_symbols)
    named = _named(subject)
    return named not in one.missing_symbols if named else loaded.verdict in _PAST_THE_LOADER


def _named(subject: Subject) -> str:
    """The symbol for which the loader has refused, "" for none."""
    loaded = subject.trial.loaded if subject.trial else None
    found = re.search(r"undefined symbol: ([^\s,]+)", loaded.line) if loaded else None
    return found[1] if found else ""


def _as_told(subject: Subject, one: Linkage) -> Linkage:
    """A library with the one symbol for which the loader has refused it, where that is known."""
    named = [name for name in one.missing_symbols if name == _named(subject)]
    return msgspec.structs.replace(one, missing_symbols=named or one.missing_symbols)


def _apart(subject: Subject, one: Linkage) -> list[Needed]:
    """What a library asks for that nobody can expect here."""
    return [need for need in subject.apart if need.of == one.file]


def _unlinked(one: Linkage) -> Finding | None:
    """Symbols of Paddle, without any of its libraries among those that are asked for.

    The loader then stops Paddle itself: `undefined symbol: PD_RegisterPhiKernel`.
    """
    lost = dict(one.unlinked)
    if not any(map(_is_paddle, one.needed)):
        lost |= {name: "libphi_core.so" for name in (*one.missing_symbols, *one.unsettled)
                 if name.startswith("PD_")}  # fmt: skip
    if not lost:
        return None
    name = next((name for name in lost if name.startswith("PD_")), next(iter(lost)))
    evidence = [Evidence(f"NEEDED {names((need.name for need in one.needed), 9)}", one.file)]
    evidence += [Evidence(f"undefined symbol: {name}", one.file)]
    values = {"file": one.file, "symbol": name, "library": lost[name].rpartition("/")[2]}
    return Finding("error", "unlinked", values, evidence, source=_SOURCE)


def _missing(one: Linkage) -> Finding | None:
    """Symbols that no library has: those of Paddle tell of another release."""
    if not one.missing_symbols:
        return None
    name = next((s for s in one.missing_symbols if _OURS.match(s)), one.missing_symbols[0])
    evidence = [Evidence(f"undefined symbol: {s}", one.file) for s in one.missing_symbols[:3]]
    values = {"file": one.file, "symbol": name, "count": str(len(one.missing_symbols))}
    return Finding("error", "paddle" if _OURS.match(name) else "missing", values, evidence,
                   source=_SOURCE)  # fmt: skip


def _further(one: Linkage) -> Finding | None:
    """Symbols that a library misses which this one brings with it."""
    for library, lost in one.further.items():
        evidence = [Evidence(f"undefined symbol: {name}", library) for name in lost[:3]]
        values = {"library": library, "symbol": lost[0], "file": one.file}
        return Finding("error", "further", values, evidence, source=_SOURCE)
    return None
