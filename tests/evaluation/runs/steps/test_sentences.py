"""The sentences of what a run stores: each reason for which it fails, and a fact by meaning."""

import pytest

from evaluation.core.messages.message import Message
from evaluation.core.messages.run_sentences import FAILURES
from evaluation.runs.steps.checkpoints import RunInputError
from tests.sentences import site_sentence

SENTENCES = [
    ("unknown_parameters", {"names": "speed, size"}, "unknown parameters: speed, size"),
    (
        "other_embedder",
        {"wanted": "small r1 float32", "found": "small r2 float32"},
        "Two background processes have different versions of the embedder: small r1 float32 and "
        "small r2 float32. Install the same version everywhere, then run it again.",
    ),
    ("no_answer", {}, "There is no answer: import answers, or wait for some to be submitted."),
    (
        "no_answer_to_grade",
        {},
        "There is no answer to grade: import answers, or wait for some to be submitted.",
    ),
    (
        "all_answers_rejected",
        {"rejected": 8},
        "There is no answer to grade: 8 were rejected where they were collected.",
    ),
    (
        "unknown_workers",
        {"ids": "w1, w2", "more": 0},
        "Ids in the settings that are not those of one worker who answered here: w1, w2.",
    ),
    (
        "unknown_workers",
        {"ids": "w1, w2", "more": 3},
        "Ids in the settings that are not those of one worker who answered here: w1, w2 and 3 "
        "more.",
    ),
    (
        "too_few_workers",
        {"fewest": 3},
        "Fewer than 3 workers answered: there are no smaller crowds to try.",
    ),
    ("no_question_with_text", {}, "No question of the set has a text."),
    (
        "no_problem_with_text",
        {},
        "The version has no question with a text: upload the questions first.",
    ),
    (
        "no_two_wordings",
        {},
        "No question has two wordings in one language: upload prompts that ask for the same in "
        "other words, or add variants to the questions.",
    ),
    (
        "changed_prompts_do_not_fit",
        {"reason": "line 2: the item is missing"},
        "The changed prompts do not fit: line 2: the item is missing.",
    ),
    (
        "judge_instructions_do_not_fit",
        {"reason": "line 2: the item is missing"},
        "The instructions to judges do not fit: line 2: the item is missing.",
    ),
    ("no_model_to_ask", {}, "Choose a model to ask."),
    ("no_models_to_ask", {}, "Choose the models to ask."),
    ("no_model_that_answers", {}, "Choose a model that answers."),
    ("no_model_to_compare", {}, "Choose a model whose replies are compared."),
    (
        "models_missing",
        {"missing": 1, "what": "judge"},
        "1 of the judges are not there, or not yours to ask.",
    ),
    (
        "model_named_as_people",
        {"name": "people"},
        "A model has the name “people”, which the row of people has: rename the model.",
    ),
    ("no_model_replied", {"reason": ""}, "No model replied at all. "),
    (
        "no_model_replied",
        {"reason": "HTTP 500"},
        "No model replied at all. The first reason: HTTP 500",
    ),
    (
        "no_answer_of_a_model",
        {},
        "No language model has answered a question with a text: upload answers of models first.",
    ),
    (
        "budget_used_up",
        {"left": 4},
        "The budget is used up: 4 requests were not sent. Start the run again with a higher "
        "budget: stored replies are not requested again.",
    ),
    (
        "no_prices",
        {"model": "small"},
        "A budget needs prices: without them the cost of small is unknown.",
    ),
    ("rewriter_not_asked", {"reason": "no key"}, "The rewriter could not be asked: no key"),
    (
        "no_usable_rewording",
        {"rewordings": 6},  # of a run older than the reasons
        "The rewriter gave no usable rewording: 0 of 6 used. Start it again: the rewriter is asked "
        "anew. Or choose another rewriter, or type other wordings.",
    ),
    (
        "no_usable_rewording",
        {
            "rewordings": 3,
            "reasons": {"other_numbers": 2, "same_words": 1},
            "silent": {"cut_off": 1},
            "examples": [{"question": "q1", "text": "In 1900?", "reason": "other_numbers"}],
        },
        "The rewriter gave no usable rewording: 0 of 3 used. Rejected: 2 (other numbers than the "
        "question has), 1 (the words of the question or of another rewording). Replies without a "
        "rewording: 1 (cut off before an answer came). Raise “Longest reply of the rewriter”. For "
        "example, question q1: “In 1900?” (other numbers than the question has). Start it again: "
        "the rewriter is asked anew. Or choose another rewriter, or type other wordings.",
    ),
    ("judge_not_asked", {"reason": "no key"}, "The judge could not be asked: no key"),
    ("judge_not_registered", {}, "The judge is no registered model of yours."),
    (
        "nothing_to_view",
        {},
        "No run of this version has results about a model's answers: grade it with models' "
        "answers, or start another kind of run that compares models.",
    ),
    ("no_graded_answers", {}, "There are no graded answers: upload a file of them."),
]


@pytest.mark.parametrize(("code", "values", "sentence"), SENTENCES)
def test_each_reason_has_a_sentence(code, values, sentence):
    error = RunInputError(f"run.{code}", **values)
    assert Message.from_stored(str(error)) == error.message
    assert site_sentence(error.message.code, **error.message.values) == sentence


def test_no_reason_is_without_a_sentence():
    assert {f"run.{code}" for code, *_ in SENTENCES} == FAILURES.keys()


def test_a_sentence_of_another_module_is_stored_as_it_is():
    error = RunInputError.from_sentence("Choose other settings.")
    assert str(error) == "Choose other settings."


def test_an_answer_that_contradicts_the_crowd_by_meaning_has_a_sentence():
    values = {"crowd": "Laid in  1858", "value": "1.000", "n_crowd": 9, "of": 9, "mentions": 1}
    assert site_sentence("meaning.contradicts", **values) == (
        "contradicts “Laid in 1858” by the entailment model (probability 1.000); 9 of 9 others "
        "agree with that"
    )
