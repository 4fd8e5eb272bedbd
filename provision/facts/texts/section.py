"""Bytes of a saved output as lines, cut into sections at the commands that printed them."""

from __future__ import annotations

import codecs
import re

import msgspec

from provision.facts.texts.carried import lines

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"),
          (codecs.BOM_UTF16_BE, "utf-16-be"))  # fmt: skip
_PROMPT = re.compile(
    r"(?:\([\w.-]{1,40}\) ?)?"  # a virtual environment
    r"(?:(?:\[[^\]\s]{1,80}@[^\]]{1,120}\] ?|[\w.-]{1,60}@[\w.-]{1,80}:[^#$]{0,120}|"
    r"[~/][\w./-]{0,120})[#$] *|[#$] +|➜ +\S{1,80} +|❯ +)"
    r"(?P<line>\S.*)"
)
_PROGRAM = re.compile(r"(?:sudo +)?(?:[\w./~-]*/)?(?P<name>[\w.+-]{2,30})(?P<rest>(?: .*)?)$")
_ARGUMENTS = {
    "npu-smi": r" +(?:info|set|clear|upgrade|-v|-h|--help|--version)\b.*|",
    "efsmi": r"(?: +-.*| +dmon\b.*)?",
    "hccn_tool": r" +-.*",
    "lspci": r"(?: +-.*)?(?: *\|.*)?",
    "cat": r" +[/~$.].*",
    "ls": r" +[-/~].*",
    "pip": r" +(?:list|freeze)\b.*",
    "pip3": r" +(?:list|freeze)\b.*",
    "dpkg": r" +-.*",
    "dpkg-query": r" +-.*",
    "rpm": r" +-.*",
    "docker": r" +(?:inspect|container|image|network|info|version|ps|images)\b.*",
    "kubectl": r" +\w.*",
    "conda": r" +list\b.*",
    "uv": r" +pip +(?:list|freeze)\b.*",
    "uname": r" +-[a-z]{1,9}",
    "df": r"(?: +-\S+)+(?: +/\S*)*",
    "free": r"(?: +-\S+)+",
    "ulimit": r" +-a",
    "ldd": r" +--version",
    "python": r" +(?:-VV?|--version)",
    "python3": r" +(?:-VV?|--version)",
    "lsmod": r"(?: *\|.*)?",
    "dmesg": r"(?: +-\S+)*(?: *\|.*)?",
    "printenv": r"(?: *\|.*)?",
    "env": r" *\|.*",
}
_BANNER = re.compile(r"\bnpu-smi +\S{1,60} +Version:|\bEFSMI\b.{1,80}Driver Ver", re.IGNORECASE)


class Section(msgspec.Struct, frozen=True):
    """What one command printed. `command` is "" where the text does not show it."""

    command: str
    lines: list[str]

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


def decode(data: bytes) -> str | None:
    """Text in UTF-8, UTF-16 or GBK, told by its mark or by what fits; None for binary data."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    if b"\0" in data:
        wide = _without_mark(data)
        rest = data.replace(b"\0", b"")
        if wide is not None or (len(data) - len(rest)) * 100 > len(data):
            return wide
        data = rest  # a terminal's recording has a few
    for name in ("utf-8", "gb18030"):
        try:  # an incremental decoder forgives a last character that was cut
            return codecs.getincrementaldecoder(name)().decode(data)
        except UnicodeDecodeError:
            continue
    text = data.decode("utf-8", "replace")
    return text if text.count("\ufffd") * 10 <= len(text) else None


def _without_mark(data: bytes) -> str | None:
    """UTF-16 without its mark: most bytes of one half are zero, and no character is."""
    for name, zeros in (("utf-16-le", data[1::2]), ("utf-16-be", data[::2])):
        text = data.decode(name, "replace")
        if zeros.count(0) * 2 > len(zeros) and "\0" not in text:
            return text
    return None


def sections(text: str) -> list[Section]:
    """The sections of a text in its order; those in which nothing was printed are left out."""
    found = [Section("", [])]
    for line in lines(text):
        command = _command(line)
        if command:
            found.append(Section(command, []))
            continue
        if _BANNER.search(line) and any(_BANNER.search(seen) for seen in found[-1].lines):
            found.append(Section(found[-1].command, []))
        found[-1].lines.append(line)
    return [section for section in found if section.text.strip()]


def _command(line: str) -> str:
    """The command that a line shows, "" when it is output."""
    if not line or len(line) > 500:  # noqa: PLR2004 - no command line of a capture is longer
        return ""
    prompt = _PROMPT.fullmatch(line.strip())
    if prompt and (prompt.start("line") > 2 or line.lstrip()[0] == "$"):  # noqa: PLR2004
        return prompt["line"]
    shown = prompt["line"] if prompt else line  # "# " alone may begin a comment
    known = _PROGRAM.match(shown)
    pattern = _ARGUMENTS.get(known["name"]) if known else None
    return shown if known and pattern and re.fullmatch(pattern, known["rest"]) else ""
