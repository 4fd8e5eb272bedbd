"""The same amount of nothing to do, for pyinfra and for Ansible.

Each rival gets one operation a step, on this machine, without a login. pyinfra gets its cheapest,
a file that exists. Ansible gets a play as its users write it: `ansible.builtin.pip` with the same
lock and environment where a step installs packages, and its cheapest for the other steps; with
nothing but its cheapest it would stay near 30 times, since Invoke's own start is most of ours.
Both are installed from `requirements.lock` here, into an environment of their own.
"""

from __future__ import annotations

from pathlib import Path

from bench.cost import Command

_DEPLOY = """\
from pyinfra.operations import files

for path in {paths!r}:
    files.file(path=path, present=True)
"""

# Ansible's own search for an interpreter fails on pyenv's shims.
_PLAY = """\
- hosts: localhost
  connection: local
  gather_facts: false
  vars:
    ansible_python_interpreter: {python}
  tasks:
{tasks}"""


def _files(folder: Path, steps: int) -> list[str]:
    """As many files as there are steps."""
    paths = [folder / f"file{number}" for number in range(steps)]
    for path in paths:
        path.touch(mode=0o644)
    return [str(path) for path in paths]


def pyinfra(env: Path, folder: Path, steps: int) -> Command:
    """A deploy of `steps` operations that all hold."""
    deploy = folder / "deploy.py"
    deploy.write_text(_DEPLOY.format(paths=_files(folder, steps)), encoding="utf-8")
    return Command([env / "bin" / "pyinfra", "-y", "@local", deploy], folder)


def ansible(env: Path, folder: Path, steps: int, target: Path, locks: list[Path]) -> Command:
    """A play of `steps` tasks that all hold, one for each lock in the environment `target`.

    An empty file keeps Ansible at its defaults.
    """
    flags = "--no-deps --require-hashes --no-index --disable-pip-version-check"
    pip = "    - ansible.builtin.pip: {{requirements: '{}', virtualenv: '{}', extra_args: '{}'}}\n"
    file = "    - ansible.builtin.file: {{path: '{}', state: file}}\n"
    tasks = "".join(pip.format(lock, target, flags) for lock in locks)
    tasks += "".join(file.format(path) for path in _files(folder, steps - len(locks)))
    play = folder / "play.yml"
    play.write_text(_PLAY.format(python=env / "bin" / "python", tasks=tasks), encoding="utf-8")
    own = folder / "ansible.cfg"
    own.touch()
    settings = {"ANSIBLE_HOME": str(folder / "ansible"), "ANSIBLE_CONFIG": str(own),
                "ANSIBLE_LOCALHOST_WARNING": "false", "LC_ALL": "C.UTF-8"}  # fmt: skip
    return Command([env / "bin" / "ansible-playbook", "-i", "localhost,", play], folder, settings)
