"""Libraries made by a real compiler, whose linkage the real loader judges too."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provision.facts.linking import link_symbols, linkage, loader_cache
from provision.facts.linking.elf_file import ElfFile
from provision.facts.linking.library_folders import products
from provision.facts.linking.process_libraries import Host, levels, paddle_host, runtime, start

Build = Callable[..., Path]
LOAD = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], os.RTLD_NOW)"
HOST = Host(os.path.realpath(sys.executable))


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Compile a shared library: name, source, then what it links and how."""

    def made(name: str, text: str, *more: str | Path) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        source = tmp_path / f"source{'.cc' if 'std::' in text else '.c'}"
        source.write_text(text)
        command = ["g++" if source.suffix == ".cc" else "gcc", "-shared", "-fPIC", str(source)]
        command += ["-o", str(path), "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined"]
        subprocess.run([*command, *map(str, more)], check=True, timeout=60)
        return path

    return made


def said(path: Path, **variables: str) -> str:
    """What the real loader says about a library; "" when it takes it."""
    command = [sys.executable, "-I", "-c", LOAD, str(path)]
    environment = {"PATH": os.environ["PATH"], **variables}
    answer = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    line = answer.stderr.strip().rpartition("\n")[2]
    return line or (f"status {answer.returncode}" if answer.returncode else "")


def look(path: Path, **variables: str) -> linkage.Linkage:
    return linkage.collect([path], variables, host=HOST)[0]


def by_name(found: linkage.Linkage, name: str) -> linkage.Needed:
    return next(one for one in found.needed if one.name == name)


def test_a_library_that_is_in_order(build: Build) -> None:
    path = build("libok.so", '#include <stdio.h>\nvoid ok(void) { puts(""); }', "-lm")
    found = look(path)
    assert said(path) == ""
    assert (found.problem, found.arch) == ("", platform.machine())
    assert [one.name for one in found.needed] == ["libm.so.6", "libc.so.6"]
    assert all(one.found and Path(one.found).is_file() for one in found.needed)
    assert found.missing_symbols == found.unsettled == []
    assert found.missing_versions == []
    assert (found.glibcxx, found.cxxabi, found.cxx11_abi) == (None, None, None)
    assert found.glibc is not None and found.glibc.startswith("2.")


def test_a_needed_library_that_is_absent(build: Build, tmp_path: Path) -> None:
    # Without a SONAME it is asked for as it is named to the linker: by its name, not by a path.
    driver = build("libascend_hal.so", "int halGet(void) { return 1; }")
    code = "int halGet(void); int f(void) { return halGet(); }"
    path = build("libplugin.so", code, f"-L{tmp_path}", "-l:libascend_hal.so")
    found = look(path)
    lost = by_name(found, "libascend_hal.so")
    assert "libascend_hal.so: cannot open shared object" in said(path)
    assert (lost.found, lost.how, lost.product) == (None, "", "driver")
    assert lost.near == [str(driver)]
    assert (found.missing_symbols, found.unsettled) == ([], ["halGet"])
    assert said(path, LD_LIBRARY_PATH=str(tmp_path)) == ""
    mended = by_name(look(path, LD_LIBRARY_PATH=f":{tmp_path}"), "libascend_hal.so")
    assert (mended.found, mended.how) == (str(driver), "variable")


def test_an_absent_library_further_down(build: Build, tmp_path: Path) -> None:
    deep = build("libdeep.so", "int deep(void) { return 1; }", "-Wl,-soname,libdeep.so")
    mid = build("libmid.so", "int deep(void); int mid(void) { return deep(); }", deep,
                "-Wl,-soname,libmid.so")  # fmt: skip
    path = build("libplugin.so", "int mid(void); int f(void) { return mid(); }", mid,
                 "-Wl,-rpath,$ORIGIN", "-Wl,--enable-new-dtags")  # fmt: skip
    deep.rename(tmp_path / "gone.so")
    found = look(path)
    assert "libdeep.so: cannot open" in said(path)
    lost = by_name(found, "libdeep.so")
    assert (lost.found, lost.of) == (None, str(mid))
    assert by_name(found, "libmid.so").how == "runpath"


