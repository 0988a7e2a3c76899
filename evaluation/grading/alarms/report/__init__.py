"""The alarms of a run: what rang, on whom, with which evidence. An alarm rejects nobody.

- `report`: alarms worst first, of a run, of one worker or of one question in it.
- `marks`: alarms as marks beside the names of people.
- `false_rings`: how often each rings in crowds of this size with nothing known to be amiss.
- `outcomes`: what became of alarms after a remedy, and since the run before.
"""

from evaluation.grading.alarms.report.false_rings import FalseRings, false_rings
from evaluation.grading.alarms.report.marks import (
    Mark,
    Marks,
    alarms_and_marks,
    all_marks,
    marks_and_counts,
    marks_of,
)
from evaluation.grading.alarms.report.outcomes import Became, OutcomesReport, outcomes_report
from evaluation.grading.alarms.report.report import (
    AlarmEntry,
    AlarmsReport,
    Check,
    alarm_counts,
    alarms_report,
    all_alarms,
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
    "alarms_and_marks",
    "alarms_report",
    "all_alarms",
    "all_marks",
    "false_rings",
    "marks_and_counts",
    "marks_of",
    "outcomes_report",
]
