"""Problem messages for files with a panel's decisions and submission statuses."""

from __future__ import annotations

from annotations.exchange.problem_messages.message import ProblemMessage

PANEL = {
    "amounts_not_read": ProblemMessage(
        "{rows} something in it, but it is not read, and looks like amounts",
        "If they are bonuses, call the column bonus; else remove it, or call it otherwise.",
    ),
    "decided_twice": ProblemMessage(
        "{worker} is already in line {first_line}",
        "Decide once of each: the last row would not win.",
    ),
    "no_decision": ProblemMessage(
        "there is no decision in it",
        "Check that it was saved.",
    ),
    "no_submission": ProblemMessage(
        "there is no submission in it",
        "Check that it was saved.",
    ),
    "panel_seconds_unreadable": ProblemMessage(
        "{cell!r} is no number of seconds",
        "Correct it.",
    ),
    "panel_status_unknown": ProblemMessage(
        "{status!r} is no status of Prolific's",
        "It has {known}.",
    ),
    "panel_time_unreadable": ProblemMessage(
        "{cell!r} is no time",
        "Export the file anew.",
    ),
    "panel_worker_missing": ProblemMessage(
        "it is missing",
        "Write the panel's id of the worker.",
    ),
    "panel_worker_long": ProblemMessage(
        "the id has more than {most} characters",
        "Write the panel's id of the worker.",
    ),
    "submission_id_missing": ProblemMessage(
        "it is missing",
        "Export the file anew.",
    ),
    "submission_id_long": ProblemMessage(
        "the id has more than {most} characters",
        "Export the file anew.",
    ),
    "submission_times_reversed": ProblemMessage(
        "it ends before it begins",
        "Export it anew.",
    ),
    "submission_twice": ProblemMessage(
        "{value} is already in line {first_line}",
        "Keep the row that counts, and remove the other.",
    ),
}
