"""What the numbers were measured on."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.core.backends.embedding.sentences import PROCESSOR_INFO, has_processor_bfloat16

LIBRARIES = (
    "crowdgrade",
    "numpy",
    "scipy",
    "torch",
    "sentence-transformers",
    "scikit-learn",
    "crowd-kit",
    "pandas",
)
THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def environment() -> dict[str, Any]:
    """Return versions, BLAS, processor and cores, as plain values; None where nobody can tell."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor_name(),
        "cores": usable_cores(),
        "memory_gb": _memory(),
        "bfloat16": has_processor_bfloat16(),
        "blas": _blas(),
        "threads": {name: os.environ[name] for name in THREAD_SETTINGS if name in os.environ},
        "versions": {name: _version(name) for name in LIBRARIES},
    }


def processor_name(processor_info: Path = PROCESSOR_INFO) -> str | None:
    """Return the processor's name as Linux gives it, else what Python knows."""
    try:
        text = processor_info.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.processor() or None


def load_average() -> float | None:
    """Return the one-minute load average; None where the system has none."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def usable_cores() -> int | None:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return os.cpu_count() if affinity is None else len(affinity(0))


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9, 1)
    except (AttributeError, OSError, ValueError):
        return None


def _blas() -> str | None:
    config: Any = np.show_config(mode="dicts")
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return " ".join(str(blas[key]) for key in ("name", "version") if blas.get(key)) or None


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
