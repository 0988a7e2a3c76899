"""Run types whose results the model overview combines, and the execution of its run."""

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
    """Return the run types whose stored runs provide views (measures), in settings order."""
    return [kind for kind in list_run_kinds().values() if kind.has_views]


def kinds_of_files() -> list[Kind]:
    """Return the run types whose output files provide views (measures), in settings order."""
    return [kind for kind in list_kinds().values() if kind.has_views and kind.is_evaluated_on_files]


def tellers(kinds: Iterable[Kind]) -> list[Teller]:
    """Return, for each run type, how the overview reads views (measures) from its runs."""
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
    """Execute a claimed model overview run over the results of all run types."""
    look(turn, tellers(kinds_of_runs()))


def problems_at_start(version: QuestionSetVersion, user: Any, options: Any) -> list[Problem]:
    """Return a problem if no finished run of the version provides a view, else []."""
    kinds = [kind.name for kind in kinds_of_runs()]
    return [] if runs_that_tell(version, kinds) else [build_problem("no_views")]
