"""Registry of all evidence studies, by name."""

from __future__ import annotations

from evaluation.evidence.studies.alarm_rates import reproduce_alarms
from evaluation.evidence.studies.attacks import reproduce_attacks
from evaluation.evidence.studies.false_alarms import reproduce_false_rings
from evaluation.evidence.studies.graded_models import reproduce_graded_models
from evaluation.evidence.studies.minimal_pairs import reproduce_minimal_pairs
from evaluation.evidence.studies.model_scoring import reproduce_model_scoring
from evaluation.evidence.studies.pasted_answers import reproduce_pasted_answers
from evaluation.evidence.studies.planner import reproduce_forecasts, reproduce_planner
from evaluation.evidence.studies.real_crowds import reproduce_crowdwsa, reproduce_graded
from evaluation.evidence.studies.real_workers import reproduce_real_workers
from evaluation.evidence.studies.simulated_crowds import reproduce_remedies, reproduce_simulation
from evaluation.evidence.studies.worker_grading import reproduce_questions, reproduce_worker_grading
from evaluation.evidence.tables import Study

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
    "pasted-answers": reproduce_pasted_answers,
}
# Studies of a file that the user gives, and not of the folder of public data sets.
OF_A_FILE = ("graded", "graded-models", "pasted-answers")
