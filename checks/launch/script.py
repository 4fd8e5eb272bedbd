"""A recipe as a shell script."""

from __future__ import annotations

from checks.launch.wish import Filled, differences
from provision.render import render

TEMPLATE = "launch/recipe.sh.j2"


def script(filled: Filled, target: str) -> str:
    """The text of the script; without a checkout it takes that from the variable PADDLENLP."""
    recipe = filled.recipe
    return render(TEMPLATE, {
        "target": target, "level": recipe.level, "name": recipe.name, "source": recipe.source,
        "differences": differences(filled), "checkout": filled.checkout or "",
        "folder": recipe.folder, "setup": [list(files) for files in recipe.setup],
        "environment": list(filled.environment.items()), "python_path": recipe.python_path,
        "launcher": recipe.launcher, "cards": ",".join(map(str, filled.cards)),
        "log_dir": recipe.log_dir, "program": recipe.program,
        "arguments": list(filled.arguments.items()),
    })  # fmt: skip
