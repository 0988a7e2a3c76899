"""The alarms of a run: what rang, on whom, with which evidence. An alarm rejects nobody.

- `report`: alarms worst first, of a run, of one worker or of one question in it.
- `evidence`: one alarm with texts side by side.
- `marks`: alarms as marks beside the names of people.
- `false_rings`: how often each rings in crowds of this size with nothing known to be amiss.
- `outcomes`: what became of alarms after a remedy, and since the run before.
"""

from evaluation.reports.alarms.evidence import AlarmEvidence, Exhibit, Review, Shown, alarm_evidence
from evaluation.reports.alarms.false_rings import FalseRings, false_rings
from evaluation.reports.alarms.marks import Mark, Marks, all_marks, marks_of
from evaluation.reports.alarms.outcomes import Became, OutcomesReport, outcomes_report
from evaluation.reports.alarms.report import (
    AlarmEntry,
    AlarmsReport,
    Check,
    alarm_counts,
    alarms_report,
    all_alarms,
)

__all__ = [
    "AlarmEntry",
    "AlarmEvidence",
    "AlarmsReport",
    "Became",
    "Check",
    "Exhibit",
    "FalseRings",
    "Mark",
    "Marks",
    "OutcomesReport",
    "Review",
    "Shown",
    "alarm_counts",
    "alarm_evidence",
    "alarms_report",
    "all_alarms",
    "all_marks",
    "false_rings",
    "marks_of",
    "outcomes_report",
]
