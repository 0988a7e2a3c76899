"""Example values for the OpenAPI schema, about a question set on rivers."""

from __future__ import annotations

from typing import Any

SET = "01980000-0000-7000-8000-00000000a001"
"""The public id of the example set."""
PASSAGE_ROWS: list[dict[str, Any]] = [
    {"passage": "p1", "text": "The river Wye rises on Plynlimon and flows to the Severn."}
]
QUESTION_ROWS: list[dict[str, Any]] = [
    {"question": "q1", "text": "Where does the river begin?", "passage": "p1"},
    {"question": "q2", "text": "Where does it end?"},
]
ANSWER_ROWS: list[dict[str, Any]] = [
    {"worker": "ada", "question": "q1", "answer": "On Plynlimon, a mountain in Wales."},
    {"worker": "ben", "question": "q1", "answer": "in the Welsh mountains"},
]
MODEL_ANSWER_ROWS: list[dict[str, Any]] = [
    {"model": "small-1", "question": "q1", "answer": "It begins in Wales."},
    {"model": "small-1", "question": "q2", "answer": "", "status": "refused"},
]


def _build_example_report(what: str, n_rows: int, **created: int) -> dict[str, Any]:
    """Return an example import report: `n_rows` new rows, and counts of `created` rows."""
    return {
        "what": what,
        "question_set": SET,
        "version": 1,
        "changed": True,
        "n_rows": n_rows,
        "n_new": n_rows,
        "n_unchanged": 0,
        "n_repeated": 0,
        "n_superseded": 0,
        "n_empty": 0,
        "n_completed": 0,
        "n_thinking": 0,
        "n_thinking_kept": 0,
        "created": created,
        "kept_aside": [],
        "notes": [],
        "warnings": [],
        "dry_run": False,
    }


PASSAGE_REPORT = _build_example_report("passages", 1)
QUESTION_REPORT = _build_example_report("questions", 2)
ANSWER_REPORT = _build_example_report("answers", 2, workers=2, questions=0)
MODEL_ANSWER_REPORT = _build_example_report("model answers", 2, models=1)
