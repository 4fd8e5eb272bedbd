"""Are PaddleNLP, the build tools and the model's reader installed as locked?

Apart from Paddle itself, since a plugin that does not load has its cause there and not here.
"""

from __future__ import annotations

from checks.machine.differences import judge
from checks.machine.finding import Check, Finding
from provision.facts.snapshot import Facts


def _run(facts: Facts) -> Finding:
    return judge(facts, ("build", "paddlenlp", "model"))


CHECK = Check("stack-packages", _run, needs=("environment-python", "leftover-run"))
