"""The run types from which views are read, for runs and for files, and the run over all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annotations.models import QuestionSetVersion
from evaluation.core.options import Problem, build_problem
from evaluation.model_overview.storage import Teller, look, runs_that_tell
from evaluation.runs.run_types.kind import Kind
from evaluation.runs.run_types.registry import list_kinds, list_run_kinds
from evaluation.runs.steps.checkpoints import Turn


def kinds_of_runs() -> list[Kind]:
    """Return the kinds whose runs tell views, in the order of the settings."""
    return [kind for kind in list_run_kinds().values() if kind.has_views]


def kinds_of_files() -> list[Kind]:
    """Return the kinds whose commands write files that tell views, in the same order."""
    return [kind for kind in list_kinds().values() if kind.has_views and kind.is_evaluated_on_files]


def tellers(kinds: Iterable[Kind]) -> list[Teller]:
    """Return how the runs of kinds tell their views."""
    return [
        Teller(
            kind.name,
            kind.title,
            kind.told,
            frozenset(viewed.view.name for viewed in kind.views if viewed.merges),
        )
        for kind in kinds
    ]


def look_at_all(turn: Turn) -> None:
    """Put all views together for a claimed run."""
    look(turn, tellers(kinds_of_runs()))


def problems_at_start(version: QuestionSetVersion, user: Any, options: Any) -> list[Problem]:
    """Return why there is nothing to put together: no run that tells a view is done."""
    kinds = [kind.name for kind in kinds_of_runs()]
    return [] if runs_that_tell(version, kinds) else [build_problem("no_views")]
