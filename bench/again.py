"""A second provision, which has nothing to do, against Invoke alone, pyinfra and Ansible.

Ours finds that every step holds; the rivals get as many operations that hold too.

It runs in a home of its own that stays between runs of the benchmarks; the first provision of it
is not measured here.
"""

from __future__ import annotations

import json
from pathlib import Path

from bench import rivals
from bench.cost import CommandFailed, extra, in_turn, medians, output_of, ratio, run
from bench.places import TARGET, TOP, bare, scratch, tool
from bench.result import Result
from provision import bootstrap
from provision.lock import lock_file
from provision.paths import ROOT
from provision.stack import load, stack_file

N = 15
N_RIVALS = 5
_LOCK = ROOT / "bench" / "requirements.lock"


def _steps(home: Path) -> int:
    """How many steps hold there. Raises CommandFailed where something was to do."""
    command = tool("provision", "--target", TARGET, "--yes", "--json", home=home)
    found = json.loads(output_of(command))
    if found["changed"] is not False:
        raise CommandFailed(f"{home}: a second provision still changed something")
    return int(found["steps"])


def _locks() -> list[Path]:
    """The lock of each step that installs packages."""
    stack = load(stack_file(TARGET))
    layers = [step.lock for step in stack.steps if step.lock]
    folder = stack_file(TARGET).parent
    return [lock_file(folder, stack.default_release, layer) for layer in layers]


def provision_again() -> list[Result]:
    """Whole processes: ours minus a bare task, and how many times faster than each rival."""
    home = TOP / "home"
    run(tool("provision", "--target", TARGET, "--yes", home=home))
    steps = _steps(home)
    env = bootstrap.environment(_LOCK)
    ours = tool("provision", "--target", TARGET, home=home)
    with scratch() as folder:
        mine, plain = in_turn([ours, bare(folder, "build")], N)
        milliseconds = extra(mine, plain) * 1000
        target = home / "data" / "envs" / TARGET
        made = [
            rivals.pyinfra(env, folder, steps),
            rivals.ansible(env, folder, steps, target, _locks()),
        ]
        again, pyinfra, ansible = in_turn([ours, *made], N_RIVALS)
    return [
        Result("provision again - bare invoke", milliseconds, " ms", 60, N, medians(mine, plain)),
        Result("pyinfra / provision again", ratio(pyinfra, again), "x", 3, N_RIVALS,
               f"{steps} operations; {medians(pyinfra, again)}", at_least=True),
        Result("ansible / provision again", ratio(ansible, again), "x", 40, N_RIVALS,
               f"{steps} operations; {medians(ansible, again)}", at_least=True),
    ]  # fmt: skip
