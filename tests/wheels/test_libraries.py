"""Libraries made by a real compiler, each with one fault, in wheels that are sound otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.wheels import links
from checks.wheels.audit import Audit, audit
from checks.wheels.place import find
from checks.wheels.subject import Trial
from provision.facts.loading import Loaded, Verdict
from tests.wheels import make
from tests.wheels.conftest import Auditor, cases

USES = "int PD_RegisterPhiKernel(void); int f(void) { return PD_RegisterPhiKernel(); }"
ORIGIN = "-Wl,-rpath,$ORIGIN/../paddle/libs"


def wheel(folder: Path, library: bytes | Path, tag: str = make.HERE) -> Path:
    content = library if isinstance(library, bytes) else library.read_bytes()
    return make.sound(folder, {make.INIT: b"", make.LIBRARY: content}, tag=tag)


@pytest.fixture
def core(paddle: Path) -> str:
    """Paddle's library with the C API, to link with."""
    return str(next(paddle.glob("lib/python3.*/site-packages/paddle/libs/libphi_core.so")))


def of(made: Audit, name: str) -> str:
    """The sentence and the evidence of one finding."""
    one = next(finding for finding in made.findings if finding.id == name)
    return " ".join([one.part("what"), *(f"{e.line} {e.where}" for e in one.evidence)])


def test_one_that_links_paddle_and_finds_it_beside_itself(
    tmp_path: Path, against: Auditor, alone: Auditor, core: str
) -> None:
    path = wheel(tmp_path, make.compiled(tmp_path, USES, core, ORIGIN))
    assert cases(against(path)) == {}
    assert cases(alone(path)) == {"wheel-surroundings": "unknown paddle"}


def test_one_that_does_not_link_paddle(tmp_path: Path, against: Auditor, alone: Auditor) -> None:
    path = wheel(tmp_path, make.compiled(tmp_path, USES))
    for auditor in (against, alone):  # it can be told without any Paddle, too
        made = auditor(path)
        assert cases(made) == {"wheel-symbols": "error unlinked"}
        assert "PD_RegisterPhiKernel" in of(made, "wheel-symbols")


def test_one_that_asks_for_paddle_by_a_path_of_its_build(tmp_path: Path, against: Auditor) -> None:
    code = "int PD_RegisterPhiKernel(void) { return 1; }"
    nameless = make.compiled(tmp_path / "paddle", code, name="libphi_core.so")
    made = against(wheel(tmp_path, make.compiled(tmp_path, USES, str(nameless))))
    assert cases(made) == {"wheel-runpath": "error build"}
    assert str(nameless.parent) in of(made, "wheel-runpath")


def test_one_for_another_paddle(tmp_path: Path, against: Auditor, core: str) -> None:
    code = "int PD_OfTomorrow(void); int f(void) { return PD_OfTomorrow(); }"
    flags = (core, ORIGIN, "-Wl,--no-as-needed", core)
    path = wheel(tmp_path, make.compiled(tmp_path, code, *flags))
    assert cases(against(path)) == {"wheel-symbols": "error paddle"}


@pytest.mark.parametrize("name", ["lost_in_space", "_ZNK3phi4capi6Scalar2toIfEET_v"])
def test_a_symbol_that_nobody_has(tmp_path: Path, against: Auditor, name: str) -> None:
    """The second is of phi::capi, which no release of Paddle has in a library."""
    code = f"int {name}(void); int f(void) {{ return {name}(); }}"
    made = against(wheel(tmp_path, make.compiled(tmp_path, code, "-Wl,-z,now")))
    assert cases(made) == {"wheel-symbols": "error missing"}
    assert make.LIBRARY in of(made, "wheel-symbols")
    assert str(tmp_path) not in of(made, "wheel-symbols")  # as it is called in the wheel


@pytest.mark.parametrize(
    ("use", "said"),
    [("return {name}();", "warning lazy"), ("return (int)(long)&{name};", "error missing")],
)
def test_what_no_paddle_has_and_only_a_call_would_ask_for(
    tmp_path: Path, against: Auditor, use: str, said: str
) -> None:
    name = "_ZNK3phi4capi6Scalar2toIfEET_v"
    code = f"int {name}(void); int f(void) {{ {use.format(name=name)} }}"
    path = wheel(tmp_path, make.compiled(tmp_path, code, "-Wl,-z,lazy"))
    assert cases(against(path)) == {"wheel-symbols": said}
    assert "_ZNK3phi4capi" in of(against(path), "wheel-symbols")


