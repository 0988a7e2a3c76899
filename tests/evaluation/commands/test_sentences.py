"""What is said of each problem with a file of an evaluation."""

import pytest

from evaluation.runs.files.problem_messages import FILE_MESSAGES, build_problem

# Code: values, the reason and the remedy that are made of them.
SENTENCES = {
    "answers_all_rejected": (
        {"n": 3},
        "all 3 answers were rejected where they were collected",
        "Grade them all the same by the option include_rejected.",
        "Add --include-rejected to grade them all the same.",
    ),
    "answers_all_empty": (
        {},
        "every answer is empty",
        "Check which column holds the answers.",
        "Check that --columns names the right column.",
    ),
    "file_replaced": (
        {"output": "out"},
        "a table of this name is written into out and would replace the file",
        "Choose another folder with --output.",
    ),
    "results_replaced": (
        {"inputs": "answers"},
        "it holds the results of other inputs (answers), which would be replaced",
        "Choose another folder with --output, or add --overwrite.",
    ),
    "summary_unknown": (
        {},
        "it is no summary of a grading, or a damaged one, which would be replaced",
        "Choose another folder with --output, or add --overwrite.",
    ),
    "grades_replaced": (
        {"path": "anchors.csv"},
        "anchors.csv holds grades, which new suggestions would replace",
        "Choose another --output, or move the file away.",
    ),
    "folder_of_others": (
        {"journal": "requests.jsonl"},
        "it is there without requests.jsonl, so another command wrote it",
        "Choose another folder with --output.",
    ),
    "journal_busy": ({}, "another command is writing into it", "Wait until it has ended."),
    "listed_worker_unknown": (
        {"worker": "eli", "answers": "crowd.csv", "look": "Check the id."},
        "there is no worker eli in crowd.csv",
        "Check the id.",
    ),
    "graded_question_unknown": (
        {"question": "q1", "answers": "crowd.csv", "look": "Check the id."},
        "there is no question q1 in crowd.csv",
        "Check the id.",
    ),
    "anchor_unknown": (
        {"worker": "eli", "question": "q1"},
        "eli gave no answer to question q1",
        "Grade answers that are there, or delete the row.",
    ),
    "passages_missing": ({}, "there are no passages", "Name their file with --passages FILE."),
    "batch_of_others": (
        {},
        "none of its responses is to these questions, asked this way",
        "Give the options that the batch was written with.",
    ),
    "facts_model_idle": ({}, "with --no-facts it would read nothing", "Leave one of the two out."),
    "budget_without_prices": (
        {},
        "without prices the cost is unknown",
        "Add --facts-price-in and --facts-price-out.",
    ),
    "composed_not_json": ({}, "questions are one JSON list", "Use .json."),
    "bounds_unordered": ({"most": 26}, "1 <= fewest <= most <= options <= 26", "Choose others."),
    "nothing_to_compose": ({}, "there is nothing to compose", "Name a list, or --yes-no FILE."),
    "entry_no_object": (
        {"entry": 3, "layout": "Write a list."},
        "entry 3 is no object",
        "Write a list.",
    ),
    "entry_without_question": (
        {"entry": 3, "layout": "Write a list."},
        "entry 3 has no question",
        "Write a list.",
    ),
    "entry_statement_no_text": (
        {"entry": 3, "layout": "Write a list."},
        "the statement of entry 3 is no text",
        "Write a list.",
    ),
    "entry_answer_unknown": (
        {"entry": 3, "layout": "Write a list."},
        "the answer of entry 3 is neither yes nor no",
        "Write a list.",
    ),
    "entry_contradicts": (
        {"entry": 3, "earlier": 2},
        "entry 3 contradicts entry 2",
        "Keep one of them.",
    ),
    "half_of_one_label": (
        {},
        "each half needs replies of both labels",
        "Give more replies, of both labels.",
    ),
    "items_not_jsonl": ({}, "items are written as JSON Lines", "Use .jsonl."),
    "mapping_unknown": (
        {"known": "a, b"},
        "there is no such mapping",
        "Choose one of a, b, or a file that ends in .json.",
    ),
    "mapping_unreadable": (
        {"cause": "Permission denied"},
        "it cannot be read: Permission denied",
        "Check it.",
    ),
    "mapping_no_object": ({}, "this is no JSON object", "Write one: see the documentation."),
    "field_missing": ({}, "the field is missing", ""),
    "field_unknown": ({"known": "a, b"}, "the field is unknown", "Known are a, b."),
    "field_no_path": ({}, "this is no path and no list of paths", ""),
    "field_no_text": ({}, "this is no text", ""),
    "field_no_choice": ({"choices": "a, b"}, "write one of a, b", ""),
    "no_records": ({"looked": "data"}, "there is no record (searched: data)", "Choose a mapping."),
    "record_repeats_item": (
        {"record": 4, "item": "q1", "earlier": 2},
        "record 4: item q1 is already in line 2",
        "Give each an id of its own.",
    ),
    "item_differs": (
        {"item": "q1", "earlier": 2},
        "item q1 is already in line 2, with something else",
        "Keep one of the two rows, or give it an id of its own.",
    ),
    "item_missing": ({}, "the item is missing", ""),
    "kind_unknown": (
        {"kind": "essay", "known": "a, b"},
        "the kind essay is unknown: write a, b",
        "",
    ),
    "kind_missing": ({"known": "a, b"}, "the kind is missing: write a, b", ""),
    "matcher_unknown": (
        {"matcher": "odd", "known": "a, b"},
        "the matcher odd is unknown: write a, b",
        "",
    ),
    "no_list": ({}, 'this is no JSON list of texts, such as ["Paris", "Rome"]', ""),
    "entry_empty": ({"entry": 3}, "entry 3 is empty", ""),
    "item_faulty": ({"fault": "choices 1 and 2 are the same"}, "choices 1 and 2 are the same", ""),
    "question_not_found": ({"looked": "data"}, "there is no question (searched: data)", ""),
    "answer_not_found": ({"looked": "data"}, "there is no answer (searched: data)", ""),
    "flags_uneven": ({}, "there is not one flag for each choice", ""),
    "answer_no_choice": ({"answer": "F", "n": 4}, "the answer 'F' is none of the 4 choices", ""),
    "pair_text_missing": ({}, "the text is missing", "Fill it in, or delete the row."),
    "pair_labels_differ": (
        {"reply": "rain"},
        "an earlier row labels the reply 'rain' to the same question otherwise",
        "Keep one of the two labels.",
    ),
    "pairs_of_one_class": (
        {},
        "right and wrong pairs are needed, of several questions",
        "Add labelled pairs.",
    ),
    "flag_neither": ({"flag": "-1"}, "the flag '-1' is neither yes nor no", ""),
    "answer_neither": ({"answer": "?"}, "the answer '?' is neither yes nor no", ""),
    "answer_not_among": (
        {"answer": "-1"},
        "the accepted answer '-1' is none of the choices",
        "",
    ),
    "options_without_text": (
        {"keys": "a, b"},
        "the options are objects without a text; they have a, b",
        "",
    ),
    "record_no_object": ({}, "this is no object", ""),
    "record_cut": ({"cells": "passage"}, "the hub cut cells of it: passage", ""),
    "replies_to_others": (
        {},
        "every reply is to an item that is not in the file of items",
        "Check the ids; they are case-sensitive.",
    ),
    "answers_to_others": (
        {},
        "none of its answers is to an item",
        "Its questions need the ids of the items; ids are case-sensitive.",
    ),
    "item_without_question": (
        {"item": "q1"},
        "item q1 has no question to ask",
        "Fill it in, or delete the row.",
    ),
}


def test_every_code_has_its_sentence_here():
    assert set(SENTENCES) == set(FILE_MESSAGES)


@pytest.mark.parametrize("code", SENTENCES)
def test_a_problem_says_what_is_wrong_and_what_to_do(code):
    values, reason, remedy, *on_terminal = SENTENCES[code]
    problem = build_problem("a.csv", 3, "item", code, **values)
    assert (problem.file, problem.line, problem.column) == ("a.csv", 3, "item")
    assert (problem.code, problem.values) == (code, values)
    assert (problem.reason, problem.remedy) == (reason, remedy)
    assert problem.on_terminal == "".join(on_terminal)
