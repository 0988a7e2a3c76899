"""Problem messages for answers, questions, passages and Mechanical Turk batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.exchange.problem_messages.message import ProblemMessage

CHOOSE = (
    "Keep one of the two rows, or choose which of a worker's answers counts, the first or the last."
)
CHOOSE_BY_OPTION = (
    "Keep one of the two rows, or let one count with --duplicates first or --duplicates last."
)
KEEP_ONE = "Keep one of the two rows."


def _advise_on_two_answers(values: Mapping[str, Any]) -> str:
    """Return the web page's advice when a worker has two different answers to a question."""
    keep = CHOOSE if values["choosable"] else KEEP_ONE
    guess = values.get("guess")
    if not guess:
        return keep
    return f"First check the columns, which were guessed: {guess}. If they are right: {keep}"


def _advise_on_two_answers_by_option(values: Mapping[str, Any]) -> str:
    """Return the command line's advice when a worker has two different answers to a question."""
    if guess := values.get("guess"):
        return (
            f"The columns were guessed: {guess}. If others hold them, use --map"
            " worker=COLUMN, --map question=COLUMN or --map answer=COLUMN. If they are right,"
            " keep one of the two rows, or see --duplicates and --duplicates-of."
        )
    return CHOOSE_BY_OPTION if values["choosable"] else ""


def _describe_conflict(values: Mapping[str, Any]) -> str:
    """Return the reason text for two contradictory answers of a worker to a question."""
    return f"{_describe_earlier(values)}, with another {values['what']}"


def _describe_rejection(values: Mapping[str, Any]) -> str:
    """Return the reason text for equal answers of a worker of which only one was rejected."""
    return f"{_describe_earlier(values)}, with rejected in one of the two rows only"


def _describe_earlier(values: Mapping[str, Any]) -> str:
    """Return the text that names worker, question and line of an earlier answer."""
    place = values.get("first_place") or f"line {values['first_line']}"
    return (
        f"{values['who']} {values['name']} answered question {values['question']} already in "
        f"{place}"
    )


