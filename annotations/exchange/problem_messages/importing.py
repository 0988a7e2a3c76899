"""Problem messages for imports that contradict what a question set already contains."""

from __future__ import annotations

from annotations.exchange.problem_messages.message import ProblemMessage

IMPORTING = {
    "model_answer_differs": ProblemMessage(
        "model {model} answered question {question} already (stored on {since}: {text}), "
        "with another {what}",
        "Stored answers are not overwritten: correct the row or leave it out.",
    ),
    "model_being_deleted": ProblemMessage(
        "the model {name} is being deleted",
        "Import the file again once it is gone, or call the model by another name.",
    ),
    "model_hidden": ProblemMessage(
        "the owner of the set has another model named {name}, which you may not see",
        "Call it otherwise, or let the owner send its answers.",
    ),
    "model_name_long": ProblemMessage(
        "the name has {size:,} characters, more than {most}", "Shorten it everywhere."
    ),
    "assignment_id_long": ProblemMessage(
        "the question {name} has an id of {size} characters, more than {most}",
    ),
    "assignment_text_differs": ProblemMessage(
        "{version} has the question {name} already, with another text ({text})",
        "Use the same template as before.",
    ),
    "batch_into_published": ProblemMessage(
        "{version} is published and takes no new questions, such as {question}",
        "Import the batches that belong together by one command, or this one into a "
        "set of its own.",
    ),
    "id_too_long": ProblemMessage(
        "the id has {size:,} characters, more than {most}",
        "Shorten it everywhere.",
    ),
    "item_value_long": ProblemMessage(
        "the {name} of item {item} has more than {most} characters",
        "Shorten it.",
    ),
    "passage_unknown": ProblemMessage(
        "{version} has no passage {passage}",
        "Correct the id, or import the passages first.",
    ),
    "problem_id_long": ProblemMessage(
        "the id {id} has more than {most} characters",
        "Shorten it.",
    ),
    "question_unknown": ProblemMessage(
        "{version} has no question {question}",
        "Correct the id, or import the questions first.",
    ),
    "question_value_long": ProblemMessage(
        "the {name} of question {question} is longer than {most}",
        "Shorten it.",
    ),
    "set_archived": ProblemMessage(
        "{question_set} is archived and takes nothing in",
        "Restore it on its page, then import the file again.",
    ),
    "stored_answer_differs": ProblemMessage(
        "worker {worker} answered question {question} already (stored on {since}: "
        "{text}), with another {what}",
        "Stored answers are not overwritten: correct the row or leave it out.",
    ),
    "stored_answers_differ": ProblemMessage(
        "{version} has {name} already, with another text or other answers",
        "What is stored is not overwritten: give the questions ids of their own.",
    ),
    "stored_differs": ProblemMessage(
        "{version} has {name} already, with another {what}",
        "What is stored is not overwritten: correct the row, or use another id.",
    ),
    "stored_flag_differs": ProblemMessage(
        "worker {worker} answered question {question} already (stored on {since}: "
        "{text}), with another {what}",
        "Import it with “Update which answers were rejected” to store the flags of the file.",
        "Import it with --update-flags to store the flags of the file.",
    ),
    "stored_problem_differs": ProblemMessage(
        "{version} has {name} already, with another {what}",
        "What is stored is not overwritten: correct the problem, or use another id.",
    ),
    "translation_differs": ProblemMessage(
        "another text is stored",
        "What is stored is not overwritten: change it in the editor.",
    ),
    "translation_of_originals": ProblemMessage(
        "it repeats the texts in {language}, their own language",
        "Leave the columns of that language out.",
    ),
    "translations_into_published": ProblemMessage(
        "{version} is published and keeps its words, in every language",
        "Open the next version in the editor, and import the translations there.",
    ),
    "version_published": ProblemMessage(
        "{version} is published and takes no new questions, such as {question}",
        "Import the questions first: that opens the next version.",
    ),
    "version_unknown": ProblemMessage(
        "{question_set} has no version {number}",
    ),
    "wordings_differ": ProblemMessage(
        "{version} has {item} already, with other wordings",
        "What is stored is not overwritten: use another id.",
    ),
    "worker_erased": ProblemMessage(
        "the answers of {worker} were erased on {since}, as people may ask for, and "
        "are not taken in again",
        "Leave all rows of this worker out.",
    ),
}
