"""Problem messages for grades, judgements, worker lists and data sets of graded answers."""

from __future__ import annotations

from annotations.exchange.problem_messages.message import ProblemMessage

KEEP_ONE = "Keep one of the two rows."

GRADES = {
    "answers_all_ungraded": ProblemMessage(
        "there is no graded answer in it: {n_ungraded:,} have no grade",
        "Write a row for each answer, with its grade.",
    ),
    "answer_graded_twice": ProblemMessage(
        "the answer of {worker} to question {question} is graded already in line {first_line}",
        KEEP_ONE,
    ),
    "expert_graded_twice": ProblemMessage(
        "the answer of {name} to question {question} is graded already in line {first_line}",
        "Keep one of the rows, or name the experts in a column {expert}.",
    ),
    "archive_too_large": ProblemMessage(
        "unpacked it has more than {most} MiB",
        "Send it in parts.",
    ),
    "archive_many_files": ProblemMessage(
        "there are more than {most:,} files in it",
        "Take fewer at a time.",
    ),
    "archive_unreadable": ProblemMessage(
        "this is no archive that can be unpacked ({error})",
        "Pack it anew, without a password.",
    ),
    "grade_missing": ProblemMessage(
        "the grade is missing",
        "Grade the answer, or delete the row.",
    ),
    "grade_no_number": ProblemMessage(
        "the grade {cell} is no number",
        "Write digits, with a point before decimals.",
    ),
    "grade_of_none": ProblemMessage(
        "no worker or model is named",
        "Name the author of the answer: a worker or a model.",
    ),
    "grade_of_two": ProblemMessage(
        "both a worker and a model are named",
        "Name the author of the answer: a worker or a model.",
    ),
    "grade_off_scale": ProblemMessage(
        "the grade {grade:.9g} is not from {low:g} to {high:g}",
        "Bring the grades to that scale.",
    ),
    "graded_answer_long": ProblemMessage(
        "the answer has more than {most:,} bytes",
        "Shorten it, or close a quote that is open.",
    ),
    "graded_answer_unknown": ProblemMessage(
        "{name} gave no answer with a text to question {question} in {answers}",
        "Check the ids; ids are case-sensitive.",
    ),
    "graded_question_missing": ProblemMessage(
        "the question is missing",
        "Fill in the id.",
    ),
    "table_question_missing": ProblemMessage(
        "the question is missing",
        "Fill in its id.",
    ),
    "graded_worker_missing": ProblemMessage(
        "the worker is missing",
        "Fill in the id, or remove the column: workers are dealt from the answers then.",
    ),
    "label_without_value": ProblemMessage(
        "the label {label!r} has no value, and it is no number",
        "Give the value of each label, such as {said}.",
        "Give the value of each label: {option}",
    ),
    "labels_without_value": ProblemMessage(
        "the label {label!r} has no value, and it is no number (it occurs {n:,} times)",
        "Give the value of each label, such as {said}.",
        "Give the value of each label: {option}",
    ),
    "answers_ungraded": ProblemMessage(
        "there is no graded answer in it",
        "Write a row for each answer, with its grade.",
    ),
    "no_grade": ProblemMessage(
        "there is no grade in it",
        "Write worker, question, grade.",
    ),
    "no_graded_answer": ProblemMessage(
        "there is no graded answer in it",
        "Write one row for each answer that was graded.",
        "--suggest-anchors N lists the answers to grade.",
    ),
    "no_judgement": ProblemMessage(
        "there is no judgement in it",
        "Check that it was saved.",
    ),
    "no_question_element": ProblemMessage(
        "there is no <question> in it",
        "Expected is <question id=...> with <questionText> and <studentAnswers>.",
    ),
    "no_score": ProblemMessage(
        "no row has a score or a judge's reply",
        "Add the column score (0 to 5), or judge_reply with the judge's words.",
    ),
    "no_worker": ProblemMessage(
        "there is no worker in it",
        "Write one id on each line.",
    ),
    "no_xml_file": ProblemMessage(
        "there is no .xml file in it",
        "Name the folder of the XML.",
    ),
    "order_no_number": ProblemMessage(
        "the order {cell!r} is no whole number",
        "Write 1, 2, 3.",
    ),
    "question_without_id": ProblemMessage(
        "the question has no id",
        "Give it one.",
    ),
    "score_no_number": ProblemMessage(
        "the score {cell} is no number",
        "Write a number from 0 to 5, or leave it empty where the judge gave none.",
    ),
    "settles_unreadable": ProblemMessage(
        "{cell} is neither 0 nor 1",
        "Write 1 where the grade settles a disagreement, else 0 or nothing.",
    ),
    "weight_differs": ProblemMessage(
        "the weight {weight:g} is another one than that in line {first_line}, {given:g}",
        "Give one weight to all grades of an answer.",
    ),
    "weight_unreadable": ProblemMessage(
        "{cell} is no number above 0",
        "Write how many of all answers this one represents, or leave the column out.",
    ),
    "worker_list_empty": ProblemMessage(
        "there is no worker in it",
        "Write ID,ID or a file.",
    ),
    "worker_list_unquoted": ProblemMessage(
        "the ids are not quoted as in CSV",
        'Write "one, id",another.',
    ),
    "xml_declares_entities": ProblemMessage(
        "this XML declares entities or refers to other files, which is not read",
        "Export it as plain XML, without a document type.",
    ),
    "xml_malformed": ProblemMessage(
        "this is no well-formed XML: {error}",
        "Check that it was saved completely.",
    ),
    "xml_text_long": ProblemMessage(
        "the text is longer than {most:,} characters",
        "Shorten it.",
    ),
    "xml_too_deep": ProblemMessage(
        "its elements are nested more than {most} deep",
        "Check that it is the right file.",
    ),
    "xml_too_large": ProblemMessage(
        "it has more than {most} MiB",
        "Part it into files of some questions each.",
    ),
    "xml_unreadable": ProblemMessage(
        "this XML cannot be read: {error}",
        "Save it in UTF-8.",
    ),
}