def test_a_library_that_nobody_has(tmp_path: Path, against: Auditor) -> None:
    other = make.compiled(tmp_path / "o", "int g(void) { return 1; }", name="libother.so")
    code = "int g(void); int f(void) { return g(); }"
    path = wheel(tmp_path, make.compiled(tmp_path, code, f"-L{other.parent}", "-lother"))
    assert cases(against(path)) == {"plugin-libraries": "error missing"}


def test_a_library_of_a_vendor_that_is_not_on_this_machine(
    tmp_path: Path, against: Auditor, core: str
) -> None:
    acl = make.compiled(tmp_path / "o", "int aclInit(void) { return 1; }", name="libascendcl.so")
    code = "int aclInit(void); int f(void) { return aclInit(); }"
    path = wheel(tmp_path, make.compiled(tmp_path, code, f"-L{acl.parent}", "-lascendcl"))
    made = against(path)
    assert cases(made) == {"wheel-surroundings": "unknown product"}
    assert "CANN" in of(made, "wheel-surroundings")


def test_a_vendor_of_which_only_a_part_is_here(
    tmp_path: Path, against: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "_is_here", lambda product: product == "CANN toolkit")
    acl = make.compiled(tmp_path / "o", "int aclInit(void) { return 1; }", name="libascendcl.so")
    code = "int aclInit(void); int f(void) { return aclInit(); }"
    path = wheel(tmp_path, make.compiled(tmp_path, code, f"-L{acl.parent}", "-lascendcl"))
    assert cases(against(path)) == {"plugin-libraries": "error product"}


@pytest.mark.parametrize(("abi", "case"), [("0", "old"), ("1", "new")])
def test_strings_of_an_abi_that_paddle_does_not_have(
    tmp_path: Path, against: Auditor, abi: str, case: str
) -> None:
    code = "#include <string>\nnamespace phi { void name(const std::string&); }\n"
    code += "void f() { phi::name(std::string()); }"
    made = make.compiled(tmp_path, code, f"-D_GLIBCXX_USE_CXX11_ABI={abi}")
    assert cases(against(wheel(tmp_path, made))) == {"plugin-abi": f"error {case}"}


RUNPATHS = [
    ("/tmp/build/paddle/libs", "error build"),  # noqa: S108
    ("/home/somebody/src/build", "error build"),
    ("lib/here", "error relative"),
    ("/usr/local/lib/python3.10/dist-packages/paddle_custom_device/gcu", "warning environment"),
    ("/root/.venv/lib/python3.10/site-packages/paddle/base", "error environment"),
    ("/opt/py/lib/python3.10/site-packages/paddle/base", "warning environment"),
    ("/usr/local/Ascend/../../../home/somebody", "error build"),
    ("//home/somebody", "error build"),
    ("/opt/topsy/lib", "warning absolute"),
    ("$ORIGINAL/lib", "error relative"),
    ("$ORIGIN/../../../../lib", None),  # of the environment
    ("$ORIGIN/../../../../../../home/somebody/build", "error outside"),
    ("${ORIGIN}/../paddle/libs/../../../../../../tmp", "error outside"),
    ("/opt/unheard/of", "warning absolute"),
    ("/usr/local/Ascend/ascend-toolkit/latest/lib64", None),
    ("/opt/tops/lib", None),
    ("/usr/lib/x86_64-linux-gnu", None),
    ("$ORIGIN/../more", None),
]


@pytest.mark.parametrize(("path", "said"), RUNPATHS)
@pytest.mark.parametrize(
    ("flag", "tag"), [("--enable-new-dtags", "RUNPATH"), ("--disable-new-dtags", "RPATH")]
)
def test_folders_that_the_build_left(  # noqa: PLR0913, PLR0917 - the last four are the case
    tmp_path: Path, alone: Auditor, path: str, said: str | None, flag: str, tag: str
) -> None:
    made = alone(wheel(tmp_path, make.compiled(
        tmp_path, "int f;", f"-Wl,-rpath,{path}", f"-Wl,{flag}")))  # fmt: skip
    assert cases(made).get("wheel-runpath") == said
    finding = next(one for one in made.findings if one.id == "wheel-runpath")
    assert finding.evidence[0].line == f"{tag} {path}"


