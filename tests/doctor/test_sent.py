"""`doctor --from FOLDER`: a machine that is known only by outputs which somebody sent."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.doctor import sent_folder
from checks.doctor.examine import Report, ask
from checks.doctor.junit import encode as junit
from checks.doctor.report import lines, status, to_json
from checks.doctor.sarif import encode as sarif
from checks.machine.finding import Check, Evidence, Finding, known, present
from provision.errors import PaddockError
from provision.facts import sent, sent_files, snapshot_file
from provision.facts.snapshot import UNSENT, Facts
from provision.stack import load, stack_file
from tests.conftest import Cli
from tests.read.drawn import npu_table
from tests.read.samples import (
    A3,
    A3_DIES,
    B3,
    DRIVER,
    EFSMI,
    EFSMI_NEW,
    EFSMI_QUERY,
    FIRMWARE,
    FIRST_910B,
    LSPCI_N,
    LSPCI_NN,
    PIP,
    b3,
)  # fmt: skip

RECORDINGS = os.environ.get("PADDOCK_TEST_RECORDINGS", "")
UNAME = "Linux box 5.10.0-60.18 #1 SMP Thu Jan 1 00:00:00 UTC 2026 aarch64 GNU/Linux\n"
INTEL = UNAME.replace("aarch64", "x86_64")
RELEASE = 'NAME="Demo"\nID=demo\nVERSION_ID="7"\nPRETTY_NAME="Demo Linux 7"\n'
MEMINFO = "MemTotal: 8388608 kB\nMemFree: 1048576 kB\nMemAvailable: 7340032 kB\n"
DEV = """\
total 0
crw-rw-rw- 1 root root       1, 3 Jan  1 00:00 null
crw-rw-rw- 1 root root       1, 5 Jan  1 00:00 zero
crw-rw-rw- 1 root root       1, 9 Jan  1 00:00 urandom
crw-rw---- 1 root HwHiAiUser 236, 0 Jan  1 00:00 davinci0
crw-rw---- 1 root HwHiAiUser 236, 1 Jan  1 00:00 davinci_manager
"""
WHOLE = "00:00.0 0600: 8086:0001 (rev 01)\n"
TABLE = npu_table(B3, [b3(0)], [])
FIRST_S60 = EFSMI_QUERY.partition("DEV ID 1")[0]
EIGHT = npu_table(B3, [b3(number) for number in range(8)], [])  # from 0000:10:00.0 on


def slots(*buses: str, ids: str = "19e5:d802") -> str:
    """What `lspci -n` shows of cards at these places."""
    return "".join(f"{bus} 1200: {ids} (rev 20)\n" for bus in buses)


def folder(path: Path, **files: str | bytes) -> Path:
    """A folder with these files; `__` in a name stands for a sub-folder, `_` for a dot."""
    for name, content in files.items():
        file = path / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def facts_of(path: Path, target: str = "") -> Facts:
    return sent_folder.examine(target, path).facts


def test_any_names_sub_folders_and_packed_files(tmp_path: Path) -> None:
    read = sent_files.read(folder(tmp_path, card=TABLE, below__x_gz=gzip.compress(UNAME.encode()),
                                  below__deep__y=RELEASE, notes_txt="hello\n"))  # fmt: skip
    assert [(one.source, one.real) for one in read.outputs] == [
        ("card", "card"),
        ("below/x.gz",) * 2,
    ]
    assert read.unrecognised == ["notes.txt"] and not read.conflicts


def test_the_text_s_own_prompt_names_the_source(tmp_path: Path) -> None:
    text = (
        f"[root@box ~]# cat /usr/local/Ascend/driver/version.info\n{DRIVER}"
        f"[root@box ~]# sudo /usr/local/bin/npu-smi info\n{TABLE}\nroot@box:~# uname -a\n{UNAME}"
    )
    read = sent_files.read(folder(tmp_path, session_log=text))
    sources = [one.source for one in read.outputs]
    assert sources == ["/usr/local/Ascend/driver/version.info", "npu-smi info", "uname -a"]
    assert {one.real for one in read.outputs} == {"session.log"}


def test_a_machine_of_outputs(tmp_path: Path) -> None:
    env = "$ env\nASCEND_RT_VISIBLE_DEVICES=0,1\nAPI_TOKEN=secret-7\nPATH=/usr/bin\n"
    made = facts_of(folder(
        tmp_path, a=UNAME, b=RELEASE, c=MEMINFO, d=WHOLE + LSPCI_N, e=env, f=PIP,
        g="Python 3.11.4\n", h="uid=1000(me) gid=7(me) groups=7(me),9(HwHiAiUser)\n", i=DEV,
    ))  # fmt: skip
    machine = known(made.machine)
    assert (machine.name, machine.arch, machine.cpus) == ("Demo Linux 7", "aarch64", None)
    assert machine.memory_available == 7 << 30
    assert [card.ids for card in known(made.accelerators)] == ["1e36:c033", "19e5:d802"]
    assert known(made.variables) == {"ASCEND_RT_VISIBLE_DEVICES": "0,1", "PATH": "/usr/bin"}
    environment = present(made.environment)
    assert environment.version == "3.11.4" and not environment.own
    assert environment.packages["paddlepaddle"] == "3.0.0"
    assert [(node.path, node.mode, node.writable) for node in known(made.nodes)] == [
        ("/dev/davinci0", "0660", True), ("/dev/davinci_manager", "0660", True),
    ]  # fmt: skip
    assert made.disk == made.plugin == made.leftover == made.folders == UNSENT


@pytest.mark.parametrize(
    ("files", "target"),
    [
        ({"a": LSPCI_N.splitlines()[0]}, "ascend910b"),
        ({"a": "08:00.0 1200: 1e36:c035 (rev 01)"}, "s60"),
        ({"a": TABLE}, "ascend910b"),
        ({"a": EFSMI}, "s60"),
        ({"a": DRIVER}, "ascend910b"),
        ({"a": UNAME}, "loopback"),
        ({"a": f"{UNAME}$ npu-smi info\nbash: npu-smi: command not found\n"}, "loopback"),
        ({"a": "# on the host\nbash: npu-smi: command not found\n"}, "ascend910b"),
        ({"a": "28:00.0 1200: 19e5:d801 (rev 20)\n"}, "ascend910b"),
        ({"a": "28:00.0 1200: 1e36:c033 (rev 01)\n"}, "s60"),
        ({"a": "28:00.0 1200: 19e5:d801 (rev 20)\n29:00.0 1200: 1e36:c035\n"}, "s60"),
    ],
)
def test_the_target_is_what_the_outputs_show(
    tmp_path: Path, files: dict[str, str], target: str
) -> None:
    assert facts_of(folder(tmp_path, **files)).target == target
    assert facts_of(tmp_path, "loopback").target == "loopback"


def test_outputs_of_two_kinds_of_cards_need_the_target(tmp_path: Path) -> None:
    with pytest.raises(PaddockError) as caught:
        facts_of(folder(tmp_path, a=EFSMI, b=TABLE))
    assert "ascend910b" in str(caught.value) and "s60" in str(caught.value)
    assert facts_of(tmp_path, "s60").target == "s60"


REFUSED = "dcmi module initialize failed. ret is -8005\n"
FIRST_TABLE = npu_table(B3, FIRST_910B, [])


@pytest.mark.parametrize(
    ("files", "check", "expected"),
    [
        ({"a": REFUSED}, "npu-tool", "error unreached"),
        ({"a": REFUSED, "b": TABLE}, "npu-tool", "warning sometimes"),
        ({"a": TABLE}, "npu-tool", "ok ok"),
        ({"a": "sh: 1: npu-smi: not found\n"}, "npu-tool", "error unfound"),
        ({"a": FIRST_TABLE}, "accelerator-generation", "error other"),
        ({"a": npu_table(A3, A3_DIES, [])}, "accelerator-generation", "error other"),
        ({"a": TABLE}, "accelerator-generation", "ok ok"),
        ({"a": npu_table(B3, [b3(0)._replace(name="910B")], [])}, "accelerator-generation",
         "unknown unsent"),
        ({"a": EFSMI}, "accelerator-generation", "ok ok"),
        ({"a": EFSMI_NEW}, "accelerator-generation", "error other"),
        ({"a": EFSMI}, "gcu-ecc", "warning mixed"),
        ({"a": TABLE}, "accelerator-known", "ok ok"),
        ({"a": EFSMI}, "accelerator-known", "ok ok"),
        ({"a": EFSMI_QUERY}, "accelerator-known", "unknown unsent"),
        ({"a": FIRST_TABLE}, "accelerator-known", "follows ok"),
        ({"a": TABLE}, "accelerator-count", "unknown unsent"),
        ({"a": TABLE}, "accelerator-link", "unknown unsent"),
        ({"a": TABLE, "b": UNAME, "c": RELEASE}, "machine-system", "warning unlisted"),
        ({"a": TABLE, "b": f"$ docker ps\n{UNAME}"}, "machine-system", "unknown unsent"),
    ],
)  # fmt: skip
def test_one_output_tells_the_cause(
    tmp_path: Path, files: dict[str, str], check: str, expected: str
) -> None:
    report = sent_folder.examine("", folder(tmp_path, **files))
    found = next(one for one in report.findings if one.id == check)
    assert f"{found.state} {found.case or 'ok'}" == expected
    assert found.state == "ok" or found.case == "unsent" or found.evidence


@pytest.mark.parametrize(
    ("files", "machine"),
    [
        ({"a": EIGHT}, "8 x 910B3 (npu-smi)"),
        ({"a": EIGHT, "b": WHOLE}, "8 x 910B3 (npu-smi)"),
        ({"a": EIGHT, "b": RELEASE, "c": UNAME}, "8 x 910B3 (npu-smi), Demo Linux 7 aarch64"),
        ({"a": EIGHT, "b": slots("10:00.0")}, "1 x Ascend 910B (19e5:d802)"),
        ({"a": EIGHT[: EIGHT.index("| 2 ")]}, "at least 2 x 910B3 (npu-smi; there may be more)"),
        ({"a": npu_table(B3, [b3(0), b3(1, name="910B4")], [])},
         "1 x 910B3, 1 x 910B4 (npu-smi)"),
        ({"a": npu_table(A3, A3_DIES, [])}, "1 x Ascend910 (npu-smi)"),
        ({"a": EFSMI}, "3 x Enflame S60 (efsmi)"),
        ({"a": f"$ efsmi -q -i 0\n{FIRST_S60}$ efsmi -q\n{FIRST_S60}"},
         "at least 1 x S60 (efsmi; there may be more)"),
        ({"a": EFSMI_QUERY}, ""),
        ({"a": WHOLE}, "no accelerator"),
        ({"a": "dcmi module initialize failed. ret is -8005\n"}, ""),
    ],
)  # fmt: skip
def test_without_the_bus_the_vendor_s_tool_tells_of_the_cards(
    tmp_path: Path, files: dict[str, str], machine: str
) -> None:
    made = sent_folder.examine("", folder(tmp_path, **files))
    assert to_json(made)["machine"] == machine
    assert made.facts.accelerators == UNSENT or "b" in files or files["a"] == WHOLE


LOG = """\
Traceback (most recent call last):
  File "run.py", line 3, in <module>
