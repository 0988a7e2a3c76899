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
    """Return a function of the Python interface or the version; import it on first use."""
    if name == "__version__":
        return _find_version()
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("crowdgrade.frames"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])


def _find_version() -> str:
    """Return the installed version; "0+unknown" for a checkout that was never installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("crowdgrade")
    except PackageNotFoundError:
        return "0+unknown"