@pytest.mark.parametrize("path", ["$ORIGIN/..:", ":$ORIGIN/..", "$ORIGIN::$ORIGIN/.."])
def test_what_is_empty_between_colons_is_the_current_folder(
    tmp_path: Path, alone: Auditor, path: str
) -> None:
    made = alone(wheel(tmp_path, make.compiled(tmp_path, "int f;", f"-Wl,-rpath,{path}")))
    assert cases(made).get("wheel-runpath") == "error relative"
    assert "./" in of(made, "wheel-runpath")


def test_parts_of_a_package_that_one_rpath_finds(tmp_path: Path, alone: Auditor) -> None:
    libs = tmp_path / "paddle_tiny.libs"
    deep = make.compiled(libs, "int deep(void) { return 1; }", "-Wl,-soname,libdeep.so",
                         name="libdeep.so")  # fmt: skip
    mid = make.compiled(libs, "int deep(void); int mid(void) { return deep(); }", str(deep),
                        "-Wl,-soname,libmid.so", name="libmid.so")  # fmt: skip
    top = make.compiled(tmp_path, "int mid(void); int f(void) { return mid(); }", str(mid),
                        "-Wl,-rpath,$ORIGIN/../paddle_tiny.libs,--disable-new-dtags",
                        "-Wl,--allow-shlib-undefined")  # fmt: skip
    parts = {f"paddle_tiny.libs/{one.name}": one.read_bytes() for one in (mid, deep)}
    files = {"paddle_tiny/__init__.py": b"", "paddle_tiny/top.abi3.so": top.read_bytes()}
    assert cases(alone(make.sound(tmp_path, {**files, **parts}, name="paddle_tiny"))) == {}


def test_functions_that_nobody_has_and_nobody_calls(
    tmp_path: Path, paddle: Path, against: Auditor, core: str
) -> None:
    code = "int PD_OfTomorrow(void); int f(void) { return PD_OfTomorrow(); }"
    flags = (core, ORIGIN, "-Wl,--no-as-needed", core, "-Wl,-z,lazy")
    path = wheel(tmp_path, make.compiled(tmp_path, code, *flags))
    assert cases(against(path)) == {"wheel-symbols": "error paddle"}
    made = audit(path, find(path.name, "auto", str(paddle)), importing=True)
    assert cases(made) == {"wheel-symbols": "warning lazy"}
    assert "PD_OfTomorrow" in of(made, "wheel-symbols")


def test_an_executable_stack(tmp_path: Path, alone: Auditor) -> None:
    made = make.compiled(tmp_path, "int f;", "-Wl,-z,execstack")
    assert cases(alone(wheel(tmp_path, made))) == {"wheel-stack": "warning executable"}


@pytest.mark.parametrize(
    ("machine", "bits", "arch"), [(183, 2, "aarch64"), (3, 1, "i386"), (62, 1, "x86_64")]
)
def test_libraries_of_other_machines(
    tmp_path: Path, alone: Auditor, machine: int, bits: int, arch: str
) -> None:
    content = bytearray(make.compiled(tmp_path, "int f;").read_bytes())
    content[4], content[18:20] = bits, machine.to_bytes(2, "little")
    made = alone(wheel(tmp_path, bytes(content)))
    assert cases(made) == {"wheel-libraries": "error arch"}
    assert arch in of(made, "wheel-libraries")


@pytest.mark.parametrize("content", [b"", b"INPUT(libreal.so)\n", b"\x7fELF\2\1", b"../real.so"])
def test_what_is_called_a_library_and_is_none(
    tmp_path: Path, alone: Auditor, content: bytes
) -> None:
    assert cases(alone(wheel(tmp_path, content))) == {"wheel-libraries": "error broken"}


