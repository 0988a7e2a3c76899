"""Reports on the alarms of a run: kind, named workers and evidence.

- `report`: alarms worst first, of a run, of one worker or of one question in it.
- `marks`: alarms as marks beside the names of workers.
- `outcomes`: outcome of each alarm after a remedy, and since the run before; rate of false alarms
  of each kind in honest crowds of this size.
"""

from evaluation.grading.alarms.report.marks import (
    Mark,
    Marks,
    read_alarms_and_marks,
    read_all_marks,
    read_marks,
    read_marks_and_counts,
)
from evaluation.grading.alarms.report.outcomes import (
    AlarmOutcome,
    FalseAlarmRates,
    OutcomesReport,
    build_outcomes_report,
    find_false_alarm_rates,
)
from evaluation.grading.alarms.report.report import (
    AlarmEntry,
    AlarmsReport,
    Check,
    ChecksOfResult,
    build_alarms_report,
    build_checks,
    count_alarms,
    group_checks,
    iterate_alarms_with_ids,
    read_checks,
)

__all__ = [
    "AlarmEntry",
    "AlarmOutcome",
    "AlarmsReport",
    "Check",
    "ChecksOfResult",
    "FalseAlarmRates",
    "Mark",
    "Marks",
    "OutcomesReport",
    "build_alarms_report",
    "build_checks",
    "build_outcomes_report",
    "count_alarms",
    "find_false_alarm_rates",
    "group_checks",
    "iterate_alarms_with_ids",
    "read_alarms_and_marks",
    "read_all_marks",
    "read_checks",
    "read_marks",
    "read_marks_and_counts",
]
