"""What summary.json says of a graded file: how its numbers were made, and what to know of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from annotations.exchange import AnswerFile
from annotations.exchange.reading.duplicates import Duplicates
from evaluation.consensus import ModelScores
from evaluation.files.problem_messages import file_error
from evaluation.grading.alarms.run.detection import Alarm
from evaluation.grading.crowd import Undefined
from evaluation.grading.facts.run.records import facts_found
from evaluation.grading.files.graded import FileGrading
from evaluation.grading.run.grading import Grading
from evaluation.options import TERMINAL

SUMMARY = "summary.json"


def summary(graded: FileGrading, undefined: Undefined) -> dict[str, Any]:
    """Return what summary.json holds; call it after the tables, which fill `undefined`."""
    grading = graded.grading
    parameters, info = grading.given.parameters, grading.embedded.info
    made = grading.summary()
    return {
        "signature": grading.signature(graded.input_hash),
        "parameters": {
            **parameters.as_dict(),
            **_reading(graded.answers),
            "precision": info.precision,
            "precision_requested": parameters.precision,
        },
        "embedding": made["embedding"],
        "counts": _counts(graded),
        "iterations": made["iterations"],
        "converged": made["converged"],
        "trace": made["trace"],
        "ceiling": made["ceiling"],
        "model_comparisons": _comparisons(grading.graded.models),
        "remedies": _remedies(grading),
        "warnings": graded.warnings,
        "alarms": [alarm_cells(alarm) for alarm in grading.alarms.found],
        "alarm_checks": made["alarm_checks"],
        "facts": _facts(grading),
        **({"asked": graded.asked} if graded.asked else {}),
        "undefined": undefined.as_list(),
        "versions": made["versions"],
        "input_hash": graded.input_hash,
        "input_hashes": graded.input_hashes,
    }


def _facts(grading: Grading) -> dict[str, Any] | None:
    """Return what was found; of what no model was asked for nothing is told."""
    if grading.facts is None:
        return None
    found = asdict(facts_found(grading.facts))
    return {name: value for name, value in found.items() if value is not None}


def alarm_cells(alarm: Alarm) -> dict[str, Any]:
    """Return the columns of alarms.csv, with what the alarm says."""
    outcome = "" if alarm.outcome is None else TERMINAL.said(alarm.outcome)
    return {**alarm.as_dict(), "message": TERMINAL.said(alarm.message), "outcome": outcome}


def refuse_to_replace_results(output: Path, hashes: Mapping[str, str]) -> None:
    """Raise `InputError` if a folder holds results of other inputs.

    Others are files of which one was read then for what another one is read now. With other
    settings, or files besides, the same answers may be graded again in the same place.
    """
    path = output / SUMMARY
    try:
        inputs = dict(json.loads(path.read_text("utf-8"))["input_hashes"])
        inputs["answers"]  # whatever was graded, these were read
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError):
        raise file_error(str(path), "summary_unknown") from None
    other = [name for name, was in inputs.items() if hashes.get(name, was) != was]
    if other:
        raise file_error(str(path), "results_replaced", inputs=", ".join(other))


def _reading(answers: AnswerFile) -> dict[str, str]:
    """Return which of two answers of a worker counts, where the file could have been refused."""
    duplicates = answers.duplicates
    return {} if duplicates in (None, Duplicates.REFUSE) else {"duplicates": str(duplicates)}


def _counts(graded: FileGrading) -> dict[str, int]:
    aqer, given = graded.grading.graded.aqer, graded.grading.given
    counts = {
        "rows": graded.answers.n_rows,
        "repeated_rows": given.n_repeated,
        "empty_answers": given.n_empty,
        "answers": len(given.answered),
        "workers": len(aqer.workers_),
        "questions": len(aqer.questions_),
        "single_answer_questions": int((aqer.n_workers_of_question_ == 1).sum()),
    }
    if _reading(graded.answers):
        counts["superseded_rows"] = graded.answers.n_superseded
    if graded.models is not None:
        models = graded.models
        counts |= {"model_rows": models.n_rows, "repeated_model_rows": models.n_repeated}
    return counts


def _remedies(grading: Grading) -> dict[str, Any] | None:
    """Return what the remedies did and changed; None without any."""
    report, changes = grading.graded.remedies, grading.changes()
    if report is None or changes is None:
        return None
    found = report.as_dict()
    nobody = dict.fromkeys(("first", "n_first", "n_timed"))
    if "groups" in found:
        found["groups"] = [{**group, **nobody, **group} for group in found["groups"]]
    return {
        **found,
        "groups_not_asked_for": report.left,
        "gone": [alarm_cells(alarm) for alarm in grading.alarms.gone],
        "camps_now": [asdict(camp) for camp in grading.alarms.camps_now],
        "compared_with_plain": changes.summary(),
    }


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
