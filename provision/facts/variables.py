"""The environment variables that matter for accelerators, Paddle, and what is found first."""

from __future__ import annotations

import os
from collections.abc import Mapping

from provision.facts import small
from provision.network import hide_secrets, is_secret

_PREFIXES = (
    "ACL_", "ASCEND_", "ASDOPS_", "ATB_", "CCE_", "CUSTOM_DEVICE_", "ECCL_", "EFML_", "ENFLAME_",
    "FLAGS_", "GCU_", "GE_", "GLOG_", "GOMP_", "HCCL_", "KMP_", "LD_", "LOOPBACK_", "MKL_", "NPU_",
    "OMP_", "OPENBLAS_", "PADDLE_", "PYTHON", "RANK_TABLE_", "TASK_QUEUE_", "TOPS_", "TORCH_",
)  # fmt: skip
_NAMES = (
    "CONDA_DEFAULT_ENV", "CONDA_PREFIX", "CPU_AFFINITY_CONF", "CUDA_VISIBLE_DEVICES", "DRIVER_PATH",
    "DUMP_GE_GRAPH", "EXTEND_OP_ROOT", "HOME", "INF_NAN_MODE_ENABLE", "LANG", "LC_ALL", "LC_CTYPE",
    "LIBRARY_PATH", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "MAX_COMPILE_CORE_NUMBER",
    "MULTI_STREAM_MEMORY_REUSE", "PATH", "RANK", "RANK_ID", "SHELL", "SOC_VERSION",
    "TE_PARALLEL_COMPILER", "TMPDIR", "USER", "VIRTUAL_ENV", "WORLD_SIZE",
)  # fmt: skip


def collect(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables that are set, sorted by name.

    Users and passwords in addresses are hidden, and the whole value where the name says that it is
    a secret.
    """
    return {
        small.shown(name): "***" if is_secret(name) else hide_secrets(small.shown(value))
        for name, value in sorted(environ.items())
        if name in _NAMES or name.startswith(_PREFIXES)
    }
