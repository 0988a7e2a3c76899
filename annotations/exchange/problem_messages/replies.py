"""Problem messages for prompts, word problems and language models' replies to them."""

from __future__ import annotations

from annotations.exchange.problem_messages.message import ProblemMessage

PROMPTS = 'The file is {{"eloquent-robustness-test": {{"source", "year", "items": [...]}}}}.'
SUBMISSION = (
    "A submission is {{team, system, submissionid, language, date, label, questions: "
    "[{{questionid, turns: [{{question, answer}}]}}]}}."
)
SEVERAL_ANSWERS = (
    'Write [{{"question": "...", "answer": ["...", ["...", "another spelling"], 7]}}, ...].'
)
WORD_PROBLEM = (
    'Write {{"id": 1, "question": "...", "answer": [5.0], "answerable": true, '
    '"category": null, "relevant_ids": null, "source": "..."}}.'
)
KEEP_ONE = "Keep one of the two rows."

REPLIES = {
    "annotator_missing": ProblemMessage(
        "the annotator is missing",
        "Write who labelled it.",
    ),
    "answer_empty": ProblemMessage(
        "answer {number} is empty",
        "Leave it out.",
    ),
    "answer_no_text": ProblemMessage(
        "answer {number} is neither text nor number",
        "Leave it out.",
    ),
    "answerable_unusable": ProblemMessage(
        "it is neither true nor false (null if unknown)",
        WORD_PROBLEM,
    ),
    "answers_no_list": ProblemMessage(
        "the answers are no list",
        'Write ["...", "..."].',
    ),
    "category_of_answerable": ProblemMessage(
        "it is answerable, but has category {category} of those that are not",
        WORD_PROBLEM,
    ),
    "category_of_unlabelled": ProblemMessage(
        "whether it is answerable is missing, but it has category {category}",
        WORD_PROBLEM,
    ),
    "category_unknown": ProblemMessage(
        "the category {category} is unknown: 1 to 5",
        WORD_PROBLEM,
    ),
    "change_value_missing": ProblemMessage(
        "the {name} is missing",
        "Fill it in.",
    ),
    "confidence_unusable": ProblemMessage(
        "the confidence is neither number nor text",
    ),
    "entry_no_object": ProblemMessage(
        "{what} is no object",
        PROMPTS,
    ),
    "first_token_unusable": ProblemMessage(
        "entry {number} has no answer, or not one list of numbers",
        'Write [{{"answer": "...", "logits": [...]}}, ...], or "top_logprobs" and "vocabulary".',
    ),
    "first_tokens_unlisted": ProblemMessage(
        "the first tokens are no list",
        'Write [{{"answer": "...", "logits": [...]}}, ...], or "top_logprobs" and "vocabulary".',
    ),
    "form_differs": ProblemMessage(
        "{system} replied to problem {item} already in line {first_line}, otherwise, "
        "in the form {form}",
        KEEP_ONE,
    ),
    "id_no_text": ProblemMessage(
        "the id is neither text nor number",
        "Write it as text.",
    ),
    "instructed_item_unknown": ProblemMessage(
        "the prompts have no item {item}",
        "Correct it.",
    ),
    "item_instructed_twice": ProblemMessage(
        "item {item} has an instruction already",
        "Keep one row.",
    ),
    "item_missing": ProblemMessage(
        "the item is missing",
        "Write the id of the question.",
    ),
    "item_twice": ProblemMessage(
        "the item {item} is there already, in line {first_line}",
        "Give each item an id of its own.",
    ),
    "label_unknown": ProblemMessage(
        "the label {label} is unknown",
        "Accepted are {accepted}.",
    ),
    "labelled_problem_unknown": ProblemMessage(
        "no reply is to a problem with the id {item}",
        "Write system, id and form as in the file of replies.",
    ),
    "labelled_reply_unknown": ProblemMessage(
        "{system} has no reply to {item} in the form {form}",
        "Write system, id and form as in the file of replies.",
    ),
    "logprobs_no_numbers": ProblemMessage(
        "the logprobs are no list of numbers",
        "Write the logarithms of the probabilities of its tokens: [-0.1, ...].",
    ),
    "no_items": ProblemMessage(
        "there is no list of items, or it is empty",
        PROMPTS,
    ),
    "no_reply": ProblemMessage(
        "there is no reply in it",
        "Check that it was saved completely.",
    ),
    "no_replies": ProblemMessage(
        "no row has a reply or a status",
        "Name the column of the texts reply.",
    ),
    "no_top_object": ProblemMessage(
        "there is no object {top}; found: {found}",
        PROMPTS,
    ),
    "no_variants": ProblemMessage(
        "{what} has no list of variants, or an empty one",
        "List them: language and prompt of each.",
    ),
    "one_label_only": ProblemMessage(
        "there are no replies of both labels",
        "Label replies that state that there is no answer, and others.",
    ),
    "problem_answer_missing": ProblemMessage(
        "it is answerable, but there is no answer",
        WORD_PROBLEM,
    ),
    "problem_answer_unusable": ProblemMessage(
        "the answer is no number and no list of numbers",
        WORD_PROBLEM,
    ),
    "problem_id_missing": ProblemMessage(
        "the id is missing",
        "Write the id of the problem.",
    ),
    "problem_id_unusable": ProblemMessage(
        "the id is missing or no id",
        WORD_PROBLEM,
    ),
    "problem_labelled_twice": ProblemMessage(
        "the id {id} has another label in line {first_line}",
        "Give each problem an id of its own.",
    ),
    "problem_math_unusable": ProblemMessage(
        "math is neither true nor false (without it: true)",
        WORD_PROBLEM,
    ),
    "problem_no_object": ProblemMessage(
        "there is an entry that is no object",
        WORD_PROBLEM,
    ),
    "problem_source_unusable": ProblemMessage(
        "the source is neither text nor number",
        WORD_PROBLEM,
    ),
    "problem_text_unusable": ProblemMessage(
        "the question is missing or no text",
        WORD_PROBLEM,
    ),
    "problem_twice": ProblemMessage(
        "the id {id} is in line {first_line}, too",
        "Give each problem an id of its own.",
    ),
    "prompt_key_empty": ProblemMessage(
        "the {key} of {what} is empty",
        "Fill it in.",
    ),
    "prompt_key_missing": ProblemMessage(
        "{what} has no {key}",
        "Add it.",
    ),
    "prompt_key_unusable": ProblemMessage(
        "the {key} of {what} is no text",
        "Write it in quotes.",
    ),
    "prompt_too_long": ProblemMessage(
        "the prompt of {what} has more than {most:,} bytes",
        "Shorten it.",
    ),
    "question_id_twice": ProblemMessage(
        "the id {id} is there already, in line {first_line}",
        "Give each question an id of its own; without one it is the place, from 0.",
    ),
    "question_text_missing": ProblemMessage(
        "the question is missing or no text",
        SEVERAL_ANSWERS,
    ),
    "question_no_object": ProblemMessage(
        "entry {place} is no object",
        SEVERAL_ANSWERS,
    ),
    "question_too_long": ProblemMessage(
        "the question has more than {most:,} bytes",
    ),
    "questionid_missing": ProblemMessage(
        "the questionid is missing, or no text or number",
        "Give the id of the item.",
    ),
    "questions_not_listed": ProblemMessage(
        "this is no list of questions, or an empty one",
        SEVERAL_ANSWERS,
    ),
    "relevant_ids_unusable": ProblemMessage(
        "these are no ids",
        WORD_PROBLEM,
    ),
    "replies_wrong_format": ProblemMessage(
        "replies are JSON Lines, in a file that ends in {endings}",
        'Write one object a line, such as {{"item": "0", "reply": "..."}}.',
    ),
    "reply_label_missing": ProblemMessage(
        "the label is missing",
        "Write one of {known}.",
    ),
    "reply_label_unknown": ProblemMessage(
        "the label {label} is unknown",
        "Write one of {known}.",
    ),
    "reply_labelled_otherwise": ProblemMessage(
        "{annotator} labelled the reply of {system} to {item} in the form {form} "
        "already in line {first_line} with another label ({first_label})",
        "Keep one of the two rows, or write who the other annotator was.",
    ),
    "reply_labelled_twice": ProblemMessage(
        "{annotator} labelled the reply of {system} to {item} in the form {form} "
        "already in line {first_line}",
        "Keep one of the two rows, or write who the other annotator was.",
    ),
    "reply_no_text": ProblemMessage(
        "the reply is no text",
        "Write it in quotes.",
    ),
    "reply_too_long": ProblemMessage(
        "the reply has more than {most:,} bytes",
    ),
    "prompt_reply_long": ProblemMessage(
        "the reply has more than {most:,} bytes",
        "Shorten it.",
    ),
    "right_answer_empty": ProblemMessage(
        "right answer {number} is empty",
        SEVERAL_ANSWERS,
    ),
    "right_answer_unusable": ProblemMessage(
        "right answer {number} is neither text nor number",
        SEVERAL_ANSWERS,
    ),
    "right_answer_unspelled": ProblemMessage(
        "right answer {number} has no spelling",
        SEVERAL_ANSWERS,
    ),
    "right_answers_missing": ProblemMessage(
        "there are no right answers",
        SEVERAL_ANSWERS,
    ),
    "sample_differs": ProblemMessage(
        "{system} replied to item {item} already in line {first_line}, otherwise, as "
        "sample {sample}",
        "Keep one of the two, or number the samples: 0, 1, ...",
    ),
    "sample_no_number": ProblemMessage(
        "the sample is no whole number from 0 on",
        "Count from 0.",
    ),
    "size_unreadable": ProblemMessage(
        "the size {size} cannot be read",
        "Write it such as 135M, 7B, 8x7B or 1500000000; leave it empty if it is not known.",
    ),
    "submission_question_unusable": ProblemMessage(
        "a question is no object",
        SUBMISSION,
    ),
    "submission_without_questions": ProblemMessage(
        "there is no list of questions",
        SUBMISSION,
    ),
    "system_missing": ProblemMessage(
        "the name is missing",
        "Write it as in the replies.",
    ),
    "system_twice": ProblemMessage(
        "{name} occurs twice",
        "Keep one row.",
    ),
    "turn_no_object": ProblemMessage(
        "a turn is no object",
        SUBMISSION,
    ),
    "turn_without_answer": ProblemMessage(
        "the answer is missing, or no text",
        'Write "" or null where there was none.',
    ),
    "turn_without_question": ProblemMessage(
        "the question is missing, or no text",
        "Fill it in.",
    ),
    "turns_missing": ProblemMessage(
        "there is no list of turns, or it is empty",
        "Give each question with its answer.",
    ),
    "value_no_text": ProblemMessage(
        "the {name} is neither text nor number",
        "Write it as text.",
    ),
    "variant_no_object": ProblemMessage(
        "{what} is no object",
        "Give it a language and a prompt.",
    ),
    "problems_not_listed": ProblemMessage(
        "this is no list of problems, or an empty one",
        WORD_PROBLEM,
    ),
    "wording_changed_twice": ProblemMessage(
        "the wording was changed already",
        "Keep one row.",
    ),
    "wording_unknown": ProblemMessage(
        "there is no such wording: item {item}, language {language}, {variant}",
        "Correct it.",
    ),
}
