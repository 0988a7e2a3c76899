"""Why a number is missing, for people."""

from __future__ import annotations

WORDS = {
    "fewer_than_3_workers": "fewer than 3 workers answered, so there is nobody to compare with",
    "disconnected": "some workers share no question with the others, so there is no common scale",
    "no_answers": "nobody answered",
    "too_few": "too few answers to questions that others answered too",
    "no_shared_question": "no question was answered by anybody else",
    "no_discriminating_question": "no question tells good workers from others",
    "no_spread": "the interval could not be computed from these answers",
    "no_draws": "intervals were switched off for this run",
    "no_interval": "the interval could not be computed from these answers",
    "no_estimate": "the number itself is undefined",
    "no_standard_error": "the answers do not vary enough to compute an interval",
    "estimate_at_bound": "the number is at the end of its range",
    "fewer_than_2_draws": "too few repetitions were possible to compute an interval",
    "fewer_than_2_questions": "an interval needs answers to 2 questions or more",
    "fewer_than_2_common_questions": "fewer than 2 questions in common",
    "no_comparison": "there is no other model to compare with",
    "no_supported_worker": "no worker has enough answers to be ranked",
    "no_exemplar": "no worker answered the question",
    "no_text_answers": "there is no answer with a text",
    "no_text": "there is no text",
    "missing_answers": "an answer could not be fetched; the model is ranked once it is asked again",
    "only_answer_to_its_question": "nobody else answered the question",
    "empty": "the answer is empty",
    "refused": "the model refused to answer",
    "refused_prompt": "the question was refused by a content filter",
    "refused_generation": "the answer was stopped by a content filter",
    "withdrawn": "the nearest answer was withdrawn after the run",
    "not_computed": "the run was computed before Crowdgrade looked for them",
    "fewer_than_6_answers": "camps are looked for from 6 answers on",
    "undivided": "the answers do not fall into two camps",
    "error": "the answer could not be fetched",
}


def in_words(code: str | None) -> str:
    """Return what a reason's code means; the code itself if it is a new one, "" for none."""
    if not code:
        return ""
    return WORDS.get(code, code.replace("_", " "))
