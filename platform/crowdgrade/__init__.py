"""Django project of the site, and the Python interface: DataFrames in, DataFrames out.

    import crowdgrade

    result = crowdgrade.grade(answers)  # columns worker, question and answer
    result.workers

Importing this package imports none of its modules: settings and Celery find theirs by name, and a
function of the Python interface is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdgrade.frames import (
        InputError,
        OptionsError,
        Result,
        describe_options,
        eloquent,
        grade,
        maqa,
        multiqa,
        panels,
        plan,
        umwp,
    )

_FRAMES = "crowdgrade.frames"
_NAMES = {
    "InputError": _FRAMES,
    "OptionsError": _FRAMES,
    "Result": _FRAMES,
    "describe_options": _FRAMES,
    "eloquent": _FRAMES,
    "grade": _FRAMES,
    "maqa": _FRAMES,
    "multiqa": _FRAMES,
    "panels": _FRAMES,
    "plan": _FRAMES,
    "umwp": _FRAMES,
}
__all__ = [
    "InputError",
    "OptionsError",
    "Result",
    "describe_options",
    "eloquent",
    "grade",
    "maqa",
    "multiqa",
    "panels",
    "plan",
    "umwp",
]


def __getattr__(name: str) -> Any:
    """Return a function of the Python interface, or the version; import it on first use."""
    if name == "__version__":
        return _find_version()
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_NAMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_NAMES, "__version__"])


def _find_version() -> str:
    """Return the installed version; "0+unknown" for a checkout that was never installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("crowdgrade")
    except PackageNotFoundError:
        return "0+unknown"
