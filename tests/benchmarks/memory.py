"""Resident memory of this process, now and at its peak.

Read from /proc on Linux. ``ru_maxrss`` is used elsewhere only: on Linux a child inherits it from
the process that started it.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")
KILOBYTE = 1024
GIGABYTE = 1e9


def resident() -> int:
    """Bytes of memory held now; on other systems than Linux those at the peak."""
    return _field("VmRSS")


def peak() -> int:
    """Bytes of memory held at the peak since the start or the last `forget_peak`."""
    return _field("VmHWM")


def forget_peak() -> bool:
    """Begin a new peak; False where the system has no such thing and the old one stays."""
    try:
        RESET.write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _field(name: str) -> int:
    try:
        lines = STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * KILOBYTE
    value = next(line for line in lines if line.startswith(name + ":"))
    return int(value.split()[1]) * KILOBYTE
