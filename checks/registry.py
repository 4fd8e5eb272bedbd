"""All checks, in the order in which they run: what explains others stands before them."""

from __future__ import annotations

from typing import Final

from checks import (
    accelerator_known,
    compiler_works,
    environment_python,
    leftover_run,
    machine_disk,
    machine_memory,
    machine_os,
    network_certificates,
    network_index,
    network_proxies,
    plugin_blacklist,
    plugin_loads,
    plugin_root,
    python_version,
    stack_framework,
    stack_packages,
)
from checks.finding import Check

CHECKS: Final[tuple[Check, ...]] = (
    machine_os.CHECK,
    machine_memory.CHECK,
    machine_disk.CHECK,
    python_version.CHECK,
    compiler_works.CHECK,
    network_certificates.CHECK,
    network_proxies.CHECK,
    network_index.CHECK,
    accelerator_known.CHECK,
    leftover_run.CHECK,
    environment_python.CHECK,
    stack_framework.CHECK,
    plugin_root.CHECK,
    plugin_blacklist.CHECK,
    plugin_loads.CHECK,
    stack_packages.CHECK,
)
