"""The papers beside a wheel: of the official forms, the same wherever it is built, and believed
only while they are about that file."""

from __future__ import annotations

import json
import platform
import shutil
import sys
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from google.protobuf import json_format
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as Message

from provision.digest import sha256
from provision.papers import bill, making, statement, statement_beside
from provision.papers.statement import Making
from provision.paths import IMAGES
from provision.site import Site
from provision.stack import load
from provision.steps.base import Context
from provision.wheels.python import Facts, Python
from provision.wheels.recipe import load as load_recipe
from provision.wheels.source import Source
from provision.wheels.work import Work
from tests.conftest import run_cli
from tests.wheels import make
from tests.wheels.conftest import Auditor, cases

MADE = Making({"paddle": "3.3.1"}, ["make"], {}, [{"uri": "pkg:pypi/paddlepaddle@3.3.1"}])


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    library = make.compiled(tmp_path / "build", '#include <stdio.h>\nvoid f(void) { puts(""); }')
    return make.sound(tmp_path, {make.INIT: b"", make.LIBRARY: library.read_bytes()})


def context(base: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    """A checkout and an environment of its own in a folder."""
    monkeypatch.setenv("PADDOCK_HOME", str(base / "home"))
    shutil.copytree(IMAGES / "loopback", base / "checkout")
    site = Site("loopback")
    paddle = site.env / "lib/python3.11/site-packages/paddle/libs"
    paddle.mkdir(parents=True)
    (paddle / "libphi_core.so").write_bytes(b"core")
    (site.env / "pyvenv.cfg").write_text("version_info = 3.11.2\n")
    stack = load(base / "checkout/stack.toml")
    return Context(stack, base / "checkout", "3.3.1", site, None)


def test_the_same_from_any_folder_and_without_a_trace_of_it(
    tmp_path: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for name in ("one", "another place/里"):
        here = context(tmp_path / name, monkeypatch)
        its = making.of_step(here.step("plugin/build"), here)
        digest = sha256(wheel)
        made.append(statement.statement(wheel, digest, its) + bill.bill(wheel, digest, its))
    assert made[0] == made[1]
    for trace in (str(tmp_path), str(Path.home()), platform.node()):
        assert trace.encode() not in made[0]
    assert b"paddle/libs/libphi_core.so" in made[0]
    assert b"plugin/src/plugin.cc" in made[0]


def test_another_source_is_another_statement(
    tmp_path: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = context(tmp_path / "one", monkeypatch)
    before = making.of_step(here.step("plugin/build"), here)
    source = here.folder / "plugin/src/plugin.cc"
    source.write_text(source.read_text() + "\n")
    after = making.of_step(here.step("plugin/build"), here)
    assert before.materials != after.materials
    assert before.commands == after.commands


def test_the_statement_is_one_of_in_toto(
    tmp_path: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = context(tmp_path / "one", monkeypatch)
    its = making.of_step(here.step("plugin/build"), here)
    text = statement.statement(wheel, sha256(wheel), its).decode()
    message = json_format.Parse(text, Message())
    Statement.copy_from_pb(message).validate()
    held = json.loads(text)["predicate"]["buildDefinition"]
    assert held["buildType"] and held["externalParameters"]["paddle"] == "3.3.1"
    for one in held["resolvedDependencies"]:
        fields = {name: one[name] for name in ("name", "uri", "digest") if name in one}
        ResourceDescriptor(**fields).validate()


def test_the_bill_is_one_of_cyclonedx_and_names_what_is_needed(
    tmp_path: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = context(tmp_path / "one", monkeypatch)
    its = making.of_step(here.step("plugin/build"), here)
    text = bill.bill(wheel, sha256(wheel), its).decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    held = {one["name"]: one for one in json.loads(text)["components"]}
    assert held["paddlepaddle"]["scope"] == "required"
    assert held["cmake"]["scope"] == "excluded"
    assert held["libc.so.6"]["scope"] == "required"
    assert held[make.LIBRARY]["type"] == "file"
    broken = text.replace('"SHA-256"', '"SHA-7"')
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(broken) is not None


def test_a_part_is_in_the_bill_but_once_and_its_address_is_escaped(wheel: Path) -> None:
    """Two locks may pin one package; two headers of a vendor may have one name."""
    local, twice = (
        statement.package("paddlepaddle", "3.3.1+cpu"),
        statement.package("numpy", "1!2.0"),
    )
    files: list[dict[str, object]] = [
        {"name": "V/lib.so.1", "digest": {"sha256": d * 64}, "annotations": {"vendor": "V"}}
        for d in "01"
    ]
    its = Making({}, [], {}, [{"uri": twice}, {"uri": local}, {"uri": twice}, *files])
    text = bill.bill(wheel, sha256(wheel), its).decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    made = json.loads(text)["components"]
    assert len({one["bom-ref"] for one in made}) == len(made)
    packages = {one["purl"]: one["version"] for one in made if "purl" in one}
    assert packages == {"pkg:pypi/numpy@1%212.0": "1!2.0",
                        "pkg:pypi/paddlepaddle@3.3.1%2Bcpu": "3.3.1+cpu"}  # fmt: skip
    assert [one["scope"] for one in made if one["name"] == "V/lib.so.1"] == ["required"] * 2


def test_the_vendors_files_and_packages_without_a_lock_are_in_both(
    tmp_path: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = []
    for name, script in (("one", "#!/one/python"), ("another place/里", "#!/two/python")):
        base = tmp_path / name
        tops, packages = base / "tops", base / "env/lib/python3.11/site-packages"
        for file in ("lib/libtopsop.a", "lib/libtopsaten.so", "include/eccl.h"):
            (tops / file).parent.mkdir(parents=True, exist_ok=True)
            (tops / file).write_text(file)
        for package in ("paddlepaddle-3.0.0b2", "numpy-1.26.4", "cmake-3.31.10"):
            info = packages / f"{package}.dist-info"
            info.mkdir(parents=True)
            (info / "METADATA").write_text("Name: x\n")
            rows = f"../../../bin/x,sha256={script},1\n{info.name}/INSTALLER,sha256={name},2\n"
            (info / "RECORD").write_text(f"x.py,sha256=abc,3\n{rows}{info.name}/RECORD,,\n")
        monkeypatch.setenv("PADDOCK_HOME", str(base / "home"))
        monkeypatch.setenv("TOPS_CUSTOM_PATH", str(tops))
        source = Source(str(base / "src"), base / "src", "c" * 40, "c" * 40)
        (base / "src/backends/gcu").mkdir(parents=True)
        (base / "src/backends/gcu/CMakeLists.txt").write_text("kernels/topsflame/libtopsop.a\n")
        (base / "src/backends/gcu/cmake/external").mkdir(parents=True)
        (base / "src/backends/gcu/cmake/external/gcu.cmake").write_text("topsaten eccl\n")
        chosen = Python(Path(sys.executable), "3.11", "3.0.0b2", base / "env")
        facts = Facts("", "", "", "", str(packages / "paddle"), "3.0.0b2", "", "")
        monkeypatch.setattr("provision.wheels.python.facts", lambda _, facts=facts: facts)
        work = Work(load_recipe("gcu"), source, chosen, "x86_64", base / "src")
        its, digest = making.of_recipe(work, base), sha256(wheel)
        both.append((statement.statement(wheel, digest, its), bill.bill(wheel, digest, its)))
    assert both[0] == both[1]
    said = json.loads(both[0][0])["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert [one["name"] for one in said if "vendor" in one.get("annotations", {})] == [
        "Enflame/libtopsop.a", "Enflame/libtopsaten.so", "Enflame/eccl.h",
    ]  # fmt: skip
    loose = {
        one["uri"]: one["annotations"] for one in said if "files" in one.get("annotations", {})
    }
    assert list(loose) == ["pkg:pypi/numpy@1.26.4", "pkg:pypi/paddlepaddle@3.0.0b2"]
    assert all(len(one["files"]) == 64 for one in loose.values())
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(both[0][1].decode()) is None
    held = {one["name"]: one["scope"] for one in json.loads(both[0][1])["components"]
            if "scope" in one}  # fmt: skip
    assert held["Enflame/libtopsop.a"] == held["paddlepaddle"] == "required"
    assert held["Enflame/eccl.h"] == held["numpy"] == held["cmake"] == "excluded"


def test_papers_are_made_once_and_anew_for_another_file(tmp_path: Path, wheel: Path) -> None:
    asked = []

    def made() -> Making:
        asked.append(1)
        return MADE

    files = making.put(wheel, made)
    assert [path.name for path in files] == [f"{wheel.name}.intoto.json", f"{wheel.name}.cdx.json"]
    before = [path.read_bytes() for path in files]
    assert making.put(wheel, made) == files and asked == [1]
    library = (tmp_path / "build" / Path(make.LIBRARY).name).read_bytes()
    make.sound(tmp_path, {make.INIT: b"x = 2\n", make.LIBRARY: library})
    making.put(wheel, made)
    assert asked == [1, 1]
    assert [path.read_bytes() for path in files] != before


def test_the_audit_believes_them_only_about_this_file(wheel: Path, against: Auditor) -> None:
    making.put(wheel, lambda: MADE)
    assert cases(against(wheel)) == {}
    library = (wheel.parent / "build" / Path(make.LIBRARY).name).read_bytes()
    make.sound(wheel.parent, {make.INIT: b"x = 2\n", make.LIBRARY: library})
    assert cases(against(wheel)) == {"wheel-provenance": "error other"}
    statement_beside(wheel).write_text("{}")
    assert cases(against(wheel)) == {"wheel-provenance": "warning form"}


def test_the_paddle_of_the_statement_is_another(wheel: Path, against: Auditor) -> None:
    making.put(wheel, lambda: Making({"paddle": "3.0.0"}, [], {}, []))
    assert cases(against(wheel)) == {"wheel-provenance": "warning paddle"}


def test_build_ops_names_them_and_shows_the_verdict(stack_home: Path) -> None:
    result = run_cli(stack_home, "build-ops", "--backend", "loopback", "--json")
    assert result.returncode == 0, result.stderr
    plugin, ops = json.loads(result.stdout)["wheels"]
    for one in (plugin, ops):
        assert [Path(path).is_file() for path in one["papers"]] == [True, True]
        assert (one["audit"]["status"], one["audit"]["bad"]) == (0, [])
    assert plugin["audit"]["registered"] == "registered: loopback"
    shown = run_cli(stack_home, "build-ops", "--backend", "loopback").stdout
    assert ".whl.intoto.json, " in shown and "registered: loopback" in shown


def test_a_recipe_s_statement_has_no_folder_of_the_machine(
    tmp_path: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for name in ("one", "another place/里"):
        base = tmp_path / name
        monkeypatch.setenv("PADDOCK_HOME", str(base / "home"))
        source = Source(str(base / "src"), base / "src", "c" * 40, "c" * 40)
        chosen = Python(Path(sys.executable), "3.11", "3.3.1", None)
        work = Work(load_recipe("custom_cpu"), source, chosen, "x86_64", base / "src")
        logs = base / "logs"
        logs.mkdir(parents=True)
        places = work.folder, work.build, sys.executable, base / "home/cache"
        (logs / "configure.sh").write_text("# a comment\n" + " ".join(map(str, places)) + "\n")
        its = making.of_recipe(work, logs)
        assert its.commands == ["/source /build /python /cache"]
        made.append(statement.statement(wheel, sha256(wheel), its))
    assert made[0] == made[1]
    assert str(tmp_path).encode() not in made[0]
    assert b'"gitCommit": "cccc' in made[0]
