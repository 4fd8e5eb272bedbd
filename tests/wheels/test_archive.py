"""Archives that no installer should unpack are told by what is wrong with them."""

from __future__ import annotations

import stat
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.wheels import archive
from checks.wheels.audit import audit
from checks.wheels.place import Place
from provision.errors import PaddockError
from tests.conftest import ROOT
from tests.wheels import make
from tests.wheels.conftest import Auditor, cases

SOUND = {make.INIT: b"x = 1\n"}
NOWHERE = Place("loopback", "tiny", None)


def entry(name: str, kind: int = 0) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (kind | 0o644) << 16
    return info


def spoilt(tmp_path: Path, name: str, content: bytes = b"", kind: int = 0) -> Path:
    """A sound wheel with one more member."""
    path = make.sound(tmp_path, SOUND)
    with zipfile.ZipFile(path, "a") as whole:
        whole.writestr(entry(name, kind), content)
    return path


@pytest.mark.parametrize(
    ("name", "kind", "case"),
    [
        ("../outside.py", 0, "outside"),
        ("paddle/../../outside.py", 0, "outside"),
        ("/etc/cron.d/outside", 0, "outside"),
        ("C:/outside.py", 0, "outside"),
        ("..\\outside.py", 0, "outside"),
        ("paddle_custom_device/link.so", stat.S_IFLNK, "link"),
        ("paddle_custom_device/pipe", stat.S_IFIFO, "special"),
        (make.INIT, 0, "twice"),
        (f"./{make.INIT}", 0, "twice"),
        (f"{make.INIT}/below.py", 0, "twice"),
        (f"{make.INIT}/", 0, "twice"),
        (f"x-1.data/platlib/{make.INIT}", 0, "twice"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_would_land_where_it_should_not(
    tmp_path: Path, alone: Auditor, name: str, kind: int, case: str
) -> None:
    assert cases(alone(spoilt(tmp_path, name, b"../../x", kind))) == {
        "wheel-archive": f"error {case}"
    }


def test_the_folders_of_a_wheel_s_own_data_are_taken_for_what_they_become() -> None:
    where = {name: str(archive.installed(name)) for name in (
        "x-1.data/purelib/a/b.py", "x-1.data/data/lib/python3.11/site-packages/paddle/c.so",
        "x-1.data/scripts/tool", "a/b.py", "x-1.data/data/share/doc",
    )}  # fmt: skip
    assert list(where.values()) == [
        "a/b.py", "paddle/c.so", "x-1.data/scripts/tool", "a/b.py", "x-1.data/data/share/doc",
    ]  # fmt: skip


def test_cut_short_at_any_place_it_is_damaged(tmp_path: Path, alone: Auditor) -> None:
    path = make.sound(tmp_path, {**SOUND, "data.bin": make.noise(5000)})
    whole = path.read_bytes()
    for length in (0, 1, 30, 700, len(whole) // 2, len(whole) - 30, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert cases(alone(path)) == {"wheel-archive": "error damaged"}, length


def test_a_changed_byte_of_the_content_is_found(tmp_path: Path, alone: Auditor) -> None:
    path = make.sound(tmp_path, {**SOUND, "data.bin": make.noise(5000)})
    content = bytearray(path.read_bytes())
    content[2000] ^= 1
    path.write_bytes(content)
    assert cases(alone(path)) == {"wheel-archive": "error damaged"}


def test_an_encrypted_member(tmp_path: Path, alone: Auditor) -> None:
    path = make.sound(tmp_path, SOUND)
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\1\2") + 8
    content[at] |= 1
    path.write_bytes(content)
    assert cases(alone(path)) == {"wheel-archive": "error encrypted"}


def test_a_bomb_of_much_from_little(tmp_path: Path, alone: Auditor) -> None:
    path = make.sound(tmp_path, SOUND)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as whole:
        whole.writestr("zeros.so", bytes(257 << 20))
    assert path.stat().st_size < 2 << 20
    assert cases(alone(path)) == {"wheel-archive": "error bomb"}


def test_a_bomb_whose_members_share_their_bytes(tmp_path: Path, alone: Auditor) -> None:
    path = make.sound(tmp_path, SOUND)
    with zipfile.ZipFile(path, "a") as whole:
        whole.writestr("one.bin", make.noise(90_000))
        twin = entry("two.bin")
        source = whole.getinfo("one.bin")
        for name in ("header_offset", "compress_size", "file_size", "CRC"):
            setattr(twin, name, getattr(source, name))
        whole.filelist.append(twin)
        whole.NameToInfo["two.bin"] = twin
        whole._didModify = True  # type: ignore[attr-defined]
    assert cases(alone(path)) == {"wheel-archive": "error overlap"}


@pytest.mark.parametrize(
    ("field", "case"),
    [("compress_size", "overlap"), ("header_offset", "overlap"), ("CRC", "damaged")],
)
def test_a_table_of_contents_that_lies(
    tmp_path: Path, alone: Auditor, field: str, case: str
) -> None:
    """A size without bytes behind it is no reason to say that this disk is full."""
    path = make.sound(tmp_path, SOUND)
    with zipfile.ZipFile(path, "a") as whole:
        whole.writestr("liar.so", b"\x7fELF" + make.noise(100))
        setattr(whole.getinfo("liar.so"), field, 1 << 60 if field != "CRC" else 7)
    assert cases(alone(path)) == {"wheel-archive": f"error {case}"}


@pytest.mark.parametrize("place", [6, 8, 14, 18, 22])  # flags, method, digest and both sizes
def test_a_header_that_says_something_else_than_the_table_of_contents(
    tmp_path: Path, alone: Auditor, place: int
) -> None:
    """Python goes by the table, other tools by the header."""
    path = make.sound(tmp_path, SOUND)
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    assert cases(alone(path)) == {"wheel-archive": "error damaged"}


@pytest.mark.parametrize("name", ["d/" * 30_000 + "a.so", "a" * 256 + ".so", ("b" * 99 + "/") * 25])
def test_a_name_that_no_file_can_have(tmp_path: Path, alone: Auditor, name: str) -> None:
    assert cases(alone(spoilt(tmp_path, name, b"\x7fELF"))) == {"wheel-archive": "error long"}


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_that_not_every_installer_unpacks(
    tmp_path: Path, alone: Auditor, method: int
) -> None:
    path = make.sound(tmp_path, SOUND)
    with zipfile.ZipFile(path, "a", method) as whole:
        whole.writestr("more.txt", b"more" * 100)
    assert cases(alone(path)) == {"wheel-archive": "error packed"}


def test_a_list_of_files_that_cannot_be_read(tmp_path: Path, alone: Auditor) -> None:
    def change(files: dict[str, bytes]) -> None:
        files["tiny-3.3.1.dist-info/RECORD"] = b'"' + b"a" * 200_000

    path = make.sound(tmp_path, SOUND, change=change)
    assert cases(alone(path)) == {"wheel-archive": "error damaged"}


def test_a_bomb_that_lies_about_its_size_is_not_unpacked_further(
    tmp_path: Path, alone: Auditor
) -> None:
    path = make.sound(tmp_path, SOUND)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as whole:
        whole.writestr("liar.so", bytes(100 << 20))
        whole.getinfo("liar.so").file_size = 100
        whole.getinfo("liar.so").CRC = zlib.crc32(bytes(100))
    before = sum(one.stat().st_size for one in tmp_path.iterdir())
    assert cases(alone(path)) == {"wheel-archive": "error damaged"}
    assert sum(one.stat().st_size for one in tmp_path.iterdir()) == before


def test_a_table_of_contents_that_is_far_too_long_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "paddle_custom_tiny-3.3.1-py3-none-any.whl"
    size = 1 << 30
    with path.open("wb") as file:
        file.truncate(size)
        file.seek(size)
        file.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 9, 9, size, 0, 0))
    code = (
        "import re, sys; from pathlib import Path\n"
        "from tests.wheels.test_archive import NOWHERE; from checks.wheels.audit import audit\n"
        "print(audit(Path(sys.argv[1]), NOWHERE, importing=False).findings[0].case)\n"
        # Not ru_maxrss, in which the memory of the parent is.
        "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])"
    )
    done = subprocess.run([sys.executable, "-c", code, path], cwd=ROOT, capture_output=True,
                          text=True, check=True, timeout=60)  # fmt: skip
    case, peak = done.stdout.split()
    assert case == "bomb"
    assert int(peak) < 150 * 1024


def test_what_is_no_file_is_a_mistake_of_the_command(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.whl", tmp_path, Path("/dev/null")):
        with pytest.raises(PaddockError) as error:
            audit(path, NOWHERE, importing=False)
        assert error.value.code == "bad-wheel"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_bytes_changed_at_random_never_crash_the_audit(data: st.DataObject) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = make.sound(Path(folder), {**SOUND, make.LIBRARY: b"\x7fELF" + bytes(200)})
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 6))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        found = cases(audit(path, NOWHERE, importing=False))
        assert "unknown crashed" not in found.values()


def test_nothing_of_the_limits_reaches_a_sound_one(tmp_path: Path, alone: Auditor) -> None:
    many = {f"paddle_custom_device/data/{n}.txt": b"%d" % n for n in range(3000)}
    made = alone(make.sound(tmp_path, {**SOUND, **many}))
    assert cases(made) == {}
