"""The alarms of a run: kind, named workers, evidence. An alarm rejects no worker.

- `report`: alarms worst first, of a run, of one worker or of one question in it.
- `marks`: alarms as marks beside the names of workers.
- `false_rings`: rate of false alarms of each kind in honest crowds of this size.
- `outcomes`: outcome of each alarm after a remedy, and since the run before.
"""

from evaluation.grading.alarms.report.false_rings import FalseRings, find_false_rings
from evaluation.grading.alarms.report.marks import (
    Mark,
    Marks,
    all_marks,
    marks_and_counts,
    read_alarms_and_marks,
    read_marks,
)
from evaluation.grading.alarms.report.outcomes import Became, OutcomesReport, outcomes_report
from evaluation.grading.alarms.report.report import (
    AlarmEntry,
    AlarmsReport,
    Check,
    alarm_counts,
    alarms_report,
    iterate_alarms,
)

__all__ = [
    "AlarmEntry",
    "AlarmsReport",
    "Became",
    "Check",
    "FalseRings",
    "Mark",
    "Marks",
    "OutcomesReport",
    "alarm_counts",
    "alarms_report",
    "all_marks",
    "find_false_rings",
    "iterate_alarms",
    "marks_and_counts",
    "outcomes_report",
    "read_alarms_and_marks",
    "read_marks",
]
