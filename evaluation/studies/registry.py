"""All studies of the evidence by name."""

from __future__ import annotations

from evaluation.studies.alarm_rates import reproduce_alarms
from evaluation.studies.crowdwsa import reproduce_crowdwsa
from evaluation.studies.minimal_pairs import reproduce_minimal_pairs
from evaluation.studies.model_scoring import reproduce_model_scoring
from evaluation.studies.planner import reproduce_planner
from evaluation.studies.questions import reproduce_questions
from evaluation.studies.remedies import reproduce_remedies
from evaluation.studies.request import Study
from evaluation.studies.simulation import reproduce_simulation
from evaluation.studies.worker_grading import reproduce_worker_grading

STUDIES: dict[str, Study] = {
    "worker-grading": reproduce_worker_grading,
    "model-scoring": reproduce_model_scoring,
    "questions": reproduce_questions,
    "simulation": reproduce_simulation,
    "planner": reproduce_planner,
    "crowdwsa": reproduce_crowdwsa,
    "minimal-pairs": reproduce_minimal_pairs,
    "remedies": reproduce_remedies,
    "alarms": reproduce_alarms,
}
