"""`doctor --html`: one page that is well formed, needs nothing else, and says the same."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from checks.doctor import html, html_cards, html_versions, sent_folder
from checks.doctor.examine import Report, ask
from checks.doctor.html_picture import picture
from checks.doctor.html_row import link, memory
from provision import words
from provision.facts import snapshot_file
from provision.facts.kernel import Kernel
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread
from provision.paths import TEMPLATES
from provision.stack import load, stack_file
from tests.conftest import Cli
from tests.doctor.test_checks import BARE, plugin
from tests.doctor.values import CARD, ENVIRONMENT, MACHINE, PLUGIN, changed
from tests.read.drawn import npu_table
from tests.read.samples import B3, CANN, DRIVER, EFSMI, EFSMI_QUERY, b3

NAMESPACE = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>\"'&amp;]]>{{ 7*7 }}\x1b[2J\x00￾ 中"
SLOTS = ["0000:10:00.0", "0000:11:00.0", "0000:12:00.0"]
TOOLKIT = "/usr/local/Ascend/ascend-toolkit/8.0.1"
SICK = b3(1, health="Alarm")


def page(report: Report) -> ElementTree.Element:
    """The page as XML, which it has to be."""
    text = html.encode(report).decode("utf-8")
    assert text.startswith("<!DOCTYPE html>\n<html ")
    return ElementTree.fromstring(text)  # noqa: S314 - it is our own


def report(facts: Facts, **changes: Any) -> Report:
    sick = changed(facts, **changes)
    return Report(sick, ask(sick), 0.1)


def words_of(element: ElementTree.Element) -> str:
    return " ".join(" ".join(element.itertext()).split())


@pytest.fixture
def npu(healthy: Facts) -> Facts:
    """A made-up machine with three 910B cards, of which npu-smi shows two."""
    cards = [
        changed(CARD, slot=slot, numa_node=place // 2, link_speed_gt=16.0, max_link_speed_gt=16.0,
                link_width=8 * (place + 1), max_link_width=16)
        for place, slot in enumerate(SLOTS)
    ]  # fmt: skip
    outputs = [
        Output("npu-smi info", npu_table(B3, [b3(0), SICK], [])),
        Output("/usr/local/Ascend/driver/version.info", DRIVER),
        Output(f"{TOOLKIT}/aarch64-linux/ascend_toolkit_install.info", CANN),
    ]  # fmt: skip
    made: Facts = changed(
        healthy, target="ascend910b", device="npu", stack=load(stack_file("ascend910b")),
        accelerators=cards, outputs=outputs,
        environment=changed(ENVIRONMENT, packages={"paddlepaddle": "3.0.0", "numpy": "1.26.3"}),
    )  # fmt: skip
    return made


@pytest.mark.parametrize("language", words.LANGUAGES)
@pytest.mark.parametrize("changes", [{}, BARE, plugin("skipped"), {"machine": Unread("?")}])
def test_it_is_whole_and_needs_nothing_else(
    healthy: Facts, monkeypatch: pytest.MonkeyPatch, language: str, changes: dict[str, Any]
) -> None:
    monkeypatch.setenv("PADDOCK_LANG", language)
    made = report(healthy, **changes)
    root = page(made)
    assert root.get("lang") == {"en": "en", "zh": "zh-CN"}[language]
    names = {one.tag for one in root.iter()}
    assert not names & {NAMESPACE + name for name in ("script", "link", "img", "iframe", "object")}
    attributes = {name for one in root.iter() for name in one.attrib}
    assert not attributes & {"src", "href", "style", "onload", "srcset"}
    style = root.findtext(f".//{NAMESPACE}style") or ""
    assert "url(" not in style and "@import" not in style
    assert "prefers-color-scheme: dark" in style and "@media print" in style
    ids = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    assert {label for one in root.iter() if (label := one.get("aria-labelledby"))} <= set(ids)


def test_headings_go_down_by_one_and_tables_have_captions(npu: Facts) -> None:
    root = page(report(npu))
    levels = [int(one.tag[-1]) for one in root.iter() if re.fullmatch(rf"{NAMESPACE}h\d", one.tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    tables = list(root.iter(f"{NAMESPACE}table"))
    assert len(tables) == 3
    for table in tables:
        assert (table.findtext(f"{NAMESPACE}caption") or "").strip()
        assert all(one.get("scope") in ("col", "row") for one in table.iter(f"{NAMESPACE}th"))
        widths = {len(list(row)) for row in table.iter(f"{NAMESPACE}tr")}
        assert len(widths) == 1
    picture = next(root.iter(f"{SVG}svg"))
    assert picture.get("role") == "img" and picture.findtext(f"{SVG}title")


def test_every_value_is_escaped(npu: Facts) -> None:
    """A hostile text in every string of every fact, findings included."""
    closed = {"verdict", "kind", "layer", "stack"}  # of these not every text is a value

    def spoiled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: one if key in closed else spoiled(one) for key, one in value.items()}
        if isinstance(value, list):
            return [spoiled(one) for one in value]
        return f"{value}{HOSTILE}" if isinstance(value, str) else value

    facts = snapshot_file._facts(spoiled(msgspec.to_builtins(npu)))
    facts = changed(facts, plugin=changed(facts.plugin, verdict="skipped"))
    findings = [changed(one, values=dict.fromkeys(one.values, HOSTILE), source=HOSTILE,
                        command=HOSTILE) for one in ask(facts)]  # fmt: skip
    made = Report(facts, findings, 0.1)
    text = html.encode(made).decode()
    assert "<script" not in text and "\x1b" not in text and "\x00" not in text
    assert "{{" in text and "49" not in re.findall(r"amp;\]\]&gt;(.{2})", text)
    assert "alert(1)" in words_of(page(made))


def test_the_same_facts_are_the_same_bytes(npu: Facts) -> None:
    one, other = report(npu), Report(npu, ask(npu), 99.0)
    assert html.encode(one) == html.encode(other)


def test_what_follows_is_folded_under_its_cause(healthy: Facts) -> None:
    made = report(healthy, environment=changed(ENVIRONMENT, version=None, problem="gone"),
                  plugin=changed(PLUGIN, verdict="skipped"))  # fmt: skip
    follows = [one.id for one in made.findings if one.follows == "environment-python"]
    root = page(made)
    articles = list(root.iter(f"{NAMESPACE}article"))
    first = articles[0]
    details = first.find(f"{NAMESPACE}details")
    assert details is not None and follows
    assert all(
        f"({name})" in words_of(details).replace("( ", "(").replace(" )", ")") for name in follows
    )
    assert not any(name in words_of(one.find(f"{NAMESPACE}h3") or one) for one in articles[1:]
                   for name in follows)  # fmt: skip
    assert "paddock provision --target loopback --from env/python" in words_of(first)


def test_cards_of_the_bus_and_of_the_tool_are_put_together(npu: Facts) -> None:
    cards = html_cards.cards(npu)
    assert [card.slot for card in cards] == SLOTS
    assert [card.state.number if card.state else None for card in cards] == ["0", "1", None]
    assert [card.state.well for card in cards if card.state] == [True, False]
    assert memory(cards[0]).endswith("/ 64 GiB") and memory(cards[2]) == ""
    assert [card.narrowed for card in cards] == [True, False, False]
    assert "x16" in link(cards[0]) and link(cards[1]) == "16 GT/s x16"
    groups = html_cards.numa(cards)
    assert {node: len(found) for node, found in groups.items()} == {0: 2, 1: 1}
    drawn = picture(groups)
    assert [[box.tone for box in node.boxes] for node in drawn.nodes] == [["bad", "bad"], ["dim"]]
    boxes = [(box.x, box.y) for node in drawn.nodes for box in node.boxes]
    assert len(set(boxes)) == 3 and all(x + drawn.card[0] < drawn.wide for x, _ in boxes)
    assert all(y + drawn.card[1] < drawn.high for _, y in boxes)


def test_cards_that_only_a_tool_shows(healthy: Facts) -> None:
    outputs = [Output("efsmi", EFSMI), Output("efsmi -q", EFSMI_QUERY)]
    cards = html_cards.cards(changed(healthy, accelerators=Unread("?"), outputs=outputs))
    assert cards and all(card.device is None and card.state for card in cards)
    assert html_cards.numa(cards).keys() == {None}
    assert not html_cards.cards(changed(healthy, accelerators=Unread("?"), outputs=Unread("?")))


def test_many_cards_stay_in_their_node(npu: Facts) -> None:
    many = [changed(CARD, slot=f"0000:{n:02x}:00.0", numa_node=n // 9 - 1) for n in range(18)]
    drawn = picture(html_cards.numa(html_cards.cards(changed(npu, accelerators=many, outputs=[]))))
    assert [len(node.boxes) for node in drawn.nodes] == [9, 9]
    for node in drawn.nodes:
        assert all(node.y < box.y and box.y + drawn.card[1] < node.y + node.high
                   for box in node.boxes)  # fmt: skip


def test_versions_against_the_pins(npu: Facts) -> None:
    rows = {row.name: row for row in html_versions.rows(npu)}
    pins = npu.stack.releases[html_versions.release(npu)].pins
    assert rows["driver"].pinned == pins["driver"] and rows["driver"].found
    assert (rows["cann"].found, rows["cann"].same) == ("8.0.1", False)
    assert (rows["paddlepaddle"].found, rows["paddlepaddle"].same) == ("3.0.0", True)
    assert rows["numpy"].same is False and rows["plugin"].same is None
    unknown = html_versions.rows(changed(npu, outputs=Unread("?"), environment=Unread("?")))
    assert all((row.found, row.same) == (None, None) for row in unknown)


def test_the_module_tells_the_driver_of_enflame_cards(healthy: Facts) -> None:
    stack = load(stack_file("s60"))
    kernel = Kernel("1", None, None, None, [], None, None, None, None)
    sick = changed(healthy, target="s60", device="gcu", stack=stack, kernel=kernel,
                   outputs=[Output("efsmi", EFSMI)])  # fmt: skip
    rows = {row.name: row for row in html_versions.rows(sick)}
    assert rows["driver"].found and rows["driver"].where == "efsmi" and rows["tops"].found is None


@pytest.mark.parametrize(("runtime", "same"), [("1.2.0.301-1", True), ("1.0.5.1", False)])
def test_one_package_tells_the_version_of_the_tops_stack(
    healthy: Facts, runtime: str, same: bool
) -> None:
    """The others count on their own."""
    stack = load(stack_file("s60"))
    listed = f"ii  tops-sdk  3.1.2-1  amd64  demo\nii  topsruntime  {runtime}  amd64  demo\n"
    sick = changed(healthy, target="s60", device="gcu", stack=stack,
                   outputs=[Output("dpkg -l", listed)])  # fmt: skip
    rows = {row.name: row for row in html_versions.rows(sick)}
    assert (rows["tops"].found, rows["tops"].same) == (runtime.removesuffix("-1"), same)


def test_a_folder_s_files_and_the_unsent(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(npu_table(B3, [b3(0)], []))
    (tmp_path / "b<i>").write_text("nothing\n")
    made = sent_folder.examine("", tmp_path)
    root = page(made)
    shown = words_of(next(root.iter(f"{NAMESPACE}main")))
    assert "b<i>" in shown and "not sent" in shown
    unsent = sum(one.case == "unsent" for one in made.findings)
    assert f"not sent {unsent}" in shown and len(list(root.iter(f"{NAMESPACE}article"))) < unsent


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_all_colours_of_text_have_the_contrast_of_aa() -> None:
    style = (TEMPLATES / "pages" / "style.css").read_text(encoding="utf-8")
    schemes = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    assert len(schemes) == 2
    for scheme in schemes:
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", scheme))
        for name in ("text", "quiet", "error", "warning", "unknown", "absent", "ok"):
            for ground in ("page", "panel"):
                low, high = sorted(_luminance(colours[one]) for one in (name, ground))
                assert (high + 0.05) / (low + 0.05) >= 4.5, (name, ground)


def test_it_is_a_file_or_standard_output(cli: Cli, tmp_path: Path) -> None:
    made = cli("doctor", "--target", "loopback", "--html", "-", "--lang", "zh", LC_ALL="C")
    assert made.returncode == 0 and made.stdout.startswith("<!DOCTYPE html>")
    ElementTree.fromstring(made.stdout)  # noqa: S314 - it is our own
    file = tmp_path / "x.html"
    assert cli("doctor", "--target", "loopback", "--html", str(file)).stdout.count("next: ") == 1
    assert file.stat().st_size > 5000 and MACHINE.name not in file.read_text(encoding="utf-8")
    assert cli("doctor", "--list", "--html", str(file)).returncode == 2
