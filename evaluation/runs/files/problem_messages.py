"""Define the messages about invalid input files, by problem code.

They extend those of `annotations.exchange.problem_messages`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.exchange import InputError, Problem
from annotations.exchange.problem_messages import ProblemMessage
from annotations.exchange.problems import Problems

_LAYOUT = "{layout}"
_ELSEWHERE = "Choose another folder with --output."

FILE_MESSAGES: Mapping[str, ProblemMessage] = {
    # Files that are written.
    "file_replaced": ProblemMessage(
        "a table of this name is written into {output} and would replace the file", _ELSEWHERE
    ),
    "results_replaced": ProblemMessage(
        "it holds the results of other inputs ({inputs}), which would be replaced",
        "Choose another folder with --output, or add --overwrite.",
    ),
    "summary_unknown": ProblemMessage(
        "it is no summary of a grading, or a damaged one, which would be replaced",
        "Choose another folder with --output, or add --overwrite.",
    ),
    "grades_replaced": ProblemMessage(
        "{path} holds grades, which new suggestions would replace",
        "Choose another --output, or move the file away.",
    ),
    "folder_of_others": ProblemMessage(
        "it is there without {journal}, so another command wrote it", _ELSEWHERE
    ),
    "journal_busy": ProblemMessage(
        "another command is writing into it", "Wait until it has ended."
    ),
    # Workers and answers that a remedy names.
    "listed_worker_unknown": ProblemMessage("there is no worker {worker} in {answers}", "{look}"),
    "graded_question_unknown": ProblemMessage(
        "there is no question {question} in {answers}", "{look}"
    ),
    "anchor_unknown": ProblemMessage(
        "{worker} gave no answer to question {question}",
        "Grade answers that are there, or delete the row.",
    ),
    # What language models are asked, and their replies.
    "passages_missing": ProblemMessage(
        "there are no passages", "Name their file with --passages FILE."
    ),
    "batch_of_others": ProblemMessage(
        "none of its responses is to these questions, asked this way",
        "Give the options that the batch was written with.",
    ),
    "facts_model_idle": ProblemMessage(
        "with --no-facts it would read nothing", "Leave one of the two out."
    ),
    "answers_all_rejected": ProblemMessage(
        "all {n} answers were rejected where they were collected",
        "Grade them all the same by the option include_rejected.",
        "Add --include-rejected to grade them all the same.",
    ),
    "answers_all_empty": ProblemMessage(
        "every answer is empty",
        "Check which column holds the answers.",
        "Check that --columns names the right column.",
    ),
    "budget_without_prices": ProblemMessage(
        "without prices the cost is unknown",
        "Add --facts-price-in and --facts-price-out.",
    ),
    # Questions with several right answers that are composed.
    "composed_not_json": ProblemMessage("questions are one JSON list", "Use .json."),
    "bounds_unordered": ProblemMessage(
        "1 <= fewest <= most <= options <= {most}", "Choose others."
    ),
    "nothing_to_compose": ProblemMessage(
        "there is nothing to compose", "Name a list, or --yes-no FILE."
    ),
    "entry_no_object": ProblemMessage("entry {entry} is no object", _LAYOUT),
    "entry_without_question": ProblemMessage("entry {entry} has no question", _LAYOUT),
    "entry_statement_no_text": ProblemMessage("the statement of entry {entry} is no text", _LAYOUT),
    "entry_answer_unknown": ProblemMessage(
        "the answer of entry {entry} is neither yes nor no", _LAYOUT
    ),
    "entry_contradicts": ProblemMessage(
        "entry {entry} contradicts entry {earlier}", "Keep one of them."
    ),
    # Replies that templates are mined from.
    "half_of_one_label": ProblemMessage(
        "each half needs replies of both labels", "Give more replies, of both labels."
    ),
    # Items of any data set, and the mapping of its records to them.
    "items_not_jsonl": ProblemMessage("items are written as JSON Lines", "Use .jsonl."),
    "mapping_unknown": ProblemMessage(
        "there is no such mapping", "Choose one of {known}, or a file that ends in .json."
    ),
    "mapping_unreadable": ProblemMessage("it cannot be read: {cause}", "Check it."),
    "mapping_no_object": ProblemMessage(
        "this is no JSON object", "Write one: see the documentation."
    ),
    "field_missing": ProblemMessage("the field is missing"),
    "field_unknown": ProblemMessage("the field is unknown", "Known are {known}."),
    "field_no_path": ProblemMessage("this is no path and no list of paths"),
    "field_no_text": ProblemMessage("this is no text"),
    "field_no_choice": ProblemMessage("write one of {choices}"),
    "no_records": ProblemMessage("there is no record (searched: {looked})", "Choose a mapping."),
    "record_repeats_item": ProblemMessage(
        "record {record}: item {item} is already in line {earlier}",
        "Give each an id of its own.",
    ),
    "item_differs": ProblemMessage(
        "item {item} is already in line {earlier}, with something else",
        "Keep one of the two rows, or give it an id of its own.",
    ),
    "item_missing": ProblemMessage("the item is missing"),
    "kind_unknown": ProblemMessage("the kind {kind} is unknown: write {known}"),
    "kind_missing": ProblemMessage("the kind is missing: write {known}"),
    "matcher_unknown": ProblemMessage("the matcher {matcher} is unknown: write {known}"),
    "no_list": ProblemMessage('this is no JSON list of texts, such as ["Paris", "Rome"]'),
    "entry_empty": ProblemMessage("entry {entry} is empty"),
    "item_faulty": ProblemMessage("{fault}"),
    "question_not_found": ProblemMessage("there is no question (searched: {looked})"),
    "answer_not_found": ProblemMessage("there is no answer (searched: {looked})"),
    "flags_uneven": ProblemMessage("there is not one flag for each choice"),
    "pair_text_missing": ProblemMessage("the text is missing", "Fill it in, or delete the row."),
    "pair_labels_differ": ProblemMessage(
        "an earlier row labels the reply {reply!r} to the same question otherwise",
        "Keep one of the two labels.",
    ),
    "pairs_of_one_class": ProblemMessage(
        "right and wrong pairs are needed, of several questions", "Add labelled pairs."
    ),
    "flag_neither": ProblemMessage("the flag {flag!r} is neither yes nor no"),
    "answer_neither": ProblemMessage("the answer {answer!r} is neither yes nor no"),
    "answer_not_among": ProblemMessage("the accepted answer {answer!r} is none of the choices"),
    "options_without_text": ProblemMessage(
        "the options are objects without a text; they have {keys}"
    ),
    "record_no_object": ProblemMessage("this is no object"),
    "record_cut": ProblemMessage("the hub cut cells of it: {cells}"),
    "answer_no_choice": ProblemMessage("the answer {answer!r} is none of the {n} choices"),
    "replies_to_others": ProblemMessage(
        "every reply is to an item that is not in the file of items",
        "Check the ids; they are case-sensitive.",
    ),
    "answers_to_others": ProblemMessage(
        "none of its answers is to an item",
        "Its questions need the ids of the items; ids are case-sensitive.",
    ),
    "item_without_question": ProblemMessage(
        "item {item} has no question to ask", "Fill it in, or delete the row."
    ),
}


def build_problem(
    file: str, line: int | None, column: str | int | None, code: str, /, **values: Any
) -> Problem:
    """Return the problem of an input file, by a code of `FILE_MESSAGES`. Raises KeyError."""
    texts = FILE_MESSAGES[code].texts(values)
    return Problem(file, line, column, *texts, code=code, values=values)


def add_problem(
    problems: Problems, line: int | None, column: str | int | None, code: str, /, **values: Any
) -> None:
    """Add the problem of an input file, by a code of `FILE_MESSAGES`, to a list of problems."""
    problems.extend([build_problem(problems.file, line, column, code, **values)])


def build_error(
    file: str,
    code: str,
    /,
    *,
    line: int | None = None,
    column: str | int | None = None,
    **values: Any,
) -> InputError:
    """Return an `InputError` on a file, with one problem by a code of `FILE_MESSAGES`."""
    return InputError([build_problem(file, line, column, code, **values)])
