"""Which file of a folder is the one that is wanted, and which digest it may have."""

from __future__ import annotations

from pathlib import Path

import pytest

from provision.digest import sha256
from provision.errors import PaddockError
from provision.steps.vendor import missing
from provision.vendor import deps, trust
from tests.vendor.conftest import Make

DRIVER = "Ascend-hdk-910b-npu-driver_{}_linux-{}.run"


def touched(folder: Path, *names: str) -> None:
    for name in names:
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(name)


@pytest.mark.parametrize(
    ("release", "arch", "name"),
    [
        ("3.0.0", "x86_64", DRIVER.format("23.0.3", "x86-64")),
        ("3.0.0", "aarch64", DRIVER.format("23.0.3", "aarch64")),
        ("3.3.0", "aarch64", DRIVER.format("24.1.0", "aarch64")),
    ],
)
def test_the_wanted_file_is_named_with_pins_and_processor(
    make: Make, release: str, arch: str, name: str
) -> None:
    context = make(release=release, arch=arch)
    assert deps.wanted(context.stack.packages["driver"], context) == name


def test_both_spellings_of_a_processor_are_taken(make: Make) -> None:
    context = make()
    assert context.deps
    for spelling in ("x86_64", "x86-64"):
        touched(context.deps, DRIVER.format("23.0.3", spelling))
        found = deps.find(context.stack.packages["driver"], context)
        assert found and found.path.name in (DRIVER.format("23.0.3", s)
                                             for s in ("x86_64", "x86-64"))  # fmt: skip


def test_others_are_named_and_not_taken(make: Make) -> None:
    context = make()
    assert context.deps
    touched(context.deps, DRIVER.format("23.0.3", "aarch64"), DRIVER.format("24.1.0", "x86-64"))
    assert deps.find(context.stack.packages["driver"], context) is None
    touched(context.deps, f"sub/{DRIVER.format('23.0.3', 'x86-64')}")
    found = deps.find(context.stack.packages["driver"], context)
    assert found and found.path == context.deps / "sub" / DRIVER.format("23.0.3", "x86-64")
    assert found.others == (DRIVER.format("24.1.0", "x86-64"),)


def test_a_name_that_only_looks_alike_is_another(make: Make) -> None:
    context = make()
    assert context.deps
    wrong = ("{}.part", "x{}", "{}\n")
    touched(context.deps, *(one.format(DRIVER.format("23.0.3", "x86-64")) for one in wrong),
            DRIVER.format("23x0.3", "x86-64"), DRIVER.format("23.0.30", "x86-64"))  # fmt: skip
    assert deps.find(context.stack.packages["driver"], context) is None


def test_what_a_release_brings_in_one_is_not_wanted_apart(make: Make) -> None:
    for release, wanted in (("3.0.0", None), ("3.0.0b0", "eccl_*_amd64.deb")):
        context = make("s60", release)
        assert deps.wanted(context.stack.packages["eccl"], context) == wanted


def test_two_versions_where_none_is_pinned_are_an_error(make: Make) -> None:
    context = make("s60", "3.0.0b0")
    assert context.deps
    touched(context.deps, "eccl_3.1_amd64.deb", "eccl_3.2_amd64.deb")
    with pytest.raises(PaddockError) as caught:
        missing([context.stack.packages["eccl"]], context)
    assert caught.value.code == "package-several"
    assert "eccl_3.1_amd64.deb, eccl_3.2_amd64.deb" in str(caught.value)


def test_an_archive_stands_for_what_may_be_in_it(make: Make) -> None:
    context = make("s60", "3.0.0b0")
    assert context.deps
    touched(context.deps, "TopsPlatform.tar.gz")
    found = deps.find(context.stack.packages["driver"], context)
    assert found and found.archive == context.deps / "TopsPlatform.tar.gz"
    deps.place(found.archive, context).mkdir(parents=True)
    assert deps.find(context.stack.packages["driver"], context) is None


def test_a_digest_is_published_or_that_of_the_first_use(make: Make) -> None:
    context = make()
    assert context.deps
    package, file = context.stack.packages["driver"], context.deps / "a.run"
    file.write_text("one")
    digest, known = trust.checked(file, package, context.site)
    assert not known
    context.site.trusted.parent.mkdir(parents=True)
    context.site.trusted.write_text(f"torn\n{digest}  a.run\n")
    assert trust.checked(file, package, context.site) == (digest, True)
    file.write_text("another")
    with pytest.raises(PaddockError) as caught:
        trust.checked(file, package, context.site)
    assert caught.value.code == "package-changed"


def test_a_published_digest_decides(make: Make) -> None:
    from msgspec.structs import replace

    context = make()
    assert context.deps
    file = context.deps / "a.run"
    file.write_text("one")
    package = replace(context.stack.packages["driver"], sha256={"a.run": sha256(file)})
    assert trust.checked(file, package, context.site)[1]
    file.write_text("two")
    with pytest.raises(PaddockError) as caught:
        trust.checked(file, package, context.site)
    assert caught.value.code == "package-damaged"
