"""The forms. A new one is one function and one line here."""

from __future__ import annotations

from collections.abc import Callable

from provision.forms.container import compose, run
from provision.forms.dockerfile import dockerfile
from provision.forms.kubernetes import job, pod
from provision.forms.script import script
from provision.forms.wanted import Wanted

STARTING = ("run", "compose", "pod", "job")  # what starts a container
FORMS: dict[str, Callable[[Wanted], str]] = {
    "dockerfile": dockerfile,
    "script": script,
    "compose": compose,
    "run": run,
    "pod": pod,
    "job": job,
}
