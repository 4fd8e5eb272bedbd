"""Each text of the folder reads as the JSON beside it, and every parser has one."""

from __future__ import annotations

import pytest

from provision.facts.texts.reading import PARSERS, Parser, read
from provision.facts.texts.section import sections
from tests.read.samples import EXPECTED, FOLDER, SAMPLES

ALL = [section for _, text in SAMPLES.values() for section in sections(text)]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_text_reads_as_the_json_beside_it(name: str) -> None:
    assert read(SAMPLES[name][1]) == {"schema": "paddock/read/1", **EXPECTED[name]}


def test_no_text_lacks_its_json() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(EXPECTED)


@pytest.mark.parametrize(
    "parser", PARSERS, ids=lambda parser: f"{parser.__module__}.{parser.__name__}"
)
def test_every_parser_reads_a_sample(parser: Parser) -> None:
    assert any(parser(section) for section in ALL)


@pytest.mark.parametrize(
    "text",
    [
        "The id of the user is uid=0 as you see.\n",
        "Python 3.10.12 is needed, and glibc 2.31.\n",
        "Install:\n\nexport PATH=/opt:$PATH\nexport HOME=/root\nexport USER=me\nexport SHELL=sh\n",
        "PATH=/opt/bin\nrun the program\nand wait\nuntil it ends\n",
        "name 1234 5\nother 678 9\n",
        "total used free\nthree words\n",
        "Filesystem is full, used 100%\n/dev/vda1 is the one\n",
        "enflame is ready at [12:00]\nthe kernel: all is well\n",
        "Client: our best one\nServer: theirs\nVersion: 3\n",
        "open files (-n) are 1024\n",
        "Linux is a system of 5.10 parts, x86_64 among them\n",
        "MemTotal: the memory\nMemFree: what is free of it\n",
        '{"ServerVersion": "1"}\n',
        '{"devices": [{"id": 0, "name": "disk"}]}\n',
        "ID=7\nNAME=me\n",
        "-rw-r--r-- 1 root root 12 Jan  1 00:00 notes.txt\n",
    ],
)  # fmt: skip
def test_ordinary_words_are_nothing(text: str) -> None:
    assert read(text)["kind"] is None
