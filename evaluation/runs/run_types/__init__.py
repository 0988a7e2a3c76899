"""Define run types: the computations that can be done on a question set.

A run type is one `Kind` (`kind`), named by one line of the setting `RUN_KINDS` and found by its
name (`registry`). Background, pages, REST and commands know run types only through it. A new one
therefore needs no line elsewhere: it has a run page with progress, can be cancelled, repeated and
continued after a crash, is started by REST and the command line, and its tables are shown and
downloaded. platform/docs/kinds.md describes how to add one.
"""

from evaluation.runs.flow.stored import RunSummary
from evaluation.runs.run_types.kind import (
    DataReadiness,
    Evaluation,
    Kind,
    Page,
    Start,
    StartFile,
    Study,
    StudyOutcome,
)
from evaluation.runs.run_types.registry import (
    UnknownKindError,
    find_judging,
    get_kind,
    get_options_class,
    get_run_kind,
    list_asking_kinds,
    list_kinds,
    list_run_kinds,
)

__all__ = [
    "DataReadiness",
    "Evaluation",
    "Kind",
    "Page",
    "RunSummary",
    "Start",
    "StartFile",
    "Study",
    "StudyOutcome",
    "UnknownKindError",
    "find_judging",
    "get_kind",
    "get_options_class",
    "get_run_kind",
    "list_asking_kinds",
    "list_kinds",
    "list_run_kinds",
]