def test_a_library_cut_short(tmp_path: Path, alone: Auditor) -> None:
    content = make.compiled(tmp_path, "int f;").read_bytes()
    made = alone(wheel(tmp_path, content[: len(content) // 3]))
    assert cases(made) == {"wheel-libraries": "error broken"}


def test_tags_that_promise_more_than_the_library_keeps(tmp_path: Path, alone: Auditor) -> None:
    library = make.compiled(tmp_path, "#include <stdlib.h>\nvoid f(void) { _Exit(1); }")
    found = cases(alone(wheel(tmp_path, library, tag="py3-none-any")))
    assert found == {"wheel-libraries": "warning promise"}
    arc4 = "#include <stdlib.h>\nunsigned f(void) { return arc4random(); }"  # since glibc 2.36
    library = make.compiled(tmp_path, arc4)
    tag = f"{make.TAG}-{make.TAG}-manylinux2014_x86_64"
    found = cases(alone(wheel(tmp_path, library, tag=tag)))
    assert found == {"wheel-manylinux": "warning newer"}


def test_a_system_that_is_older_than_the_library(tmp_path: Path, against: Auditor) -> None:
    code = "#include <stdlib.h>\nunsigned f(void) { return arc4random(); }"
    content = make.compiled(tmp_path, code).read_bytes()
    made = against(wheel(tmp_path, _newer(content)))
    assert cases(made) == {"plugin-libc": "error missing"}


def _newer(content: bytes) -> bytes:
    """The library as if it had been linked with glibc 2.96: the version's name and its hash."""
    old, new = b"GLIBC_2.36", b"GLIBC_2.96"
    swapped = content.replace(old + b"\0", new + b"\0")
    return swapped.replace(_hashed(old), _hashed(new))


def _hashed(name: bytes) -> bytes:
    """The hash of System V's ABI."""
    number = 0
    for byte in name:
        number = (number << 4) + byte
        number = (number ^ (number >> 24 & 0xF0)) & 0x0FFFFFFF
    return number.to_bytes(4, "little")


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        ("skipped", "Skipped lib [x.so]: InitPlugin failed"),
        ("hangs", "no end within the time limit"),
        ("crashes", "SIGSEGV: -"),
        ("symbol", "x.so: undefined symbol: PD_Elsewhere"),
        ("symbol", "x.so: undefined symbol: also_lost"),
    ],
)
def test_symbols_that_the_loader_does_without_explain_nothing_else(
    tmp_path: Path, paddle: Path, core: str, verdict: Verdict, line: str
) -> None:
    code = "int PD_OfTomorrow(void); int f(void) { return PD_OfTomorrow(); }"
    code += "int also_lost(void); int g(void) { return also_lost(); }"
    flags = (core, ORIGIN, "-Wl,--no-as-needed", core, "-Wl,-z,lazy")
    path = wheel(tmp_path, make.compiled(tmp_path, code, *flags))
    tried = Trial(loaded=Loaded(verdict, line, "import paddle"))
    where = find(path.name, "auto", str(paddle))
    made = audit(path, where, importing=False, tried=tried)
    lost = "also_lost" in line
    explained = {"wheel-symbols": "error missing"}
    apart = {"wheel-symbols": "warning lazy", "plugin-loads": f"error {verdict}"}
    assert cases(made) == (explained if lost else apart)
    sentence = of(made, "wheel-symbols").partition(", ")[0]
    assert sentence.endswith("also_lost" if lost else "PD_OfTomorrow")


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("paddle_custom_npu", f" --paddle 3.3.1 --python {make.TAG[2]}.{make.TAG[3:]}"),
        ("paddle_custom_loopback", ""),
    ],
)
def test_what_builds_a_plugin_again_names_the_paddle_that_it_is_to_fit(
    tmp_path: Path, paddle: Path, core: str, name: str, flags: str
) -> None:
    content = make.compiled(tmp_path, USES, core, ORIGIN).read_bytes()
    path = make.sound(tmp_path, {make.INIT: b"", make.LIBRARY: content}, name=name)
    tried = Trial(loaded=Loaded("skipped", "Skipped lib", "import paddle"))
    made = audit(path, find(path.name, "auto", str(paddle)), importing=False, tried=tried)
    command = next(one.command for one in made.findings if one.id == "plugin-loads")
    backend = name.removeprefix("paddle_custom_")
    assert command == f"paddock build-ops --backend {backend}{flags}"
