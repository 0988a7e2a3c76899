"""Registry of all evidence studies, by name."""

from __future__ import annotations

from evaluation.evidence.request import Study
from evaluation.evidence.studies.alarm_rates import reproduce_alarms
from evaluation.evidence.studies.attacks import reproduce_attacks
from evaluation.evidence.studies.crowdwsa import reproduce_crowdwsa
from evaluation.evidence.studies.false_alarms import reproduce_false_rings
from evaluation.evidence.studies.forecasts import reproduce_forecasts
from evaluation.evidence.studies.graded import reproduce_graded
from evaluation.evidence.studies.graded_models import reproduce_graded_models
from evaluation.evidence.studies.minimal_pairs import reproduce_minimal_pairs
from evaluation.evidence.studies.model_scoring import reproduce_model_scoring
from evaluation.evidence.studies.planner import reproduce_planner
from evaluation.evidence.studies.questions import reproduce_questions
from evaluation.evidence.studies.real_workers import reproduce_real_workers
from evaluation.evidence.studies.remedies import reproduce_remedies
from evaluation.evidence.studies.simulation import reproduce_simulation
from evaluation.evidence.studies.worker_grading import reproduce_worker_grading

STUDIES: dict[str, Study] = {
    "worker-grading": reproduce_worker_grading,
    "model-scoring": reproduce_model_scoring,
    "questions": reproduce_questions,
    "simulation": reproduce_simulation,
    "planner": reproduce_planner,
    "forecasts": reproduce_forecasts,
    "crowdwsa": reproduce_crowdwsa,
    "minimal-pairs": reproduce_minimal_pairs,
    "remedies": reproduce_remedies,
    "alarms": reproduce_alarms,
    "graded": reproduce_graded,
    "graded-models": reproduce_graded_models,
    "false-rings": reproduce_false_rings,
    "real-workers": reproduce_real_workers,
    "attacks": reproduce_attacks,
}
# Studies of a file that the user gives, and not of the folder of public data sets.
OF_A_FILE = ("graded", "graded-models")
