"""Who is worth looking at in a run, why, what speaks for it, and what was decided.

`queue` says who comes in which order, `verdicts` what people decided, `partners` and `evidence`
whose answers a worker's are set beside and how far they are the same, `times` who was first,
`applying` what a run without the excluded would lose, `files` what panels are told.
"""

from evaluation.reports.triage.applying import Preview, preview
from evaluation.reports.triage.evidence import Comparison, comparison
from evaluation.reports.triage.queue import Queue, QueueRow, queue_of, rows_of
from evaluation.reports.triage.verdicts import Decided, history_of, verdicts_of

__all__ = [
    "Comparison",
    "Decided",
    "Preview",
    "Queue",
    "QueueRow",
    "comparison",
    "history_of",
    "preview",
    "queue_of",
    "rows_of",
    "verdicts_of",
]
