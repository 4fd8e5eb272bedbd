"""Version numbers: read, ordered where the order is known, found in Huawei's ranges."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version as Pep440

from provision.versions import begins, compare, parse, same_release, within

# Each list from the oldest to the newest.
ORDERED = [
    "7.0.RC1 7.0.0 8.0.RC1.alpha003 8.0.RC1 8.0.RC1.10 8.0.RC2 8.0.RC3.alpha003 8.0.RC3 "
    "8.0.0.alpha001 8.0.0 8.0.1 8.1.RC1 8.5.1 9.1.0-beta.3 9.1.0 10.0.0",
    "22.0.4 23.0.rc3 23.0.rc3.6 23.0.0 23.0.5 23.0.5.1 24.1.rc1 24.1.0 24.1.0.3 25.0.rc1.b010 "
    "25.0.rc2 25.5.1",
    "6.4.0.4.220 7.1.0.7.220 7.1.0.11.220 7.5.0.1.129 7.8.0.6.201",
    "3.0.0a1 3.0.0b0 3.0.0-beta1 3.0.0rc1 3.0.0 3.0.0.post1 3.0.1 3.3.0",
    "3.0.0.dev20240520 3.0.0.dev20240719 3.0.0",
    "2.1.0.rc1 2.1.0 2.1.0.post8.dev20241009 2.1.0.post8 2.1.0.post13 2.10.0",
    "1.0.5.1-2c3111 1.2.0.301 1.4.0.3 1.4.0.505 1.5.0.5",
    "2.10.0+3.7.20260408 2.10.0+3.8.20260713 2.11.0+3.8.20260713",
    "3.2.109 3.3.20250314 3.4.623",
    "3.3.20250314 3.3.20250401",
]
PIECES = ["0", "1", "2", "00", "10", "20250314", "rc1", "RC2", "alpha001", "b0", "T10", "t2"]
PIECES += ["dev3", "post2", "b010", "beta1"]
ENDS = ["", "+cpu", "+1.2", "+1.3", "-2c3111", "-beta.3"]
versions = st.builds(
    lambda first, pieces, end: ".".join([str(first), *pieces]) + end,
    st.integers(0, 2), st.lists(st.sampled_from(PIECES), max_size=4), st.sampled_from(ENDS),
)  # fmt: skip


@pytest.mark.parametrize("line", ORDERED)
def test_the_order_of_what_vendors_published(line: str) -> None:
    for older, newer in itertools.combinations(line.split(), 2):
        assert (compare(older, newer), compare(newer, older)) == (-1, 1), (older, newer)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("8.0.T13", "8.0.RC1"),  # a test version: nothing says when it was
        ("8.0.T13", "8.0.0"),
        ("3.0.0.dev20241202", "3.0.0b0"),  # a nightly build of a branch that goes on
        ("3.3.20250314", "3.3.109"),  # a date and a count
        ("3.3.20250314", "3.3.post2"),
        ("1.0.5.1-2c3111", "1.0.5.1-4d5e6f"),
        ("1.0.5.1-2c3111", "1.0.5.1"),
        ("25.0.rc1.b010", "25.0.rc1"),
        ("8.0.0.beta1", "8.0.0"),
        ("nightly", "3.0.0"),
        ("", ""),
    ],
)
def test_an_order_that_is_not_known_is_not_told(a: str, b: str) -> None:
    assert compare(a, b) is None
    assert compare(b, a) is None


def test_spellings_of_one_version() -> None:
    for a, b in [("8.0.RC1", "8.0.rc1"), ("2.1.0.rc1", "2.1.0rc1"), ("v3.0.0-beta1", "3.0.0b1"),
                 ("3.0", "3.0.0"), ("8.0.rc1", "8.0.rc01"), (" 1.0\n", "1.0")]:  # fmt: skip
        assert compare(a, b) == 0, (a, b)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("2.7.1+cpu", "2.7.1", True),
        ("1.0.5.1-2c3111", "1.0.5.1", True),
        ("1.0.5.1-b23111", "1.0.5.1", True),
        ("1.0.5.1-a1b2b3", "1.0.5.1", True),
        ("25.0.rc1.b010", "25.0.RC1", True),
        ("8.0.RC3.beta1", "8.0.RC3", True),
        ("9.1.0-beta.3", "9.1.0", False),
        ("24.1.0.3", "24.1.0", False),
        ("8.0.RC1.10", "8.0.RC1", False),
        ("1.4.0.505", "1.4.0.3", False),
        ("nightly", "nightly", None),
    ],
)
def test_one_release_in_several_builds(a: str, b: str, same: bool | None) -> None:
    assert same_release(a, b) is same
    assert same_release(b, a) is same


@pytest.mark.parametrize(
    "text",
    ["", "nightly", "V100R001C13SPC005B246", "v2.9.0-7.3.0", "8.0.RC", "8..0", "23.0.rc3.", "1-2",
     "8.0.RC1 / 8.0.RC2", "3.x", "-1", "1.2.3.", "٣.٠", "1" * 5000, "1.0" + ".1" * 100],
)  # fmt: skip
def test_what_is_no_version(text: str) -> None:
    assert parse(text) is None


@given(st.text() | st.from_regex(r"[0-9a-zA-Z.+-]{0,40}", fullmatch=True))
def test_any_text_is_a_version_or_none(text: str) -> None:
    version = parse(text)
    assert compare(text, text) == (None if version is None else 0)
    assert within(text, [(text, text)]) in (None, True)
    assert within("8.0.RC1", [(text, "9.0.0"), ("1.0", text)]) in (None, True, False)


@given(versions, versions)
def test_the_order_has_two_sides(a: str, b: str) -> None:
    one, other = compare(a, b), compare(b, a)
    assert other == (None if one is None else -one)
    if one == 0:
        assert same_release(a, b)


@given(versions, versions, versions)
def test_the_order_is_transitive(a: str, b: str, c: str) -> None:
    if compare(a, b) in (-1, 0) and compare(b, c) in (-1, 0):
        together = {compare(a, b), compare(b, c)}
        assert compare(a, c) == (0 if together == {0} else -1)


PACKAGES = st.builds(
    "{}.{}.{}{}{}".format, st.integers(0, 2), st.integers(8, 11), st.integers(0, 1),
    st.sampled_from(["", "a0", "a1", "b0", "b1", "rc1", "rc2", ".rc2", ".post1", ".post10"]),
    st.sampled_from(["", ".dev20240520", ".dev20240719"]),
)  # fmt: skip


@given(PACKAGES, PACKAGES)
def test_packages_are_ordered_as_pip_orders_them(a: str, b: str) -> None:
    first, second = Pep440(a), Pep440(b)
    answer = compare(a, b)
    if answer is None:  # only where a nightly build meets a candidate of the same release
        assert first.release == second.release and (first.is_devrelease or second.is_devrelease)
    else:
        assert answer == (first > second) - (first < second)


def test_what_begins_with_a_version() -> None:
    assert begins("25.3.RC1", "25.3") and begins("25.3", "25.3.0") and begins("3.10.12", "3.10")
    assert begins("3.1.0", "3.10") is False
    assert begins("nightly", "3.10") is None


@pytest.mark.parametrize(
    ("version", "ranges", "answer"),
    [
        ("7.1.0.11.220", [("7.0.0", "7.1.99")], True),
        ("7.2.0.1.231", [("7.0.0", "7.1.99")], False),
        ("7.1.99.3", [("7.0.0", "7.1.99")], True),
        ("6.4.0.4.220", [("6.4.0", "6.4.99"), ("7.0.0", "7.7.99")], True),
        ("8.9.9.1.231", [("6.4.0", "6.4.99"), ("7.0.0", "8.9.9")], True),
        ("7.10.0.1.231", [("7.0.0", "7.2.99")], None),  # Huawei compares characters
        ("23.0.rc3", [("23.0.rc3", "23.0.rc3."), ("23.0.0", "23.0.0.")], True),
        ("23.0.RC3.6", [("23.0.rc3", "23.0.rc3."), ("23.0.0", "23.0.0.")], True),
        ("23.0.rc2.3", [("23.0.rc3", "23.0.rc3."), ("23.0.0", "23.0.0.")], False),
        ("23.0.7", [("23.0.rc3", "23.0.rc3."), ("23.0.0", "23.0.0.")], False),
        ("24.1.rc3", [("23.0.0", "23.0.0."), ("24.1", "24.1.")], True),
        ("25.0.rc1.b010", [("25.0.rc1", "25.0.rc1.")], True),
        ("24.10.0", [("24.1", "24.1.")], False),
        ("nightly", [("24.1", "24.1.")], None),
        ("24.1.0", [("what", "else")], None),
        ("24.1.0", [], None),
    ],
)
def test_ranges_of_version_files(
    version: str, ranges: list[tuple[str, str]], answer: bool | None
) -> None:
    assert within(version, ranges) is answer
