"""Choose the number format in which a model computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluation.core.backends.embedding.contract import Precision

PROCESSOR_INFO = Path("/proc/cpuinfo")
NATIVE_FLAGS = {"avx512_bf16", "amx_bf16", "bf16"}  # x86, x86, arm


def choose_precision(precision: Precision, device: Any) -> str:
    """Return float32 or bfloat16: the requested format, or for "auto" the faster one."""
    if precision != "auto":
        return precision
    return "bfloat16" if has_native_bfloat16(device) else "float32"


def has_native_bfloat16(device: Any) -> bool:
    """Return whether the device computes in bfloat16 natively; False if unknown."""
    import torch

    kind = torch.device(device).type
    if kind == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return kind == "cpu" and has_processor_bfloat16()


def has_processor_bfloat16(processor_info: Path = PROCESSOR_INFO) -> bool:
    """Return whether Linux lists a bfloat16 flag for the processor."""
    try:
        text = processor_info.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    for line in text.splitlines():
        key, _, flags = line.partition(":")
        if key.strip() in {"flags", "Features"} and NATIVE_FLAGS & set(flags.split()):
            return True
    return False
