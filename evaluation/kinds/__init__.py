"""Run types: what can be computed over a question set.

A kind is one `Kind` (`kind`), named by one line of the setting `RUN_KINDS` and found by its name
(`registry`). Background, pages, REST and commands know kinds by that alone, so that a new one has
a run page with its progress, can be cancelled, done again and taken up after its worker died, is
started by REST and the command line, and its tables are shown and taken away, without a line
elsewhere. platform/docs/kinds.md tells how one is added.
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
    asking_kinds,
    judging_of,
    kind_named,
    kind_of,
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
    "asking_kinds",
    "judging_of",
    "kind_named",
    "kind_of",
    "options_of",
    "run_kinds",
]
