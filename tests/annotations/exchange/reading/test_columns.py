"""Readers of answers, batches, questions and passages against the tables of their columns."""

import pytest

from annotations.exchange import AnswerStatus
from annotations.exchange.facts import CONTRAST_OF_RUN, COUNTERS, OF_MODEL_RUN, OF_RUN
from annotations.exchange.header import OF_ANSWERS, OF_MODEL_ANSWERS, OF_QUESTIONS
from annotations.exchange.reading.answers import read_answers, read_model_answers
from annotations.exchange.reading.mturk import OF_ASSIGNMENT, MturkRows
from annotations.exchange.reading.questions import read_passages, read_questions
from tests.readers import TEXT, Holds, Reader, identified, limited, outcomes

READING = "annotations.exchange.reading"

ANSWER = Holds("a", is_text=True, most=100_000, long="answer_too_long")

ACCEPTED = ", ".join(AnswerStatus)

STATUS = {"status_unknown": ["fine"]}


def time(n):
    cells = ["soon", "2026-11-20T10:00:00", "2026-02-30T10:00:00+00:00", "1"]
    return Holds(f"2026-11-20T1{n}:00:00+01:00", others={"time_unreadable": cells})


AN_ANSWER = {
    "worker": identified("w", "id_missing"),
    "question": identified("q", "id_missing"),
    "answer": ANSWER,
}

A_MODEL_ANSWER = {
    "model": identified("m", "id_missing"),
    "question": identified("q", "id_missing"),
    "answer": ANSWER,
    "status": Holds(others={**STATUS, "status_empty_answered": ["empty", "EMPTY"]}),
}


def batch_time(sound, *others, **more):
    """Return a column of times as Mechanical Turk writes them; `others` are sound, too."""
    cells = ["now", "2023-11-15T09:11:32", "Wed Nov 15 09:11:32 CET 2023"]
    cells += ["Wed Nov 31 09:11:32 PST 2023", "Wed Nox 15 09:11:32 PST 2023"]
    return Holds(sound, others={"assignment_time_unreadable": cells, 4: others, **more})


def read_batch(path):
    rows = MturkRows(path)
    records = [record for record, _ in rows]
    rows.raise_problems()
    return records


OBJECT = Holds('{"a": 1}', others={"no_json_object": ["[1]", "{", "7", "a"]})

