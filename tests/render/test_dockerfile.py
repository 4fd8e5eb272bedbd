"""The Dockerfile: sound, pinned, of two stages, without secrets, for both builders of Docker."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from provision.errors import PaddockError
from provision.forms.dockerfile import SECRETS, base_of, holds_stack, split
from provision.paths import ROOT
from provision.render import copied
from tests.render.values import BASE, RELEASES, TARGETS, clean, instructions, made, options, wanted

CHOICES = [{}, {"classic": True}, {"secrets": ("ca", "index")}, {"base": BASE},
           {"classic": True, "secrets": ("ca",)}, {"home": Path("/a b/$家")},
           {"home": Path("/a b/家"), "classic": True}]  # fmt: skip


@pytest.mark.parametrize("choices", CHOICES, ids=str)
@pytest.mark.parametrize(("target", "release"), RELEASES)
def test_hadolint_finds_nothing(target: str, release: str, choices: dict[str, object]) -> None:
    clean("hadolint", made("dockerfile", target, release, **choices), "--failure-threshold=style")


@pytest.mark.parametrize("classic", [True, False])
def test_a_home_that_needs_quotes_is_copied_as_a_list(classic: bool) -> None:
    """COPY parts its words at blanks whatever the quotes, and expands variables in a list, too."""
    found = instructions(made("dockerfile", "s60", home=Path("/a b/$家"), classic=classic))
    paths = [json.loads(rest[rest.index("[") :]) for name, rest in found
             if name == "COPY" and "[" in rest]  # fmt: skip
    assert paths == [["packages", "/a b/\\$家/packages"], ["/a b/\\$家", "/a b/\\$家"]]
    assert not [rest for name, rest in found if name == "COPY" and "'" in rest]


def test_a_path_without_need_of_quotes_is_copied_as_it_is() -> None:
    assert copied(["packages", Path("/opt/x/packages")]) == "packages /opt/x/packages"
    assert json.loads(copied(["a\"b'\\c"])) == ["a\\\"b\\'\\\\c"]


@pytest.mark.parametrize("choices", CHOICES, ids=str)
@pytest.mark.parametrize(("target", "release"), RELEASES)
def test_every_image_has_a_digest_or_a_reason(
    target: str, release: str, choices: dict[str, object]
) -> None:
    lines = made("dockerfile", target, release, **choices).splitlines()
    stages = {line.split(" AS ")[1] for line in lines if line.startswith("FROM") and " AS " in line}
    outside = [(before, line) for before, line in zip(["", *lines], lines, strict=False)
               if line.startswith("FROM") and line.split()[1] not in stages]  # fmt: skip
    assert len(outside) == 1
    for before, line in outside:
        assert "@sha256:" in line or before.startswith("# No digest:"), line


@pytest.mark.parametrize(("target", "release"), RELEASES)
def test_what_compiles_stays_in_its_stage(target: str, release: str) -> None:
    """The last stage starts from the base anew, and runs but `useradd` and a look at the result."""
    found = instructions(made("dockerfile", target, release))
    last = max(i for i, (name, _) in enumerate(found) if name == "FROM")
    assert found[last][1] == "base"
    runs = [rest for name, rest in found[last:] if name == "RUN"]
    assert all(rest.startswith(("useradd ", "CUSTOM_DEVICE_ROOT=/none")) for rest in runs)
    assert '-c "import paddle"' in runs[-1]
    copied = [rest for name, rest in found[last:] if name == "COPY"]
    assert [re.sub("--chown=[0-9:]+ ", "", rest) for rest in copied] == [
        "--from=build /opt/paddock /opt/paddock"
    ]


@pytest.mark.parametrize("target", TARGETS)
def test_each_step_of_an_image_is_done_by_the_tool_in_order(target: str) -> None:
    one = wanted(target)
    inside, left = split(one)
    text = made("dockerfile", target)
    runs = [options(rest) for name, rest in instructions(text) if name == "RUN"]
    done = [words[-1] for words in runs if "provision" in words]
    assert done == [step.name for step in inside]
    assert not {step.name for step in left} & set(done)
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert all(any(step.name in line for line in comments) for step in left)
    needed = {name for step in inside for name in step.needs}
    assert needed & {step.name for step in one.steps} <= set(done)


@pytest.mark.parametrize("target", TARGETS)
def test_it_runs_as_an_ordinary_user_or_says_why_not(target: str) -> None:
    text = made("dockerfile", target)
    users = [rest for name, rest in instructions(text) if name == "USER"]
    image = wanted(target).stack.image
    assert image is not None
    if image.user:
        assert users == ["10001:10001"]
    else:
        assert not users
        assert f"# Its user is root: {image.root}." in text.splitlines()


@pytest.mark.parametrize("target", TARGETS)
def test_its_health_is_what_doctor_says(target: str) -> None:
    (health,) = [rest for name, rest in instructions(made("dockerfile", target))
                 if name == "HEALTHCHECK"]  # fmt: skip
    command = json.loads(health.split(" CMD ")[1])
    assert command[-3:-1] == ["/bin/sh", "-c"]
    assert command[-1].startswith(f"paddock doctor --target {target};")
    settings = wanted(target).stack.settings
    assert all(file in command[2] for file in settings)
    assert bool(settings) == (len(command) > 3)


@pytest.mark.parametrize("target", TARGETS)
def test_a_container_starts_with_the_variables_of_the_vendor(target: str, tmp_path: Path) -> None:
    """The entry point sources those of the scripts that are there, and becomes its command."""
    entries = [json.loads(rest) for name, rest in instructions(made("dockerfile", target))
               if name == "ENTRYPOINT"]  # fmt: skip
    settings = wanted(target).stack.settings
    assert len(entries) == bool(settings)
    for entry in entries:
        here = tmp_path / "set_env.sh"
        here.write_text("export FOUND=here\n")
        argv = [word.replace(settings[0], str(here)) for word in entry]
        done = subprocess.run([*argv, "sh", "-c", 'echo "$FOUND $1"; exit 3', "-", "a b"],
                              capture_output=True, text=True, check=False)  # fmt: skip
        assert (done.returncode, done.stdout) == (3, "here a b\n")


STACK = {"ascend910b": "host/toolkit,host/kernels,host/nnal", "s60": "host/tops"}


@pytest.mark.parametrize("classic", [False, True])
@pytest.mark.parametrize("target", STACK)
def test_the_vendors_stack_is_made_where_the_base_may_lack_it(target: str, classic: bool) -> None:
    """Its packages reach no layer of the result: mounted, or in a stage that is left behind."""
    with_stack = made("dockerfile", target, base=BASE, classic=classic)
    assert f"--only {STACK[target]}" not in made("dockerfile", target, classic=classic)
    stages = [stage.splitlines() for stage in with_stack.split("\nFROM ")]
    (stage,) = [one for one in stages if any(f"--only {STACK[target]}" in line for line in one)]
    name = stage[0].split(" AS ")[1]
    assert stages[-1][0] == "stack"
    assert ("COPY packages" in "\n".join(stage)) == classic
    assert (name == "stack") != classic
    left = [line for line in with_stack.splitlines() if line.startswith("# These steps")]
    assert not any(step in left[0] for step in STACK[target].split(","))


def test_a_base_that_is_known_to_lack_the_stack_gets_it() -> None:
    one = wanted("s60", "3.0.0b0", base="")
    assert base_of(one).endswith("/paddle:latest-dev")
    assert not holds_stack(one)
    assert holds_stack(wanted("s60"))
    assert not holds_stack(wanted("s60", base=BASE))


def test_where_paddle_finds_its_plugins_is_told_for_the_one_python_that_fits() -> None:
    env = "/opt/paddock/home/data/envs/s60"
    place = f"CUSTOM_DEVICE_ROOT={env}/lib/python3.10/site-packages/paddle_custom_device"
    assert place in made("dockerfile", "s60")
    assert "python3.1" not in made("dockerfile", "loopback")


def test_its_labels_hold_the_pins_and_the_digest_of_the_locks() -> None:
    one = wanted("ascend910b")
    (labels,) = [rest for name, rest in instructions(made("dockerfile", "ascend910b"))
                 if name == "LABEL"]  # fmt: skip
    found = dict(word.split("=", 1) for word in shlex.split(labels))
    for pin, version in one.stack.releases[one.release].pins.items():
        assert found[f"paddock.pin.{pin}"] == version
    assert found["org.opencontainers.image.version"] == one.release
    assert re.fullmatch("[0-9a-f]{64}", found["paddock.lock.sha256"])
    other = made("dockerfile", "ascend910b", base=BASE)
    assert f'org.opencontainers.image.base.digest="sha256:{"ab" * 32}"' in other


def test_no_frontend_unless_asked() -> None:
    assert "syntax=" not in made("dockerfile", "loopback")
    first = made("dockerfile", "loopback", syntax="docker/dockerfile:1").splitlines()[0]
    assert first == "# syntax=docker/dockerfile:1"


def test_the_classic_builder_gets_nothing_that_it_does_not_know() -> None:
    assert "--mount" in made("dockerfile", "loopback")
    assert "--mount" not in made("dockerfile", "loopback", classic=True, secrets=("ca",))


def test_secrets_are_named_and_never_part_of_an_instruction_that_stays() -> None:
    found = instructions(made("dockerfile", "loopback", secrets=tuple(SECRETS)))
    for name, rest in found:
        if name in ("ENV", "ARG", "LABEL"):
            assert "/run/secrets" not in rest
    runs = [rest for name, rest in found if name == "RUN" and "/paddock " in rest]
    assert all(f"--mount=type=secret,id={name},required=true" in rest
               for rest in runs for name in SECRETS)  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_downloaded_but_by_the_tool_and_the_systems_package_manager(
    target: str,
) -> None:
    text = made("dockerfile", target)
    assert not [name for name, _ in instructions(text) if name == "ADD"]
    assert not re.search(r"\b(curl|wget|pip install|git clone)\b", text)


def test_what_is_copied_exists_and_is_let_through_by_dockerignore() -> None:
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
               if line.startswith("!")]  # fmt: skip
    copied = [rest.split()[:-1] for name, rest in instructions(made("dockerfile", "loopback"))
              if name == "COPY" and not rest.startswith("--from")]  # fmt: skip
    names = [word for words in copied for word in words]
    assert len(names) == 7
    for name in names:
        assert (ROOT / name).exists()
        assert name in allowed


def test_a_release_without_a_lock_is_not_rendered() -> None:
    for form in ("dockerfile", "script"):
        with pytest.raises(PaddockError, match="lock"):
            made(form, "s60", "3.0.0b0")


def test_a_release_without_a_known_image_wants_one() -> None:
    from dataclasses import replace

    from provision.forms.dockerfile import dockerfile

    one = wanted("loopback")
    image = one.stack.image
    assert image is not None
    import msgspec

    bare = msgspec.structs.replace(one.stack, image=msgspec.structs.replace(image, bases={}))
    with pytest.raises(PaddockError) as raised:
        dockerfile(replace(one, stack=bare))
    assert raised.value.code == "no-base"
    assert f"FROM {BASE} AS base" in dockerfile(replace(one, stack=bare, base=BASE))
