"""What of the user's environment takes part in a build, and what is kept out of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

# What CMake, gcc and clang are told by variables; it decides what they make. Source: "Environment
# Variables Affecting GCC" of gcc's manual, cmake-env-variables(7).
_TAKEN = (
    "CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "LD_RUN_PATH",
)  # fmt: skip
# What would overrule the recipe in CMake, and what would lead its tools, Python and the packing
# elsewhere or change what they print, which is read here.
_OVERRULES = re.compile("CMAKE_|DESTDIR$")
_MISLEADS = re.compile(
    "PYTHON|SETUPTOOLS_|DIST_EXTRA_CONFIG$|DISTUTILS_|NINJA_|(GNU)?MAKE(FLAGS|FILES|LEVEL)$|MFLAGS$"
    "|DEPENDENCIES_OUTPUT$|SUNPRO_DEPENDENCIES$|LANGUAGE$|CLICOLOR_FORCE$"
)


def taken() -> dict[str, str]:
    """The variables of the compilers that are set, with their values."""
    return {name: value for name in _TAKEN if (value := os.environ.get(name))}


def overruling() -> list[str]:
    """Those that are set and left out because the recipe decides what they are about."""
    return sorted(name for name in os.environ if _OVERRULES.match(name))


def clean(variables: Mapping[str, str]) -> dict[str, str]:
    """These variables without those that are kept out."""
    return {name: value for name, value in variables.items()
            if not (_OVERRULES.match(name) or _MISLEADS.match(name))}  # fmt: skip
