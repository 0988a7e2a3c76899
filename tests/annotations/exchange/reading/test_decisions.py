"""Decisions and panels' statuses of submissions: each bad row by its code and its place."""

import pytest

from annotations.exchange.reading.decisions import read_decisions
from annotations.exchange.reading.panel_statuses import read_statuses
from annotations.exchange.reading.source import bytes_source
from tests.problems import raises_problem

REASON = "The answers repeat the question word for word and so do those of all the other questions"
REASON += " of the study."
HEADER = "worker,decision,category,reason,bonus\n"
STATUSES = "Submission id,Participant id,Status,Started at,Completed at,Time taken\n"


def decisions(text):
    return read_decisions(bytes_source("decisions.csv", (HEADER + text).encode()))


def statuses(text):
    return read_statuses(bytes_source("export.csv", (STATUSES + text).encode()))


@pytest.mark.parametrize(
    ("row", "column", "code"),
    [
        ("ben,,,,", "decision", "decision_missing"),
        ("ben,perhaps,,,", "decision", "decision_unknown"),
        (f"ben,reject,,{REASON},", "category", "category_missing"),
        (f"ben,reject,ODD,{REASON},", "category", "category_unknown"),
        ("ben,reject,LOW_EFFORT,too short,", "reason", "reason_too_short"),
        (f"ben,reject,LOW_EFFORT,{'x' * 1001},", "reason", "reason_too_long"),
        ("ben,approve,LOW_EFFORT,,", "category", "category_not_allowed"),
        (",approve,,,", "worker", "panel_worker_missing"),
        (f"{'w' * 256},approve,,,", "worker", "panel_worker_long"),
        ("ann,approve,,,", "worker", "decided_twice"),
        ('ben,approve,,,"1,50"', "bonus", "not_an_amount"),
        ("ben,approve,,,10001", "bonus", "out_of_range"),
    ],
)
def test_a_decision_that_will_not_do_is_refused(row, column, code):
    with raises_problem(code, file="decisions.csv", line=3, column=column):
        decisions(f"ann,approve,,,\n{row}\n")


def test_a_file_without_a_decision_is_refused():
    with raises_problem("no_decision", line=None):
        decisions("")


def test_sound_decisions_are_read():
    file = decisions(f"ann,approve,,,1.50\nben,reject,low effort,{REASON},\n")
    assert [(row.worker, row.decision, row.category, row.bonus) for row in file.rows] == [
        ("ann", "approve", "", 1.5),
        ("ben", "reject", "LOW_EFFORT", None),
    ]


@pytest.mark.parametrize(
    ("row", "column", "code"),
    [
        (",ben,APPROVED,,,", "Submission id", "submission_id_missing"),
        (f"{'s' * 256},ben,APPROVED,,,", "Submission id", "submission_id_long"),
        ("s1,ben,APPROVED,,,", "Submission id", "submission_twice"),
        ("s2,,APPROVED,,,", "Participant id", "submission_id_missing"),
        ("s2,ann,APPROVED,,,", "Participant id", "submission_twice"),
        ("s2,ben,FINE,,,", "Status", "panel_status_unknown"),
        ("s2,ben,APPROVED,soon,,", "Started at", "panel_time_unreadable"),
        ("s2,ben,APPROVED,,20190501,", "Completed at", "panel_time_unreadable"),
        (
            "s2,ben,APPROVED,2024-03-01T10:00,2024-03-01T09:59,",
            *("Completed at", "submission_times_reversed"),
        ),
        ("s2,ben,APPROVED,,,long", "Time taken", "panel_seconds_unreadable"),
    ],
)
def test_a_submission_that_will_not_do_is_refused(row, column, code):
    with raises_problem(code, file="export.csv", line=3, column=column):
        statuses(f"s1,ann,APPROVED,,,\n{row}\n")


def test_an_export_without_a_submission_is_refused():
    with raises_problem("no_submission", line=None):
        statuses("")
