"""Decisions and panels' statuses of submissions: each bad row by its code and its place."""

from annotations.exchange.reading.decisions import read_decisions
from annotations.exchange.reading.source import make_bytes_source

REASON = "The answers repeat the question word for word and so do those of all the other questions"
REASON += " of the study."
HEADER = "worker,decision,category,reason,bonus\n"


def decisions(text):
    return read_decisions(make_bytes_source("decisions.csv", (HEADER + text).encode()))


def test_sound_decisions_are_read():
    file = decisions(f"ann,approve,,,1.50\nben,reject,low effort,{REASON},\n")
    assert [(row.worker, row.decision, row.category, row.bonus) for row in file.rows] == [
        ("ann", "approve", "", 1.5),
        ("ben", "reject", "LOW_EFFORT", None),
    ]
