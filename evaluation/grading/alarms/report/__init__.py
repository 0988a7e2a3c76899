"""Reports on the alarms of a run: kind, named workers and evidence.

- `report`: alarms worst first, of a run, of one worker or of one question in it.
- `marks`: alarms as marks beside the names of workers.
- `false_rings`: rate of false alarms of each kind in honest crowds of this size.
- `outcomes`: outcome of each alarm after a remedy, and since the run before.
"""

from evaluation.grading.alarms.report.false_rings import FalseRings, find_false_rings
from evaluation.grading.alarms.report.marks import (
    Mark,
    Marks,
    read_alarms_and_marks,
    read_all_marks,
    read_marks,
    read_marks_and_counts,
)
from evaluation.grading.alarms.report.outcomes import Became, OutcomesReport, build_outcomes_report
from evaluation.grading.alarms.report.report import (
    AlarmEntry,
    AlarmsReport,
    Check,
    build_alarms_report,
    count_alarms,
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
    "build_alarms_report",
    "build_outcomes_report",
    "count_alarms",
    "find_false_rings",
    "iterate_alarms",
    "read_alarms_and_marks",
    "read_all_marks",
    "read_marks",
    "read_marks_and_counts",
]
