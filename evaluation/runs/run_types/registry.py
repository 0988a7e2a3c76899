"""Find the run types of this installation by their names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

from evaluation.core.options import Parameters
from evaluation.runs.run_types.kind import Kind

if TYPE_CHECKING:
    from evaluation.models import Run
    from evaluation.runs.judging import Judging
    from evaluation.runs.judging.tasks import JudgingKey


class UnknownKindError(LookupError):
    """Error: the installation has no run type with this name; the message says why."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"This site has no run type {name!r}: it is of another version of the "
            "platform, or was taken out of its settings."
        )


def list_kinds() -> Mapping[str, Kind]:
    """Return all run types by name, in the order of the setting `RUN_KINDS`."""
    return _import_kinds(tuple(settings.RUN_KINDS))


def list_run_kinds() -> Mapping[str, Kind]:
    """Return the run types that have runs, by name; the others only work on files."""
    return {name: kind for name, kind in list_kinds().items() if kind.has_runs}


def list_asking_kinds() -> list[str]:
    """Return the names of the run types whose runs begin with model requests."""
    return [name for name, kind in list_run_kinds().items() if kind.asks]


def get_kind(name: str) -> Kind:
    """Return the run type with this name. Raises `UnknownKindError`."""
    try:
        return list_run_kinds()[name]
    except KeyError:
        raise UnknownKindError(name) from None


def get_run_kind(run: Run) -> Kind:
    """Return the run type of a stored run. Raises `UnknownKindError`."""
    return get_kind(run.kind)


def get_options_class(run: Run) -> type[Parameters]:
    """Return the options class of a run's type; `Parameters` for an unknown type."""
    try:
        return get_run_kind(run).options
    except UnknownKindError:
        return Parameters


def find_judging(declared: JudgingKey) -> Judging:
    """Return the `Judging` (declaration of experts' judgements) with this key.

    Raises `UnknownKindError` if the run type is unknown, or has no such declaration (any more).
    """
    from evaluation.runs.judging import ANSWERS
    from evaluation.runs.judging.tasks import OF_ANSWERS

    if declared == OF_ANSWERS:
        return ANSWERS
    for judging in get_kind(declared.kind).judging:
        if judging.name == declared.name:
            return judging
    raise UnknownKindError(declared.kind)


@cache
def _import_kinds(paths: tuple[str, ...]) -> Mapping[str, Kind]:
    """Return the run types at these dotted paths, by run type name; cached."""
    # Cached by the paths and not once for all: another value of the setting has other run types.
    kinds: list[Kind] = [import_string(path) for path in paths]
    return {kind.name: kind for kind in kinds}
