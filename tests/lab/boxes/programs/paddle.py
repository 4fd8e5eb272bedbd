"""Stands for Paddle where a box has an environment: it opens the plugins as Paddle does.

A plugin that the loader takes has registered its device; one that it does not take ends the
import with Paddle's sentence.
"""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path
from types import SimpleNamespace

_TYPES: list[str] = []
_OWN = Path(__file__).parents[1] / "paddle_custom_device"
_FOLDER = Path(os.environ.get("CUSTOM_DEVICE_ROOT", _OWN))
for _file in sorted(_FOLDER.glob("*.so")):
    try:
        ctypes.CDLL(str(_file), mode=os.RTLD_NOW)
    except OSError as error:
        _said = f"(InvalidArgument) Fail to open library: {_file} with error: {error}"
        raise ValueError(_said) from None
    _match = re.search(r"custom-(\w+)", _file.name)
    _TYPES += [_match[1]] if _match else []
device = SimpleNamespace(get_all_custom_device_type=lambda: list(_TYPES))
