"""Messages of exports of other programs."""

from __future__ import annotations

from annotations.exchange.problem_messages.message import ProblemMessage

EXPORTS = {
    "rows_left_out": ProblemMessage(
        "there is no answer: {left_out}",
        "Check that the answers were saved.",
    ),
    "foreign_answer_long": ProblemMessage(
        "the answer is longer than {most:,} bytes",
        "Shorten it.",
    ),
    "list_of_submissions": ProblemMessage(
        "this is Prolific's list of submissions, which holds no answers",
        "Take the file of your survey tool, in which the ids of Prolific were recorded.",
    ),
    "looks_like": ProblemMessage(
        "it looks like {looks}",
        "Take it in as “{title}”.",
        "Take it in by: {command}",
    ),
    "looks_like_export": ProblemMessage(
        "it looks like an export of {program}",
        "Take it in as “{title}”.",
        "Take it in by: {command}",
    ),
    "mapped_column_ambiguous": ProblemMessage(
        "the column {name} stands there twice",
        "Rename or remove one of them.",
    ),
    "mapped_column_missing": ProblemMessage(
        "there is no column {name}; found: {found}",
        "Write the name as it stands in the first row of the file.",
    ),
    "mapped_column_unnamed": ProblemMessage(
        "it is not said which column holds the {what}; found: {found}",
        "Say which columns hold the workers' ids and the answers.",
    ),
    "mapped_column_twice": ProblemMessage(
        "one column is used twice",
        "Choose a column of its own for each.",
    ),
    "not_object_list": ProblemMessage(
        "this is no list of objects",
        "Export JSON of Label Studio or Potato, or a table as CSV or XLSX.",
    ),
}
