"""Readers of decisions, grades, labels and judgements against the tables of their columns."""

from decimal import Decimal
from functools import partial

import pytest

from annotations.exchange.graded import read_marked_answers
from annotations.exchange.prolific import STATUSES
from annotations.exchange.reading.answer_grades import read_answer_grades
from annotations.exchange.reading.decisions import read_decisions
from annotations.exchange.reading.judgements import read_judgements
from annotations.exchange.reading.labelled_replies import read_labelled_replies
from annotations.exchange.reading.outside_information import read_anchors, read_workers
from annotations.exchange.reading.panel_statuses import read_statuses
from annotations.exchange.reading.reply_labels import read_reply_labels
from tests.readers import TEXT, Holds, Reader, identified, limited, outcomes

READING = "annotations.exchange.reading"

LABELLED = {(system, f"{n}", "direct") for system in ("gpt", "model") for n in range(1, 5)}


REASON = "The answers repeat the question word for word, and so do all other answers of the study. "
REASON += "Each one took two seconds."
SPELLED = [status.lower().replace(" ", "_").replace("-", "_") for status in STATUSES]
NO_TIMES = [
    *("20190501", "2019-W18-3", "2026-11-20x10:00", "2026-02-30 10:00", "yesterday"),
    "2026-11-20T25:00",
]
READERS = {
    "decisions": Reader(
        read_decisions,
        "rows",
        {
            "worker": limited(255, "panel_worker_long", "w{n}", "panel_worker_missing"),
            "decision": Holds(
                "approve", "decision_missing", others={"decision_unknown": ["maybe"]}
            ),
            "category": Holds("", others={"category_not_allowed": ["LOW_EFFORT"]}),
            "reason": limited(1000, "reason_too_long", ""),
            "panel": TEXT,
            "bonus": Holds(
                "1.50",
                others={
                    "not_an_amount": ["1,50", "1.234", "-1", "ten"],
                    "out_of_range": ["0", "10001"],
                },
            ),
        },
        "no_decision",
        required=("worker", "decision"),
        record={"worker": "w1", "panel": "a 1", "decision": "approve", "bonus": Decimal("1.50")},
        bare={"worker": "w1", "decision": "approve"},
        together=[
            ({"category": "", "decision": "reject", "reason": REASON}, "category_missing"),
            ({"category": "ODD", "decision": "reject", "reason": REASON}, "category_unknown"),
            ({"category": "low effort", "decision": "reject", "reason": REASON}, 4),
            ({"reason": "short", "decision": "reject", "category": "OTHER"}, "reason_too_short"),
        ],
        again=[({"worker": "w1", "panel": "a 1"}, "decided_twice"), ({"panel": "b {n}"}, 4)],
        values={
            "panel_worker_missing": {"most": 255},
            "panel_worker_long": {"most": 255},
            "decided_twice": {"worker": "w1", "first_line": 1},
        },
        module=f"{READING}.decisions",
    ),
    "statuses of a panel": Reader(
        read_statuses,
        "rows",
        {
            "Submission id": limited(255, "submission_id_long", "s{n}", "submission_id_missing"),
            "Participant id": limited(255, "submission_id_long", "p{n}", "submission_id_missing"),
            "Status": Holds(
                "APPROVED",
                "panel_status_unknown",
                others={"panel_status_unknown": ["PAID"], 4: SPELLED},
            ),
            "Started at": Holds(
                "2026-11-20 10:00:00",
                others={
                    "panel_time_unreadable": NO_TIMES,
                    4: [
                        *("2026-11-20", "2026-11-20 10:00", "2026-11-20T10:00:00.123456Z"),
                        *("2026-11-20T10:00:00+00:00", "2026-11-20 11:00:00+01"),
                    ],
                },
            ),
            "Completed at": Holds(
                "2026-11-20 10:10:00", others={"panel_time_unreadable": NO_TIMES}
            ),
            "Time taken": Holds(
                "612.5",
                others={"panel_seconds_unreadable": ["soon", "-1", "1_000", "1e9", "٦", "1" * 11]},
            ),
            "Completion code": TEXT,
            "Study id": TEXT,
        },
        "no_submission",
        required=("Submission id", "Participant id", "Status"),
        record={
            "submission": "s1",
            "participant": "p1",
            "status": "APPROVED",
            "started_at": "2026-11-20T10:00:00+00:00",
            "completed_at": "2026-11-20T10:10:00+00:00",
            "seconds": 612.5,
            "code": "a 1",
            "study": "a 1",
        },
        bare={"submission": "s1", "participant": "p1", "status": "APPROVED"},
        together=[
            ({"Completed at": "2026-11-20 09:59:59"}, "submission_times_reversed"),
            ({"Completed at": "2026-11-20", "Started at": "2026-11-20T00:00:00Z"}, 4),
        ],
        again=[
            ({"Submission id": "x{n}"}, "Participant id:submission_twice"),
            ({"Participant id": "x{n}"}, "Submission id:submission_twice"),
        ],
        values={
            "submission_id_missing": {"most": 255},
            "submission_id_long": {"most": 255},
            "panel_status_unknown": {"status": "", "known": ", ".join(STATUSES)},
            "panel_time_unreadable": {"cell": "20190501"},
            "panel_seconds_unreadable": {"cell": "soon"},
            "submission_twice": {"value": "p1", "first_line": 1},
        },
        module=f"{READING}.panel_statuses",
    ),
    "grades of answers": Reader(
        partial(read_answer_grades, scale=(0, 5), weighted=True),
        "records",
        {
            "worker": identified("w", "grade_of_none"),
            "model": Holds("", others={"worker:grade_of_two": ["small"]}),
            "question": identified("q", "graded_question_missing"),
            "grade": Holds(
                "3",
                "grade_missing",
                others={
                    "grade_no_number": ["good", "nan", "inf", "1,5"],
                    "grade_off_scale": ["5.0000001", "-0.1"],
                },
            ),
            "expert": TEXT,
            "settles": Holds("0", others={"settles_unreadable": ["yes", "2"]}),
            "weight": Holds("1", others={"weight_unreadable": ["0", "-1", "inf", "nan", "two"]}),
        },
        "no_grade",
        required=("question", "grade"),
        record={"worker": "w1", "question": "q1", "expert": "a 1", "grade": 3.0, "weight": 1.0},
        bare=(1, "worker", "grade_of_none"),
        together=[({"worker": "", "model": "m{n}"}, 4)],
        again=[
            ({"grade": "4", "expert": "a 1"}, ":expert_graded_twice"),
            ({"expert": "b {n}"}, 4),
            ({"weight": "2", "expert": "b {n}"}, "weight_differs"),
        ],
        values={
            "grade_no_number": {"cell": "good"},
            "grade_off_scale": {"grade": 5.0000001, "low": 0, "high": 5},
            "settles_unreadable": {"cell": "yes"},
            "weight_unreadable": {"cell": "0"},
            "expert_graded_twice": {
                "name": "w1",
                "question": "q1",
                "first_line": 1,
                "expert": "expert",
            },
            "weight_differs": {"weight": 2.0, "first_line": 1, "given": 1.0},
        },
        module=f"{READING}.answer_grades",
    ),
    "anchors": Reader(
        read_anchors,
        "records",
        {
            "worker": identified("w", "id_missing"),
            "question": identified("q", "id_missing"),
            "grade": Holds(
                "3", "grade_missing", others={"grade_no_number": ["good", "nan", "-inf", "1,5"]}
            ),
        },
        "no_graded_answer",
        required=("worker", "question", "grade"),
        record={"worker": "w1", "question": "q1", "grade": 3.0},
        bare={"worker": "w1", "question": "q1", "grade": 3.0},
        again=[({}, ":answer_graded_twice"), ({"question": "x{n}"}, 4)],
        values={
            "id_missing": {"name": "worker"},
            "grade_no_number": {"cell": "good"},
            "answer_graded_twice": {"worker": "w1", "question": "q1", "first_line": 1},
        },
        module=f"{READING}.outside_information",
    ),
    "workers": Reader(
        read_workers,
        "lines",
        {"worker": identified("w", "id_missing")},
        "no_worker",
        required=("worker",),
        record=("w1", 1),
        bare=("w1", 1),
        again=[({}, 2)],
        values={"id_missing": {"name": "worker"}},
        module=f"{READING}.outside_information",
    ),
    "graded answers": Reader(
        read_marked_answers,
        "answers",
        {
            "question": identified("", "table_question_missing"),
            "answer": Holds("a", 2, 2, is_text=True, most=100_000, long="graded_answer_long"),
            "grade": Holds("1", 2, 2, is_text=True),
            "worker": identified("w", "graded_worker_missing"),
            "order": Holds("{n}", others={"order_no_number": ["first", "-1", "1.5", "1" * 19]}),
            "question text": Holds("t"),
            "reference": Holds("r"),
        },
        ":answers_ungraded",
        required=("question", "answer", "grade"),
        record={"question": "1", "text": "a", "marks": ("1",), "worker": "w1", "order": 1},
        bare={"question": "1", "text": "a", "marks": ("1",)},
        values={"graded_answer_long": {"most": 100000}, "order_no_number": {"cell": "first"}},
        module="annotations.exchange.graded.tables",
    ),
    "judgements": Reader(
        read_judgements,
        "judgements",
        {
            "item": identified("i", "row_name_missing"),
            **dict.fromkeys(("system", "language", "judge", "repeat"), TEXT),
            "score": Holds(
                "4", others={"score_no_number": ["four", "nan", "4/5"], 4: ["5.1", "-1"]}
            ),
            "judge_reply": TEXT,
        },
        "no_judgement",
        required=("item",),
        record={
            "item": "i1",
            "system": "a 1",
            "language": "a 1",
            "judge": "a 1",
            "repeat": "a 1",
            "score": 4.0,
            "reply": "a 1",
        },
        bare=(None, None, "no_score"),
        values={"row_name_missing": {"name": "item"}, "score_no_number": {"cell": "four"}},
        module=f"{READING}.judgements",
    ),
    "labelled replies": Reader(
        read_labelled_replies,
        "replies",
        {
            # Rows 1 and 2 have one label, 3 and 4 the other: the two changed rows differ.
            "reply": Holds("r{n}", 2, missing=2, is_text=True),
            "label": Holds(
                lambda n: "answerable" if n < 3 else " UNANSWERABLE",
                "label_unknown",
                others={"label_unknown": ["odd", "7"]},
            ),
            "id": TEXT,
        },
        "label:one_label_only",
        required=("reply", "label"),
        record={"text": "r1", "item": "a 1"},
        bare={"text": "r1"},
        values={"label_unknown": {"label": "(none)", "accepted": "unanswerable and answerable"}},
        module=f"{READING}.labelled_replies",
    ),
    "labels of replies": Reader(
        partial(read_reply_labels, known=LABELLED),
        "labels",
        {
            "id": Holds("{n}", "problem_id_missing", others={"labelled_problem_unknown": ["99"]}),
            "annotator": identified("a", "annotator_missing"),
            "label": Holds(
                "yes", "reply_label_missing", others={"reply_label_unknown": ["perhaps", "1"]}
            ),
            "system": Holds("gpt", others={"id:labelled_reply_unknown": ["other"]}),
            "form": Holds("Direct", others={"id:labelled_reply_unknown": ["odd"]}),
        },
        "no_rows",
        required=("id", "annotator", "label"),
        record={"system": "gpt", "item": "1", "form": "direct", "annotator": "a1", "label": "yes"},
        bare={"system": "model", "item": "1", "form": "direct", "annotator": "a1", "label": "yes"},
        again=[
            ({"annotator": "human: a1"}, "reply_labelled_twice"),
            ({"annotator": "a1", "label": "Cannot tell"}, "reply_labelled_otherwise"),
            ({"annotator": "b{n}"}, 4),
        ],
        values={
            "labelled_problem_unknown": {"system": "gpt", "item": "99", "form": "direct"},
            "reply_label_missing": {"label": "", "known": "yes, no, cannot_tell"},
            "reply_label_unknown": {"label": "perhaps", "known": "yes, no, cannot_tell"},
            "labelled_reply_unknown": {"system": "other", "item": "2", "form": "direct"},
            "reply_labelled_twice": {
                "annotator": "a1",
                "system": "gpt",
                "item": "1",
                "form": "direct",
                "first_line": 1,
                "first_label": "yes",
            },
            "reply_labelled_otherwise": {
                "annotator": "a1",
                "system": "gpt",
                "item": "1",
                "form": "direct",
                "first_line": 1,
                "first_label": "yes",
            },
            "no_rows": {"what": "labels"},
        },
        module=f"{READING}.reply_labels",
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_notes_each_bad_cell_by_its_row_column_and_code(tmp_path, name):
    found, expected = outcomes(READERS[name], tmp_path)
    assert found == expected
