"""Define run types: what can be computed on a question set.

A run type is one `Kind` (`kind`), named by one line of the setting `RUN_KINDS` and found by its
name (`registry`). Background, pages, REST and commands know run types only through it. A new one
therefore needs no line elsewhere: it has a run page with progress, can be cancelled, repeated and
continued after a crash, is started by REST and the command line, and its tables are shown and
downloaded. platform/docs/kinds.md describes how to add one.
"""

from evaluation.flow.stored import RunSummary
from evaluation.kinds.kind import (
    Beforehand,
    Evaluation,
    Kind,
    Page,
    Start,
    StartFile,
    Studied,
    Study,
)
from evaluation.kinds.registry import (
    UnknownKindError,
    all_kinds,
    judging_of,
    kind_named,
    kind_of,
    list_asking_kinds,
    options_of,
    run_kinds,
)

__all__ = [
    "Beforehand",
    "Evaluation",
    "Kind",
    "Page",
    "RunSummary",
    "Start",
    "StartFile",
    "Studied",
    "Study",
    "UnknownKindError",
    "all_kinds",
    "judging_of",
    "kind_named",
    "kind_of",
    "list_asking_kinds",
    "options_of",
    "run_kinds",
]
