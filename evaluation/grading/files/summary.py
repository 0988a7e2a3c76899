"""Build summary.json: signature, parameters, counts, alarms, facts and warnings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from annotations.exchange import AnswerFile
from annotations.exchange.reading.duplicates import Duplicates
from evaluation.consensus import ModelScores
from evaluation.core.options import TERMINAL
from evaluation.grading.alarms.run.detection import Alarm
from evaluation.grading.crowd import Undefined
from evaluation.grading.facts.run.records import count_facts
from evaluation.grading.files.graded import FileGrading
from evaluation.grading.run.grading import Grading
from evaluation.runs.files.problem_messages import build_error

SUMMARY = "summary.json"


def build_summary(graded: FileGrading, undefined: Undefined) -> dict[str, Any]:
    """Return the contents of summary.json; call it after the tables, which fill `undefined`."""
    grading = graded.grading
    parameters, info = grading.given.parameters, grading.embedded.info
    grading_summary = grading.summary()
    return {
        "signature": grading.signature(graded.input_hash),
        "parameters": {
            **parameters.as_dict(),
            **_describe_duplicates(graded.answers),
            "precision": info.precision,
            "precision_requested": parameters.precision,
        },
        "embedding": grading_summary["embedding"],
        "counts": _build_counts(graded),
        "iterations": grading_summary["iterations"],
        "converged": grading_summary["converged"],
        "trace": grading_summary["trace"],
        "ceiling": grading_summary["ceiling"],
        "model_comparisons": _build_comparisons(grading.graded.models),
        "remedies": _build_remedies(grading),
        "warnings": graded.warnings,
        "alarms": [build_alarm_cells(alarm) for alarm in grading.alarms.found],
        "alarm_checks": grading_summary["alarm_checks"],
        "length": grading_summary["length"],
        "facts": _build_facts(grading),
        **({"asked": graded.asked} if graded.asked else {}),
        "undefined": undefined.as_list(),
        "versions": grading_summary["versions"],
        "input_hash": graded.input_hash,
        "input_hashes": graded.input_hashes,
    }


def _build_facts(grading: Grading) -> dict[str, Any] | None:
    """Return the counts of facts; None if facts are switched off."""
    if grading.facts is None:
        return None
    found = asdict(count_facts(grading.facts))
    return {name: value for name, value in found.items() if value is not None}


def build_alarm_cells(alarm: Alarm) -> dict[str, Any]:
    """Return an alarm's values by column of alarms.csv, with its message as text."""
    outcome = "" if alarm.outcome is None else TERMINAL.said(alarm.outcome)
    return {**alarm.as_dict(), "message": TERMINAL.said(alarm.message), "outcome": outcome}


def refuse_to_replace_results(output: Path, hashes: Mapping[str, str]) -> None:
    """Raise `InputError` if the output folder holds results of other input files.

    Inputs are compared by kind (answers, models, ...) and hash. The same answers may be graded
    again in the same folder with other settings or with further files.
    """
    path = output / SUMMARY
    try:
        inputs = dict(json.loads(path.read_text("utf-8"))["input_hashes"])
        inputs["answers"]  # whatever was graded, these were read
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError):
        raise build_error(str(path), "summary_unknown") from None
    # A kind of file that is not read now is no contradiction.
    replaced = [name for name, old_hash in inputs.items() if hashes.get(name, old_hash) != old_hash]
    if replaced:
        raise build_error(str(path), "results_replaced", inputs=", ".join(replaced))


def _describe_duplicates(answers: AnswerFile) -> dict[str, str]:
    """Return the rule that resolved repeated answers; empty if none was needed."""
    duplicates = answers.duplicates
    return {} if duplicates in (None, Duplicates.REFUSE) else {"duplicates": str(duplicates)}


def _build_counts(graded: FileGrading) -> dict[str, int]:
    """Return the numbers of rows, answers, workers and questions that were graded."""
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
    if _describe_duplicates(graded.answers):
        counts["superseded_rows"] = graded.answers.n_superseded
    if graded.models is not None:
        models = graded.models
        counts |= {"model_rows": models.n_rows, "repeated_model_rows": models.n_repeated}
    return counts


def _build_remedies(grading: Grading) -> dict[str, Any] | None:
    """Return the effects of the remedies, for summary.json; None without remedies."""
    report, changes = grading.graded.remedies, grading.changes()
    if report is None or changes is None:
        return None
    remedies = report.as_dict()
    no_source = dict.fromkeys(("first", "n_first", "n_timed"))
    if "groups" in remedies:
        remedies["groups"] = [{**group, **no_source, **group} for group in remedies["groups"]]
    return {
        **remedies,
        "groups_not_asked_for": report.left,
        "gone": [build_alarm_cells(alarm) for alarm in grading.alarms.gone],
        "camps_now": [asdict(camp) for camp in grading.alarms.camps_now],
        "compared_with_plain": changes.summary(),
    }


def _build_comparisons(scores: ModelScores | None) -> list[dict[str, Any]]:
    """Return the pairwise comparisons of models, for summary.json; empty without models."""
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