@pytest.mark.parametrize("tags", ["--disable-new-dtags", "--enable-new-dtags"])
def test_a_part_inherits_the_rpath_of_what_asks_for_it(
    build: Build, tmp_path: Path, tags: str
) -> None:
    deep = build("libs/libdeep.so", "int deep(void) { return 1; }", "-Wl,-soname,libdeep.so")
    mid = build("libs/libmid.so", "int deep(void); int mid(void) { return deep(); }", deep,
                "-Wl,-soname,libmid.so")  # fmt: skip
    path = build("libtop.so", "int mid(void); int f(void) { return mid(); }", mid,
                 "-Wl,-rpath,$ORIGIN/libs", f"-Wl,{tags}")  # fmt: skip
    found = linkage.collect([mid, path], {}, host=HOST, alone=lambda file: file == path)
    has_rpath = tags == "--disable-new-dtags"  # a RUNPATH is for the file itself only
    assert (said(path) == "") is has_rpath
    assert [one.unsettled for one in found] == ([[], []] if has_rpath else [["deep"], []])
    assert by_name(found[0], "libdeep.so").of == found[0].file == str(mid)
    by_itself = linkage.collect([mid, path], {}, host=HOST)[0]
    assert "libdeep.so: cannot open" in said(mid) and by_itself.unsettled == ["deep"]


NEWER = "int aclrtMalloc(void) { return 1; }\nint aclrtFoo(void) { return 2; }"
PLUGIN = """\
int aclrtMalloc(void); int aclrtFoo(void); int other(void);
__attribute__((weak)) int aclrtBar(void);
int f(void) { return aclrtMalloc() + aclrtFoo() + other() + (aclrtBar ? aclrtBar() : 0); }"""


@pytest.mark.parametrize("style", ["gnu", "sysv", "both"])
def test_a_symbol_that_an_older_library_lacks(build: Build, tmp_path: Path, style: str) -> None:
    hashed = f"-Wl,--hash-style={style}"
    vendor = build("libascendcl.so", NEWER, "-Wl,-soname,libascendcl.so", hashed)
    other = build("libother.so", "int other(void) { return 3; }", "-Wl,-soname,libother.so", hashed)
    path = build("libplugin.so", PLUGIN, vendor, other, "-Wl,-rpath,$ORIGIN", hashed)
    assert (said(path), look(path).missing_symbols) == ("", [])
    build("libascendcl.so", NEWER.splitlines()[0], "-Wl,-soname,libascendcl.so", hashed)
    found = look(path)
    assert "undefined symbol: aclrtFoo" in said(path)
    assert found.missing_symbols == ["aclrtFoo"]
    assert found.unprovided_by == {"aclrtFoo": str(vendor)}


def test_a_library_further_down_that_lacks_a_symbol(build: Build) -> None:
    inner = build("libinner.so", "int in(void) { return 1; }", "-Wl,-soname,libinner.so")
    outer = build("libouter.so", "int in(void); int out(void) { return in(); }", inner,
                  "-Wl,-soname,libouter.so", "-Wl,-rpath,$ORIGIN")  # fmt: skip
    path = build("libplugin.so", "int out(void); int f(void) { return out(); }", outer,
                 "-Wl,-rpath,$ORIGIN")  # fmt: skip
    build("libinner.so", "int another(void) { return 1; }", "-Wl,-soname,libinner.so")
    found = look(path)
    assert "undefined symbol: in" in said(path)
    assert (found.missing_symbols, found.further) == ([], {str(outer): ["in"]})


def test_a_loaded_library_counts_only_when_it_is_linked(build: Build) -> None:
    core = build("paddle/base/libpaddle.so", "int PD_Go(void) { return 1; }",
                 "-Wl,-soname,libpaddle.so")  # fmt: skip
    code = "int PD_Go(void); int f(void) { return PD_Go(); }"
    linked, loose = build("plugins/a.so", code, core), build("plugins/b.so", code)
    host = paddle_host(core.parents[2], Path(sys.executable))
    assert host.loaded == [str(core)]
    first, second = linkage.collect([linked, loose], {}, host=host)
    assert (first.missing_symbols, first.unlinked) == ([], {})
    assert by_name(first, "libpaddle.so").how == "loaded"
    assert (second.missing_symbols, second.unlinked) == ([], {"PD_Go": str(core)})
    assert "undefined symbol: PD_Go" in said(loose)


def test_a_library_that_the_process_has_is_judged_itself(build: Build, tmp_path: Path) -> None:
    deep = build("libdeep.so", "int deep(void) { return 1; }", "-Wl,-soname,libdeep.so")
    core = build("paddle/base/libpaddle.so", "int deep(void); int f(void) { return deep(); }", deep,
                 "-Wl,-soname,libpaddle.so")  # fmt: skip
    code = "int f(void); int g(void) { return f(); }"
    path = build("libplugin.so", code, core)
    host = Host(HOST.program, [str(core)])
    first, second = linkage.collect([core, path], {}, host=host)
    assert (by_name(first, "libdeep.so").found, first.unsettled) == (None, ["deep"])
    assert [one.name for one in second.needed] == ["libpaddle.so", "libc.so.6"]
    assert (second.missing_symbols, second.unsettled) == ([], [])