LISTS = {"not_text_list": ["[1,", "[[]]", '["a", ""]', '["a", {}]', "[true]"]}
READERS = {
    "answers": Reader(
        read_answers,
        "records",
        AN_ANSWER,
        "no_rows",
        required=("worker", "question", "answer"),
        record={"worker": "w1", "question": "q1", "text": "a"},
        bare={"worker": "w1", "question": "q1", "text": "a"},
        again=[
            ({}, 2),
            ({"answer": " a"}, 2),
            *(({"answer": one}, ":answers_differ") for one in ("b", "")),
        ],
        values={
            "id_missing": {"name": "worker"},
            "answer_too_long": {"size": 100001, "most": 100000},
            "answers_differ": {
                "who": "worker",
                "name": "w1",
                "question": "q1",
                "first_line": 1,
                "choosable": False,
                "what": "text",
            },
            "no_rows": {"what": "answers"},
        },
        module=f"{READING}.answers",
    ),
    "answers of an export": Reader(
        read_answers,
        "records",
        {
            **AN_ANSWER,
            "panel": limited(100, "panel_too_long", "SONA"),
            "status": Holds(
                others={
                    "fact_status_unknown": ["fine"],
                    "fact_empty_answered": ["empty"],
                    4: ["text"],
                }
            ),
            "rejected": Holds("no", others={"not_boolean": ["perhaps", "2"]}),
            "started_at": time(0),
            "submitted_at": time(1),
            "work_seconds": Holds(
                "1.5", others={"seconds_unreadable": ["-1", "inf", "nan", "1_0", "٣", "long"]}
            ),
            "session_state": Holds("submitted", others={"session_state_unknown": ["fine"]}),
            "session_started_at": time(0),
            "session_last_seen_at": time(1),
            "session_submitted_at": time(2),
            "extra": OBJECT,
            "first_draft_at": time(0),
            "signals": Holds(
                "counted", "counts_without_signals", others={"signals_unknown": ["odd"]}
            ),
            **dict.fromkeys(
                COUNTERS,
                Holds(
                    "{n}",
                    "signals:signals_without_counts",
                    others={"number_unreadable": ["-1", "1.5", "٣", "many", "2147483648"]},
                ),
            ),
            "language": limited(35, "longer_than"),
            **dict.fromkeys((*OF_RUN, *CONTRAST_OF_RUN), Holds("0.5", others={4: ["any"]})),
        },
        "no_rows",
        required=("worker", "question", "answer"),
        record={
            "worker": "w1",
            "question": "q1",
            "text": "a",
            "facts": {
                "panel": "SONA",
                "started_at": "2026-11-20T09:00:00+00:00",
                "submitted_at": "2026-11-20T10:00:00+00:00",
                "work_seconds": 1.5,
                "session_state": "submitted",
                "session_started_at": "2026-11-20T09:00:00+00:00",
                "session_last_seen_at": "2026-11-20T10:00:00+00:00",
                "session_submitted_at": "2026-11-20T11:00:00+00:00",
                "extra": {"a": 1},
                "first_draft_at": "2026-11-20T09:00:00+00:00",
                "signals": ("counted", (1, 1, 1, 1, 1, 1, 1, 1)),
                "language": "a",
            },
        },
        bare={"worker": "w1", "question": "q1", "text": "a", "facts": {}},
        together=[
            ({"status": "text", "answer": ""}, "fact_text_unanswered"),
            (
                {"session_submitted_at": "2026-11-20T09:59:59+01:00"},
                "session_times_reversed",
            ),
            ({"signals": "off", **dict.fromkeys(COUNTERS, "")}, 4),
        ],
        again=[({"panel": one, "question": "x{n}"}, "worker_two_panels") for one in ("", "MTurk")],
        values={
            "id_missing": {"name": "worker"},
            "answer_too_long": {"size": 100001, "most": 100000},
            "panel_too_long": {"size": 101, "most": 100},
            "fact_status_unknown": {"status": "fine", "known": "text or empty"},
            "not_boolean": {"cell": "perhaps"},
            "time_unreadable": {"cell": "soon"},
            "seconds_unreadable": {"cell": "-1"},
            "session_state_unknown": {
                "state": "fine",
                "known": "open, submitted, returned, timed_out, screened_out",
            },
            "signals_unknown": {"cell": "odd", "counted": "counted", "off": "off"},
            "signals_without_counts": {"missing": "paste_count"},
            "number_unreadable": {"cell": "-1", "most": 2147483647},
            "longer_than": {"size": 36, "most": 35},
            "worker_two_panels": {"worker": "w1", "panel": "(none)", "other": "SONA"},
            "no_rows": {"what": "answers"},
        },
        fixed={OF_ANSWERS: ""},
        module=f"{READING}.answers",
    ),
    "answers of models": Reader(
        read_model_answers,
        "records",
        A_MODEL_ANSWER,
        "no_rows",
        required=("model", "question", "answer"),
        record={"model": "m1", "question": "q1", "text": "a", "status": AnswerStatus.TEXT},
        bare={"model": "m1", "question": "q1", "text": "a", "status": AnswerStatus.TEXT},
        together=[({"status": one, "answer": ""}, 4) for one in ("text", "empty", "ERROR")],
        again=[
            ({}, 2),
            ({"answer": "b"}, ":answers_differ"),
            ({"status": "refused"}, ":answers_differ"),
        ],
        values={
            "id_missing": {"name": "model"},
            "answer_too_long": {"size": 100001, "most": 100000},
            "status_unknown": {"status": "fine", "accepted": ACCEPTED},
            "answers_differ": {
                "who": "model",
                "name": "m1",
                "question": "q1",
                "first_line": 1,
                "choosable": False,
                "what": "text",
            },
            "no_rows": {"what": "answers"},
        },
        module=f"{READING}.answers",
    ),
    "answers of models of an export": Reader(
        read_model_answers,
        "records",
        {
            **A_MODEL_ANSWER,
            "sample": Holds("0", others={"sample_unreadable": ["-1", "two", "0.5", "2147483648"]}),
            "finish_reason": TEXT,
            "prompt": TEXT,
            "parameters": OBJECT,
            "extra": OBJECT,
            **dict.fromkeys(OF_MODEL_RUN, Holds("0.5", others={4: ["any"]})),
        },
        "no_rows",
        required=("model", "question", "answer"),
        record={
            "model": "m1",
            "question": "q1",
            "text": "a",
            "status": AnswerStatus.TEXT,
            "asking": {
                "finish_reason": "a 1",
                "prompt": "a 1",
                "parameters": {"a": 1},
                "extra": {"a": 1},
            },
        },
        bare={
            "model": "m1",
            "question": "q1",
            "text": "a",
            "status": AnswerStatus.TEXT,
            "asking": {},
        },
        again=[
            ({"answer": "b"}, ":answers_differ"),
            *(({**one, "answer": "b"}, 3) for one in ({"sample": "1"}, {"parameters": "{}"})),
        ],
        values={
            "id_missing": {"name": "model"},
            "answer_too_long": {"size": 100001, "most": 100000},
            "status_unknown": {"status": "fine", "accepted": ACCEPTED},
            "sample_unreadable": {"cell": "-1"},
            "answers_differ": {
                "who": "model",
                "name": "m1",
                "question": "q1",
                "first_line": 1,
                "choosable": False,
                "what": "text",
            },
            "no_rows": {"what": "answers"},
        },
        fixed={OF_MODEL_ANSWERS: ""},
        module=f"{READING}.answers",
    ),
    "batches of Mechanical Turk": Reader(
        read_batch,
        "",
        {
            "HITId": identified("h", "assignment_id_missing"),
            "WorkerId": identified("w", "assignment_id_missing"),
            # 09:11:32 in PST is 17:11:32 in UTC, eight hours later; in PDT it is seven.
            "AcceptTime": batch_time(
                "Wed Nov 15 09:11:32 PST 2023",
                *("2023-11-15T18:11:32+01:00", "Sun Nov  5 10:00:00 UTC 2023"),
            ),
            "SubmitTime": batch_time(
                "Wed Nov 15 09:12:33 PST 2023",
                *("Wed Nov 15 10:11:32 PDT 2023", "Wed Nov 15 17:11:32 GMT 2023"),
                assignment_times_reversed=["Wed Nov 15 10:11:31 PDT 2023"],
            ),
            "WorkTimeInSeconds": Holds(
                "61", others={"seconds_unreadable": ["-1", "inf", "nan", "1_000", "٣", "long"]}
            ),
            **dict.fromkeys(OF_ASSIGNMENT, TEXT),
            "AssignmentStatus": Holds(
                "Approved", others={"assignment_status_unknown": ["Lost"], 4: ["REJECTED"]}
            ),
            "RequesterFeedback": TEXT,
            "Input.sentence": Holds("Guten Tag", others={4: ["Grüße 字😀"]}),
            "Answer.translation": Holds(
                "a {n}", is_text=True, most=100_000, long="assignment_answer_long"
            ),
        },
        ":no_assignment",
        required=("HITId", "WorkerId"),
        record={
            "worker": "w1",
            "question": "h1:translation",
            "text": "a 1",
            "facts": {
                "started_at": "2023-11-15T17:11:32+00:00",
                "submitted_at": "2023-11-15T17:12:33+00:00",
                "work_seconds": 61.0,
                "session_started_at": "2023-11-15T17:11:32+00:00",
                "session_submitted_at": "2023-11-15T17:12:33+00:00",
                "extra": {
                    **dict.fromkeys(OF_ASSIGNMENT, "a 1"),
                    "AssignmentStatus": "Approved",
                    "RequesterFeedback": "a 1",
                },
            },
        },
        bare=(None, None, "answer_columns_missing"),
        again=[
            ({"Input.sentence": "Ade", "WorkerId": "x{n}"}, "HITId:assignment_inputs_differ"),
            ({"WorkerId": "x{n}"}, 4),
        ],
        values={
            "assignment_id_missing": {"name": "HITId"},
            "assignment_time_unreadable": {"cell": "now"},
            "seconds_unreadable": {"cell": "-1"},
            "assignment_status_unknown": {
                "status": "Lost",
                "known": "submitted, approved, rejected",
            },
            "assignment_answer_long": {"most": 100000},
            "assignment_inputs_differ": {"hit": "h1", "first_line": 1},
        },
        module=f"{READING}.mturk",
    ),
    "questions": Reader(
        read_questions,
        "records",
        {
            "question": limited(255, "value_too_long", "q{n}", "record_id_missing"),
            "text": Holds("t", "text_missing", is_text=True, most=100_000, long="text_too_long"),
            "passage": limited(255, "value_too_long"),
            "kind": Holds(
                "free",
                others={"word_unknown": ["guess"], "choices:choices_not_allowed": ["choice"]},
            ),
            "choices": Holds("", others={**LISTS, "choices_not_allowed": ["a|b"]}),
            "accepted_answers": Holds(
                '["a", ["b"]]', others={"not_text_list": LISTS["not_text_list"], 4: ["a|b"]}
            ),
            "answerable": Holds("yes", others={"not_boolean": ["perhaps", "2"]}),
            "category": limited(200, "value_too_long"),
            "language": limited(35, "value_too_long"),
            "role": Holds("gold", others={"word_unknown": ["odd"]}),
            "feedback": limited(20_000, "beside_text_long"),
            "max_characters": Holds(
                "250.0",
                others={
                    "max_characters_unusable": ["0", "-1", "1.5", "many", "100001", "٣"],
                    4: ["100000", "1"],
                },
            ),
            "text.ar": Holds("t", is_text=True, most=1_000_000, long="translation_too_long"),
            "feedback.ar": limited(20_000, "beside_text_long"),
            "choices.ar": Holds("a|b", others=LISTS),
            "accepted_answers.ar": Holds(
                "a", others={"not_text_list": ["[1,", "[[]]", '["a", ""]']}
            ),
            "text.nothing": TEXT,
        },
        "no_rows",
        required=("question", "text"),
        record={
            "question": "q1",
            "text": "t",
            "passage": "a",
            "kind": "free",
            "accepted_answers": ("a", ["b"]),
            "answerable": True,
            "category": "a",
            "language": "a",
            "metadata": {"text.nothing": "a 1"},
            "role": "gold",
            "feedback": "a",
            "max_characters": 250,
            "translations": {
                "ar": {
                    "text": "t",
                    "feedback": "a",
                    "choices": ["a", "b"],
                    "accepted_answers": ["a"],
                }
            },
        },
        bare={"question": "q1", "text": "t", "kind": "free", "role": "graded"},
        together=[({"kind": "choice", "choices": "a|b"}, 4), ({"kind": "", "choices": '["a"]'}, 4)],
        again=[({"question": "q1", "text.nothing": "a 1"}, 2), ({"text": "b"}, ":record_differs")],
        values={
            "record_id_missing": {"name": "question"},
            "value_too_long": {"name": "question", "size": 256, "most": 255},
            "text_too_long": {"size": 100001, "most": 100000},
            "word_unknown": {
                "name": "kind",
                "word": "guess",
                "known": "free, short, extractive, choice",
            },
            "not_boolean": {"cell": "perhaps"},
            "beside_text_long": {"size": 20001, "most": 20000},
            "max_characters_unusable": {"most": 100000},
            "translation_too_long": {"size": 1000001, "most": 1000000},
            "record_differs": {"key": "question", "name": "q1", "first_line": 1, "what": "text"},
            "no_rows": {"what": "questions"},
        },
        module=f"{READING}.questions",
    ),
    "questions of an export": Reader(
        read_questions,
        "records",
        {"question": identified("q", "record_id_missing"), "text": TEXT, "metadata": OBJECT},
        "no_rows",
        required=("question", "text"),
        record={
            "question": "q1",
            "text": "a 1",
            "passage": "p",
            "kind": "free",
            "metadata": {"a": 1},
            "role": "graded",
        },
        bare={"question": "q1", "text": "a 1", "passage": "p", "kind": "free", "role": "graded"},
        values={"no_rows": {"what": "questions"}, "record_id_missing": {"name": "question"}},
        fixed={OF_QUESTIONS: "", "passage": "p"},
        module=f"{READING}.questions",
    ),
    "passages": Reader(
        read_passages,
        "records",
        {
            "passage": limited(255, "value_too_long", "p{n}", "record_id_missing"),
            "text": Holds("t", "text_missing", is_text=True, most=1_000_000, long="text_too_long"),
            "title": limited(500, "value_too_long"),
            "language": limited(35, "value_too_long"),
            "format": Holds("simple", others={"word_unknown": ["html"]}),
            "image_alt": limited(20_000, "beside_text_long"),
            "title.ar": limited(20_000, "beside_text_long"),
            "text.ar": Holds("t", is_text=True, most=1_000_000, long="translation_too_long"),
            "image_alt.ar": limited(20_000, "beside_text_long"),
            "source": TEXT,
        },
        "no_rows",
        required=("passage", "text"),
        record={
            "passage": "p1",
            "title": "a",
            "text": "t",
            "language": "a",
            "metadata": {"source": "a 1"},
            "format": "simple",
            "image_alt": "a",
            "translations": {"ar": {"title": "a", "text": "t", "image_alt": "a"}},
        },
        bare={"passage": "p1", "text": "t", "format": "plain"},
        again=[({"title": "b"}, ":record_differs")],
        values={
            "record_id_missing": {"name": "passage"},
            "value_too_long": {"name": "passage", "size": 256, "most": 255},
            "text_too_long": {"size": 1000001, "most": 1000000},
            "word_unknown": {"name": "format", "word": "html", "known": "plain, simple"},
            "beside_text_long": {"size": 20001, "most": 20000},
            "translation_too_long": {"size": 1000001, "most": 1000000},
            "record_differs": {"key": "passage", "name": "p1", "first_line": 1, "what": "title"},
            "no_rows": {"what": "passages"},
        },
        module=f"{READING}.questions",
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_notes_each_bad_cell_by_its_row_column_and_code(tmp_path, name):
    found, expected = outcomes(READERS[name], tmp_path)
    assert found == expected
