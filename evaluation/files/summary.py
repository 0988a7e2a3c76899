"""What summary.json says of a graded file: how its numbers were made, and what to know of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from evaluation.files.graded import FileGrading, changes_of
from evaluation.flow.results import Undefined
from evaluation.flow.signatures import aqer_signature, versions
from evaluation.flow.warnings import grading_warnings, remedy_warnings
from evaluation.methods import ModelScores


def summary(grading: FileGrading, undefined: Undefined) -> dict[str, Any]:
    """Return what summary.json holds; call it after the tables, which fill `undefined`."""
    aqer, info = grading.graded.aqer, grading.embedded.info
    parameters = grading.parameters
    return {
        "signature": aqer_signature(
            parameters, info.model, info.revision, info.precision, grading.input_hash
        ),
        "parameters": {
            **parameters.as_dict(),
            "precision": info.precision,
            "precision_requested": parameters.precision,
        },
        "embedding": {name: value for name, value in info.as_dict().items() if name != "versions"},
        "counts": _counts(grading),
        "iterations": aqer.n_iter_,
        "converged": aqer.converged_,
        "trace": aqer.trace_,
        "ceiling": asdict(aqer.ceiling_),
        "model_comparisons": _comparisons(grading.graded.models),
        "remedies": _remedies(grading),
        "warnings": warnings_of(grading),
        "alarms": [row._asdict() for row in grading.alarms.rows],
        "alarm_checks": grading.alarms.checks_as_dicts(),
        "undefined": undefined.as_list(),
        "versions": versions(info.versions),
        "input_hash": grading.input_hash,
        "input_hashes": grading.input_hashes,
    }


def _counts(grading: FileGrading) -> dict[str, int]:
    aqer, answers, models = grading.graded.aqer, grading.answers, grading.models
    counts = {
        "rows": answers.n_rows,
        "repeated_rows": answers.n_repeated,
        "empty_answers": answers.n_empty,
        "answers": len(grading.answered),
        "workers": len(aqer.workers_),
        "questions": len(aqer.questions_),
        "single_answer_questions": int((aqer.n_workers_of_question_ == 1).sum()),
    }
    if models is not None:
        counts |= {"model_rows": models.n_rows, "repeated_model_rows": models.n_repeated}
    return counts


def _remedies(grading: FileGrading) -> dict[str, Any] | None:
    """Return what the remedies did and changed; None without any."""
    report = grading.graded.remedies
    if report is None:
        return None
    return {**report.as_dict(), "compared_with_plain": changes_of(grading).summary()}


def _comparisons(scores: ModelScores | None) -> list[dict[str, Any]]:
    return [
        {
            "model_a": pair.model_a,
            "model_b": pair.model_b,
            "difference": pair.difference,
            "low": pair.low,
            "high": pair.high,
            "p_value": pair.p_value,
            "adjusted_p_value": pair.adjusted_p_value,
            "smallest_detectable": pair.smallest_detectable,
            "n": pair.n,
            "reason": pair.reason,
            "test": pair.test,
        }
        for pair in (scores.comparisons if scores else [])
    ]


def warnings_of(grading: FileGrading) -> list[str]:
    """Return what the user should know before trusting the tables, a sentence each."""
    answers, models, graded = grading.answers, grading.models, grading.graded
    return [
        *answers.warnings,
        *(models.warnings if models else []),
        *grading.embedded.warnings,
        *grading_warnings(
            graded.aqer,
            graded.models,
            answers.n_empty,
            answers.n_repeated,
            [record.text for record in grading.answered],
            grading.parameters.embedder,
            grading.n_rejected,
        ),
        *(remedy_warnings(graded.remedies) if graded.remedies else []),
    ]
