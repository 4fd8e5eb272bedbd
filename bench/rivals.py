"""The same amount of nothing to do, for pyinfra and for Ansible.

A step that holds is shown by files that are still as they were; so each rival gets one operation
a step that asks for a file which exists, on this machine, without a login. Both are installed
from `requirements.lock` here, into an environment of their own.
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


def ansible(env: Path, folder: Path, steps: int) -> Command:
    """A play of `steps` tasks that all hold; an empty file keeps Ansible at its defaults."""
    task = "    - ansible.builtin.file: {{path: '{}', state: file}}\n"
    tasks = "".join(task.format(path) for path in _files(folder, steps))
    play = folder / "play.yml"
    play.write_text(_PLAY.format(python=env / "bin" / "python", tasks=tasks), encoding="utf-8")
    own = folder / "ansible.cfg"
    own.touch()
    settings = {"ANSIBLE_HOME": str(folder / "ansible"), "ANSIBLE_CONFIG": str(own),
                "ANSIBLE_LOCALHOST_WARNING": "false", "LC_ALL": "C.UTF-8"}  # fmt: skip
    return Command([env / "bin" / "ansible-playbook", "-i", "localhost,", play], folder, settings)