ANSWERS = {
    "answer_column_twice": ProblemMessage(
        "an Answer column occurs twice",
    ),
    "answer_column_unknown": ProblemMessage(
        "no answer column has the name {glob!r}; found: {found}",
        "Write the name as in the file, such as Answer.translation, or with"
        " a star for several: Answer.translation*.",
    ),
    "answer_columns_missing": ProblemMessage(
        "there is no column Answer....; found: {found}",
        "Download the results of a batch on its page: Review Results, Download CSV.",
    ),
    "answer_too_long": ProblemMessage(
        "the answer has {size:,} bytes, more than {most:,}",
        "Shorten it; if it is not that long, a quote before it is not closed.",
    ),
    "answers_differ": ProblemMessage(
        _describe_conflict,
        _advise_on_two_answers,
        _advise_on_two_answers_by_option,
    ),
    "repeating_worker_unknown": ProblemMessage(
        "the worker {worker} has no answer, but a choice of the attempt",
        "Take the choice back, or check the column of workers.",
        "Write the id after --duplicates-of as in the file.",
    ),
    "attempts_differ": ProblemMessage(
        "{who} {name} answered {n} questions already in {first_place}, with other texts: "
        "{questions}",
        _advise_on_two_answers,
        _advise_on_two_answers_by_option,
    ),
    "assignment_answer_long": ProblemMessage(
        "the answer is longer than {most:,} bytes",
    ),
    "assignment_id_missing": ProblemMessage(
        "the {name} is missing",
        "Download the file anew.",
    ),
    "assignment_inputs_differ": ProblemMessage(
        "HIT {hit} has other Input cells in line {first_line}",
    ),
    "assignment_rejection_differs": ProblemMessage(
        "worker {worker} did question {question} already in line {first_line}, with "
        "rejected in one of the two rows only",
        _advise_on_two_answers,
        _advise_on_two_answers_by_option,
    ),
    "assignment_status_unknown": ProblemMessage(
        "the status {status} is unknown: known are {known}",
    ),
    "assignment_time_unreadable": ProblemMessage(
        "{cell!r} is no time of Mechanical Turk, such as Wed Nov 15 09:11:32 PST 2023",
    ),
    "assignment_times_reversed": ProblemMessage(
        "the assignment was submitted before it was accepted",
    ),
    "assignments_differ": ProblemMessage(
        "worker {worker} did question {question} already in line {first_line}, with another text",
        _advise_on_two_answers,
        _advise_on_two_answers_by_option,
    ),
    "beside_text_long": ProblemMessage(
        "it has {size:,} characters, more than {most:,}",
    ),
    "choices_not_allowed": ProblemMessage(
        "choices belong to the kind choice, and only to it",
    ),
    "counts_without_signals": ProblemMessage(
        "there are counts, but the column does not contain counted",
    ),
    "fact_empty_answered": ProblemMessage(
        "the status is empty, but there is an answer",
    ),
    "fact_text_unanswered": ProblemMessage(
        "the status is text, but there is no answer",
    ),
    "fact_status_unknown": ProblemMessage(
        "the status {status} is unknown: write {known}",
    ),
    "id_is_placeholder": ProblemMessage(
        "the survey tool wrote {text} in place of the worker's id",
        "Fill in the id, or delete the row: it may be your own trial.",
    ),
    "id_missing": ProblemMessage(
        "the {name} is missing",
        "Fill in the id, or delete the row.",
    ),
    "ids_cleaned": ProblemMessage(
        "{n_characters:,} invisible characters or needless blanks were removed from {n_ids:,} ids:"
        " {examples}",
        "Ids that look the same are one id.",
    ),
    "ids_damaged": ProblemMessage(
        "a spreadsheet seems to have changed {n_ids:,} ids: {examples}",
        "Several ids may have become one: export the file again, and let the spreadsheet read"
        " the column as text.",
    ),
    "ids_mixed": ProblemMessage(
        "Ids of {column} are whole numbers with and without “.0” (rows: {n_decimal:,} and"
        " {n_whole:,}). All were read without it, such as {typed} as {whole}",
        "--keep-ids (on the site: “Keep ids as typed”) reads them as different ids",
    ),
    "ids_mixed_as_typed": ProblemMessage(
        "Ids of {column} are whole numbers with and without “.0” (rows: {n_decimal:,} and"
        " {n_whole:,}). They stay as typed, so that {typed} and {whole} are two ids",
        "Without --keep-ids (on the site: “Keep ids as typed”) they are one",
    ),
    "ids_mixed_with_texts": ProblemMessage(
        "Ids of {column} are whole numbers with and without “.0”, and other ids (rows:"
        " {n_decimal:,}, {n_whole:,} and {n_other:,}). They stay as typed, so that {typed} and"
        " {whole} are two ids",
        "To make them one, remove “.0” in the file",
    ),
    "longer_than": ProblemMessage(
        "it has {size} characters, more than {most}",
    ),
    "max_characters_unusable": ProblemMessage(
        "write a whole number from 1 to {most:,}",
    ),
    "not_boolean": ProblemMessage(
        "{cell!r} is neither yes nor no",
    ),
    "no_assignment": ProblemMessage(
        "there is no assignment",
        "Download the file anew.",
    ),
    "no_json_object": ProblemMessage(
        "this is no JSON object",
    ),
    "not_text_list": ProblemMessage(
        "this is no JSON list of texts",
    ),
    "no_rows": ProblemMessage(
        "there is no data row",
        "Check that the {what} were saved.",
    ),
    "number_unreadable": ProblemMessage(
        "{cell!r} is no number from 0 to {most}",
    ),
    "panel_too_long": ProblemMessage(
        "the panel has {size} characters, more than {most}",
    ),
    "record_differs": ProblemMessage(
        "{key} {name} is already in line {first_line}, with another {what}",
        KEEP_ONE,
    ),
    "record_id_missing": ProblemMessage(
        "the {name} is missing",
    ),
    "rejection_differs": ProblemMessage(
        _describe_rejection,
        _advise_on_two_answers,
        _advise_on_two_answers_by_option,
    ),
    "row_name_missing": ProblemMessage(
        "the {name} is missing",
        "Fill it in, or delete the row.",
    ),
    "sample_unreadable": ProblemMessage(
        "{cell!r} is no number of a sample: write 0, 1, 2 ...",
    ),
    "seconds_unreadable": ProblemMessage(
        "{cell!r} is no number of seconds",
    ),
    "session_state_unknown": ProblemMessage(
        "the state {state} is unknown: write {known}",
    ),
    "session_times_reversed": ProblemMessage(
        "the session ends before it begins",
    ),
    "signals_unknown": ProblemMessage(
        "{cell!r} is unknown: write {counted} or {off}",
    ),
    "signals_without_counts": ProblemMessage(
        "it is counted, but there is no number in {missing}",
    ),
    "status_empty_answered": ProblemMessage(
        "the status is empty, but there is an answer",
        "Remove the answer, or give the status text.",
    ),
    "status_empty_replied": ProblemMessage(
        "the status is empty, but there is a reply",
        "Remove the reply, or give the status text.",
    ),
    "status_unknown": ProblemMessage(
        "the status {status} is unknown",
        "Accepted are {accepted}.",
    ),
    "template_column_missing": ProblemMessage(
        "the template names ${{{name}}}, but there is no column Input.{name}",
        "Known are {known}.",
    ),
    "text_missing": ProblemMessage(
        "the text is missing",
    ),
    "text_too_long": ProblemMessage(
        "the text has {size:,} bytes, more than {most:,}",
    ),
    "time_unreadable": ProblemMessage(
        "{cell!r} is no time: write it as in 2026-11-21T15:00:00+00:00",
    ),
    "translation_too_long": ProblemMessage(
        "it has {size:,} bytes, more than {most:,}",
    ),
    "value_too_long": ProblemMessage(
        "the {name} has {size:,} characters, more than {most}",
    ),
    "word_unknown": ProblemMessage(
        "the {name} {word} is unknown: write {known}",
    ),
    "worker_two_panels": ProblemMessage(
        "worker {worker} is of the panel {panel}, earlier of {other}: two people under one id",
        "Export with pseudonyms, which give each an id of their own.",
        "Export with --pseudonyms, which gives each an id of their own.",
    ),
}