ImportError: libascend_hal.so: cannot open shared object file: No such file or directory
RuntimeError: Failed to load the backend extension: torch_npu.
"""


@pytest.mark.parametrize("beside", [{}, {"card": TABLE}])
def test_a_log_tells_the_first_cause(tmp_path: Path, beside: dict[str, str]) -> None:
    report = sent_folder.examine("", folder(tmp_path, run_log=LOG, notes="hello\n", **beside))
    found = next(one for one in report.findings if one.id == "sent-log")
    assert (found.state, found.case, found.command) == ("warning", "known", "paddock explain K097")
    assert [line.where for line in found.evidence] == ["run.log"] * len(found.evidence)
    assert report.sent and report.sent.unrecognised == ["notes"]


@pytest.mark.parametrize(("language", "indent"), [("en", 13), ("zh", 11)])
def test_what_to_type_stands_alone_below_the_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, indent: int
) -> None:
    monkeypatch.setenv("PADDOCK_LANG", language)
    shown = lines(sent_folder.examine("", folder(tmp_path, run_log=LOG)), colour=False)
    place = shown.index(" " * indent + "paddock explain K097")
    assert "davinci_manager" in shown[place - 1] and "paddock" not in shown[place - 1]


def test_a_log_is_kept_by_its_telling_lines_without_secrets(tmp_path: Path) -> None:
    proxy = "http://me:secret-7@proxy:80 "
    long = "x" * 9000 + proxy + LOG.splitlines()[2] + "y" * 9000
    report = sent_folder.examine("", folder(tmp_path, run_log="fine\n" * 9 + long, big=b"\0" * 99))
    texts = [one.text for one in known(report.facts.outputs)]
    assert len(texts) == 1 and "libascend_hal.so" in texts[0] and len(texts[0]) < 2000
    assert "secret-7" not in texts[0] and "fine" not in texts[0]
    with pytest.raises(PaddockError) as caught:
        sent_folder.examine("", folder(tmp_path / "other", notes="hello\n"))
    assert caught.value.code == "nothing-sent"


def test_no_card_in_some_lines_of_lspci_is_not_no_card(tmp_path: Path) -> None:
    network = "01:00.0 0200: 8086:0001 (rev 01)\n"
    assert facts_of(folder(tmp_path, a=network)).accelerators == UNSENT
    assert facts_of(folder(tmp_path, a=WHOLE + network)).accelerators == []
    grep = f"$ lspci -n | grep 8086\n{WHOLE}"
    assert facts_of(folder(tmp_path, a=grep)).accelerators == UNSENT


def test_some_device_nodes_are_not_all_and_a_listing_needs_its_user(tmp_path: Path) -> None:
    one = "crw-rw---- 1 root root 236, 0 Jan  1 00:00 /dev/davinci0\n"
    assert facts_of(folder(tmp_path, a=one, b="uid=0(root) gid=0(root)\n")).nodes == UNSENT
    (tmp_path / "b").unlink()
    assert facts_of(folder(tmp_path, a=DEV)).nodes == UNSENT
    made = facts_of(folder(tmp_path, b="uid=7(x) gid=7(x) groups=7(x)\n"))
    assert [node.readable for node in known(made.nodes)] == [False, False]


def test_what_was_not_sent_is_one_line_and_unknown(tmp_path: Path) -> None:
    made = sent_folder.examine("", folder(tmp_path, a=INTEL, b=RELEASE, c="ldd (X) 2.34\n"))
    unsent = [one for one in made.findings if one.case == "unsent"]
    assert len(unsent) > 5 and {one.state for one in unsent} == {"unknown"}
    shown = lines(made, colour=False)
    assert sum(f": {len(unsent)}" in line for line in shown) == 1
    assert not any(f"[{one.id}]" in line for one in unsent for line in shown)
    assert (status(made), status(made, strict=True)) == (12, 11)
    by_id = {one["id"]: one for one in json.loads(json.dumps(to_json(made)))["findings"]}
    assert by_id["machine-disk"]["state"] == "unknown" and by_id["machine-disk"]["what"]
    assert to_json(made)["sent"] == {"used": ["a", "b", "c"], "unrecognised": [], "conflicts": []}
    assert b"Not sent" in junit(made) and b"Not sent" in sarif(made)


def _needs_firmware(facts: Facts) -> Finding:
    """A check that takes a file for absent which is not among the outputs."""
    paths = [one.source for one in known(facts.outputs)]
    if not any("firmware" in path for path in paths):
        evidence = Evidence("no such file", "/usr/local/Ascend/firmware/version.info")
        return Finding("error", "absent", {}, [evidence])
    return Finding("ok", evidence=[Evidence("1", next(p for p in paths if "firmware" in p))])


@pytest.mark.parametrize("name", ["driver", "a", "version_info", "local__Ascend"])
def test_a_file_that_was_not_sent_is_not_a_file_that_is_not_there(
    tmp_path: Path, name: str
) -> None:
    """Whatever the name of a file, it is not the place that a check names."""
    check = Check("machine-os", _needs_firmware)
    facts = facts_of(folder(tmp_path / "one", **{name: DRIVER}))
    assert [(one.state, one.case) for one in ask(facts, [check])] == [("unknown", "unsent")]
    facts = facts_of(folder(tmp_path / "other", firmware=FIRMWARE))
    assert [one.state for one in ask(facts, [check])] == ["ok"]


def test_files_that_contradict_each_other_are_named_and_not_used(tmp_path: Path) -> None:
    other = npu_table(B3, [b3(1)], [])
    made = sent_folder.examine("", folder(tmp_path, one=TABLE, two=other, uname=INTEL, same=INTEL))
    assert made.sent is not None
    assert [(one.kind, one.files) for one in made.sent.conflicts] == [
        ("npu-smi info", ["one", "two"])
    ]
    assert [one.real for one in made.sent.outputs] == ["same", "uname"]
    assert any("one, two" in line and line.startswith("!") for line in lines(made, colour=False))
    assert status(made) == 12


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (LSPCI_NN, LSPCI_N, True),
        (WHOLE + LSPCI_N, LSPCI_N.splitlines()[0], False),
        ("$ uname -r\n5.10.0-60\n", "$ uname -m\naarch64\n", False),
        ("$ uname -r\n5.10.0-60\n", "$ uname -r\n5.10.0-61\n", True),
        (PIP, "paddlepaddle==3.1.0\n", True),
        (PIP, "paddlenlp==3.1.0\n", False),
        (DRIVER, FIRMWARE, False),
    ],
)
def test_what_contradicts(tmp_path: Path, one: str, other: str, differ: bool) -> None:
    assert bool(sent_files.read(folder(tmp_path, a=one, b=other)).conflicts) is differ


SIXTEEN = [f"{bus:02x}:00.0" for bus in range(0x28, 0x38)]


@pytest.mark.parametrize(
    ("files", "conflict"),
    [
        ({"a": EIGHT, "b": slots(*SIXTEEN)}, "Bus-Id: lspci, npu-smi info"),
        ({"a": EIGHT, "b": slots("10:00.0", "80:00.0")}, "Bus-Id: lspci, npu-smi info"),
        ({"a": EIGHT, "b": slots("0001:10:00.0")}, "Bus-Id: lspci, npu-smi info"),
        ({"a": EIGHT, "b": WHOLE + slots("10:00.0", ids="1e36:c035")},
         "Bus-Id: lspci, npu-smi info"),
        ({"a": EFSMI, "b": slots("25:00.0", ids="1e36:c035")}, "Bus-Id: efsmi, lspci"),
        ({"a": EFSMI, "b": EFSMI_QUERY}, "Bus-Id: efsmi, efsmi -q"),
        ({"a": EIGHT, "b": slots("10:00.0", ids="1e36:c035")}, ""),
        ({"a": EIGHT, "b": slots("11:00.0")}, ""),
        ({"a": EIGHT, "b": slots(*(f"{bus:02x}:00.0" for bus in range(0x10, 0x20)))}, ""),
        ({"a": EIGHT, "b": WHOLE}, ""),
        ({"a": EFSMI, "b": slots("0000:41:00.0", "0000:44:00.0", ids="1e36:c035")},
         "Bus-Id: efsmi, lspci"),
        ({"a": EFSMI, "b": slots("0000:41:00.0", "0000:42:00.0", ids="1e36:c035")}, ""),
    ],
)  # fmt: skip
def test_cards_at_other_places_are_those_of_another_machine(
    tmp_path: Path, files: dict[str, str], conflict: str
) -> None:
    made = sent_folder.examine("ascend910b", folder(tmp_path, **files, c=INTEL))
    assert made.sent is not None
    told = [(one.kind, sorted(one.files)) for one in made.sent.conflicts]
    assert told == ([(conflict, ["a", "b"])] if conflict else [])
    used = ["c"] if conflict else ["a", "b", "c"]
    assert sorted(one.real for one in made.sent.outputs) == used
    assert not conflict or status(made) == 12


def test_a_folder_without_outputs_tells_what_to_run(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    made = cli("doctor", "--from", str(tmp_path / "in"))
    assert (
        made.returncode == 2
        and "ask npu-smi info\n" in made.stdout
        and "outputs.txt" in made.stderr
        and "The folder is empty" in made.stderr
    )
    script = tmp_path / "ask.sh"
    script.write_text(made.stdout)
    subprocess.run(["sh", str(script)], cwd=tmp_path / "in", check=True)
    again = cli("doctor", "--from", str(tmp_path / "in"), "--json")
    told = json.loads(again.stdout)
    assert again.returncode in (11, 12) and told["facts"]["machine"]["arch"] == os.uname().machine
    assert told["sent"]["used"] == ["outputs.txt"] and not told["sent"]["conflicts"]
    folder(tmp_path / "other", a="nothing that is known\n", b=bytes(range(256)))
    refused = cli("doctor", "--from", str(tmp_path / "other"), "--json")
    error = json.loads(refused.stdout)
    assert error["code"] == "nothing-sent" and "a, b" in error["cause"] and error["details"]


def test_a_snapshot_in_a_folder_is_named(cli: Cli, healthy: Facts, tmp_path: Path) -> None:
    file = tmp_path / "good.json"
    file.write_bytes(snapshot_file.encode(healthy))
    made = cli("doctor", "--from", str(tmp_path))
    assert made.returncode == 2 and f"--from {file}" in made.stderr


def test_a_snapshot_of_a_folder_says_the_same(tmp_path: Path) -> None:
    made = sent_folder.examine("", folder(tmp_path, a=UNAME, b=TABLE))
    file = tmp_path / "x.json"
    file.write_bytes(snapshot_file.encode(made.facts))
    assert ask(snapshot_file.read(str(file)).facts) == made.findings


@pytest.mark.slow
@given(
    st.lists(
        st.sampled_from(
            [
                *TABLE.splitlines(),
                *EFSMI.splitlines(),
                *DEV.splitlines(),
                *LSPCI_NN.splitlines(),
                UNAME,
                RELEASE,
                MEMINFO,
                "$ id",
                "\0",
                "|",
            ]
        )
    )
)
def test_damaged_outputs_are_an_examination_or_an_error_with_a_name(rows: list[str]) -> None:
    outputs = list(sent_files._outputs("x", "\n".join(rows)))
    for target in ("ascend910b", "s60"):
        facts = sent.facts(load(stack_file(target)), outputs)
        assert not [one for one in ask(facts) if one.case == "crashed"]


@pytest.mark.skipif(not RECORDINGS, reason="PADDOCK_TEST_RECORDINGS is not set")
def test_recordings_as_a_folder(tmp_path: Path) -> None:
    for path in sorted(Path(RECORDINGS).glob("*/*.txt")):
        place = tmp_path / path.stem
        place.mkdir()
        (place / "x").write_bytes(path.read_bytes())
        try:
            made: Report = sent_folder.examine("", place)
        except PaddockError as error:
            assert error.code in ("nothing-sent", "bad-option")
        else:
            assert status(made) in (10, 11, 12)
            assert not [one for one in made.findings if one.case == "crashed"]


def test_a_tool_s_answer_of_no_known_layout_is_still_its_answer(tmp_path: Path) -> None:
    read = sent_files.read(folder(tmp_path, a="$ efsmi\nsomething went wrong\n$ ls\nx y\n"))
    assert [(one.source, one.problem) for one in read.outputs] == [("efsmi", "")]
    absent = "$ efsmi\nsh: 1: efsmi: not found\n"
    read = sent_files.read(folder(tmp_path, a=absent))
    assert [(one.source, one.problem) for one in read.outputs] == [("efsmi", "absent")]