def test_every_product_says_where_its_folders_are_known_from() -> None:
    assert len(products()) >= 4
    assert all(one.source and one.seen and one.folders for one in products())


@pytest.mark.parametrize(
    ("tags", "variable", "found_in"),
    [
        ("--disable-new-dtags", "", "one"),  # RPATH holds for what the library pulls in
        ("--enable-new-dtags", "", None),  # RUNPATH does not
        ("--disable-new-dtags", "two", "one"),  # RPATH wins over the variable
        ("--enable-new-dtags", "two", "two"),
    ],
)
def test_paths_are_searched_as_the_loader_does(
    build: Build, tmp_path: Path, tags: str, variable: str, found_in: str | None
) -> None:
    for folder in ("one", "two"):
        build(f"{folder}/libdeep.so", "int deep(void) { return 1; }", "-Wl,-soname,libdeep.so")
    build("one/libmid.so", "int deep(void); int mid(void) { return deep(); }",
          tmp_path / "one/libdeep.so", "-Wl,-soname,libmid.so")  # fmt: skip
    path = build("libplugin.so", "int mid(void); int f(void) { return mid(); }",
                 tmp_path / "one/libmid.so", "-Wl,-rpath,${ORIGIN}/one", f"-Wl,{tags}")  # fmt: skip
    variables = {"LD_LIBRARY_PATH": str(tmp_path / variable)} if variable else {}
    found = look(path, **variables)
    lost = [one.name for one in found.needed if one.found is None]
    assert bool(lost) == (found_in is None) == bool(said(path, **variables))
    process = start(variables, Path("/"), HOST)
    mapped = {one.elf.path.name: one for one in process.load(ElfFile(path)).closure()}
    deep = mapped.get("libdeep.so")
    assert (deep and deep.elf.path.parent.name) == found_in


PROGRAM = """\
#include <dlfcn.h>
int main(int count, char **names) { return !dlopen(names[1], RTLD_NOW); }"""


@pytest.mark.parametrize("tags", ["--disable-new-dtags", "--enable-new-dtags"])
def test_the_path_of_the_program_holds_for_all_that_it_loads(
    build: Build, tmp_path: Path, tags: str
) -> None:
    """As with the Python of conda, whose RPATH leads to the libraries of its prefix."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "program.c").write_text(PROGRAM)
    program = tmp_path / "bin/program"
    command = ["gcc", str(tmp_path / "program.c"), "-o", str(program), f"-Wl,{tags}"]
    subprocess.run([*command, "-Wl,-rpath,$ORIGIN/../lib"], check=True, timeout=60)
    own = build("lib/libv.so", "int v(void) { return 1; }", "-Wl,-soname,libv.so")
    path = build("libplugin.so", "int v(void); int f(void) { return v(); }", own)
    found = by_name(linkage.collect([path], {}, host=Host(str(program)))[0], "libv.so")
    expected = str(own) if tags == "--disable-new-dtags" else None
    assert (found.found and os.path.realpath(found.found)) == expected
    ran = subprocess.run([program, path], env={}, check=False, timeout=60)
    assert (ran.returncode == 0) == bool(expected)


def test_a_library_for_another_machine_is_passed_over(build: Build, tmp_path: Path) -> None:
    good = build("good/libv.so", "int v(void) { return 1; }", "-Wl,-soname,libv.so")
    path = build("libplugin.so", "int v(void); int f(void) { return v(); }", good)
    (tmp_path / "bad").mkdir()
    data = good.read_bytes()
    (tmp_path / "bad/libv.so").write_bytes(data[:18] + b"\x16\x00" + data[20:])
    variables = {"LD_LIBRARY_PATH": f"{tmp_path}/bad:{tmp_path}/good"}
    assert by_name(look(path, **variables), "libv.so").found == str(good)
    (tmp_path / "bad/libv.so").write_bytes(data[: len(data) // 2])
    cut = by_name(look(path, **variables), "libv.so")
    assert cut.found == f"{tmp_path}/bad/libv.so" and cut.problem.startswith("truncated")
    assert said(path, **variables) != ""


@pytest.mark.parametrize(
    ("damage", "problem", "arch"),
    [
        (lambda data: b"", "not an ELF", ""),
        (lambda data: b"version https://git-lfs" * 20, "not an ELF", ""),
        (lambda data: data[:50], "truncated", ""),
        (lambda data: data[:-9000], "truncated", ""),
        (lambda data: data[:18] + b"\x16\x00" + data[20:], "built for s390x", "s390x"),
        (lambda data: data[:5] + b"\x02" + data[6:18] + b"\x00\x16" + data[20:],
         "built for s390x (not", "s390x (not 64-bit little-endian)"),
    ],
)  # fmt: skip
def test_what_cannot_be_loaded(
    build: Build, damage: Callable[[bytes], bytes], problem: str, arch: str
) -> None:
    path = build("libv.so", "int v(void) { return 1; }")
    path.write_bytes(damage(path.read_bytes()))
    found = look(path)
    assert found.problem.startswith(problem) and found.arch == arch
    assert said(path) != ""


def test_a_file_that_is_not_there_and_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.so")
    for name in ("none.so", "pipe.so", "."):
        assert look(tmp_path / name).problem.startswith("cannot be read")


TEXT = "#include <string>\nstd::string f(const std::string& s) { return s + s; }\n"


@pytest.mark.parametrize("abi", [0, 1])
def test_which_abi_of_the_string(build: Build, abi: int) -> None:
    found = look(build("libabi.so", TEXT, f"-D_GLIBCXX_USE_CXX11_ABI={abi}"))
    assert found.cxx11_abi is bool(abi)
    assert found.glibcxx is not None and found.glibcxx.startswith("3.4")


def test_both_kinds_of_string_in_one_library_say_nothing(build: Build) -> None:
    old = build("libold.o", TEXT.replace(" f(", " g("), "-D_GLIBCXX_USE_CXX11_ABI=0", "-c")
    assert look(build("libabi.so", TEXT, old)).cxx11_abi is None


def test_a_newer_system_is_needed(build: Build, tmp_path: Path) -> None:
    script = tmp_path / "map"
    script.write_text("GLIBCXX_3.4.9 { };\nGLIBCXX_3.4.99 { newer; } GLIBCXX_3.4.9;\n")
    build("fake/libstdc++.so.6", "int newer(void) { return 1; }", "-nostdlib",
          "-Wl,-soname,libstdc++.so.6", f"-Wl,--version-script={script}")  # fmt: skip
    path = build("libplugin.so", "int newer(void); int f(void) { return newer(); }",
                 tmp_path / "fake/libstdc++.so.6")  # fmt: skip
    found = look(path)
    assert found.glibcxx == "3.4.99"
    gap = found.missing_versions[0]
    assert (gap.version, gap.library, gap.of) == ("GLIBCXX_3.4.99", "libstdc++.so.6", str(path))
    assert "version `GLIBCXX_3.4.99' not found" in said(path)
    folder = str(tmp_path / "fake")
    assert look(path, LD_LIBRARY_PATH=folder).missing_versions == []


def test_what_this_machine_provides() -> None:
    found = runtime({}, host=HOST)
    release = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()[-1]
    assert found.libc and found.libc.glibc
    parts = [[int(part) for part in text.split(".")] for text in (found.libc.glibc, release)]
    assert [2, 17] <= parts[0] <= parts[1]
    assert found.libstdcxx and (found.libstdcxx.glibcxx or "").startswith("3.4.")
    assert (found.libstdcxx.cxxabi or "").startswith("1.3.")
    assert found.conda is None
    assert levels(Path("/none")) is None


def test_the_library_of_a_conda_prefix(tmp_path: Path) -> None:
    for name in ("bin", "lib", "conda-meta"):
        (tmp_path / name).mkdir()
    program = shutil.copy(os.path.realpath("/bin/sh"), tmp_path / "bin/python")
    own = runtime({}, host=HOST).libstdcxx
    assert own
    shutil.copy(own.file, tmp_path / "lib/libstdc++.so.6")
    found = runtime({}, host=Host(str(program)))
    assert found.conda and found.conda.file == str(tmp_path / "lib/libstdc++.so.6")
    assert found.libstdcxx and found.libstdcxx.file != found.conda.file
    forced = runtime({"LD_LIBRARY_PATH": str(tmp_path / "lib")}, host=Host(str(program)))
    assert forced.libstdcxx and forced.libstdcxx.file == found.conda.file


@pytest.mark.skipif(not Path("/etc/ld.so.cache").is_file(), reason="ldconfig never ran here")
def test_the_cache_says_what_ldconfig_says() -> None:
    command = shutil.which("ldconfig", path="/sbin:/usr/sbin:/bin")
    assert command
    text = subprocess.run([command, "-p"], capture_output=True, text=True, check=True).stdout
    lines = [
        line.split() for line in text.splitlines()[1:] if " => " in line and "hwcap" not in line
    ]
    cache = loader_cache.read(Path("/"))
    assert {line[0] for line in lines} <= set(cache)
    assert all(Path(line[-1]) in cache[line[0]] for line in lines)


def test_configured_folders_and_a_damaged_cache(tmp_path: Path, build: Build) -> None:
    (tmp_path / "etc/ld.so.conf.d").mkdir(parents=True)
    (tmp_path / "etc/ld.so.conf").write_text("include ld.so.conf.d/*.conf\n/opt/a # why\n")
    (tmp_path / "etc/ld.so.conf.d/b.conf").write_text("include /etc/ld.so.conf\n/opt/b\n")
    assert set(loader_cache.configured(tmp_path)) == {tmp_path / "opt/a", tmp_path / "opt/b"}
    assert loader_cache.read(tmp_path) == {}
    (tmp_path / "etc/ld.so.cache").write_bytes(b"glibc-ld.so.cache1.1" + b"\xff" * 99)
    assert loader_cache.read(tmp_path) == {}
    vendor = build("opt/b/libv.so", "int v(void) { return 1; }", "-Wl,-soname,libv.so")
    path = build("x/libplugin.so", "int v(void); int f(void) { return v(); }", vendor)
    # ld.so.conf names the folder, but ldconfig has not run: the loader does not look there.
    lost = by_name(linkage.collect([path], {}, tmp_path, HOST)[0], "libv.so")
    assert (lost.found, lost.near) == (None, [str(vendor)])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("aclrtMalloc", "aclrt"), ("PD_Register", "PD_"), ("HcclSend", "Hccl"), ("X", ""),
        ("_ZN3phi5denseEv", "phi::"), ("_ZNK3phi5dense4dataEv", "phi::"), ("_ZTVN3phi1AE", "phi::"),
        ("_ZNSt6vectorIiEC1Ev", "std::"), ("_ZNSs4swapERSs", "std::"), ("_Z7aclrtGoi", "aclrt"),
        ("_Z", ""), ("_Z9", ""), ("", ""),
    ],
)  # fmt: skip
def test_families_of_symbols(name: str, expected: str) -> None:
    assert link_symbols.family(name) == expected


@given(st.text(max_size=40))
def test_any_name_has_a_family_or_none(name: str) -> None:
    assert isinstance(link_symbols.family("_Z" + name) + link_symbols.family(name), str)


def test_many_symbols_take_less_than_a_second(tmp_path: Path) -> None:
    def assemble(name: str, text: str, *more: str) -> Path:
        (tmp_path / "a.s").write_text(text)
        command = ["gcc", "-shared", str(tmp_path / "a.s"), "-o", str(tmp_path / name), *more]
        subprocess.run(command, check=True, timeout=60)
        return tmp_path / name

    names = [f"_ZN6vendor6symbol{number}Ev" for number in range(100_000)]
    big = assemble("libbig.so", "\n".join(f".globl {n}\n{n}: .byte 0" for n in names))
    wanted = [*names[:20_000], "_ZN6vendor4goneEv"]
    code = ".data\n" + "\n".join(f".quad {name}" for name in wanted)
    path = assemble("libplugin.so", code, str(big), "-Wl,--allow-shlib-undefined")
    begin = time.process_time()
    found = look(path)
    assert time.process_time() - begin < 1
    assert found.missing_symbols == ["_ZN6vendor4goneEv"]
    assert found.unprovided_by == {"_ZN6vendor4goneEv": str(big)}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    (folder / "a.cc").write_text(TEXT)
    command = ["g++", "-shared", "-fPIC", str(folder / "a.cc"), "-o", str(folder / "a.so")]
    subprocess.run(command, check=True, timeout=60)
    return folder / "a.so"


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(st.data())
def test_random_damage_is_an_answer_never_an_error(sample: Path, data: st.DataObject) -> None:
    content = bytearray(sample.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.integers(0, 3000) | st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    path = sample.with_name("damaged.so")
    path.write_bytes(content)
    begin = time.process_time()
    assert isinstance(look(path), linkage.Linkage)
    assert time.process_time() - begin < 5
