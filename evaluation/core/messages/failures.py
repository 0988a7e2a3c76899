"""Build the sentences on failed runs whose cause the requester can fix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.core.messages.message import Sentence
from evaluation.core.messages.reasons import describe_reason


def _format_no_reply(of: Mapping[str, Any]) -> str:
    """Return the sentence on a run in which no model gave a reply."""
    reason = of["reason"]
    return f"No model replied at all. {f'The first reason: {reason}' if reason else ''}"


def _format_unknown_workers(of: Mapping[str, Any]) -> str:
    """Return the sentence that a run's options name ids of no known worker."""
    more = f" and {of['more']} more" if of["more"] else ""
    return (
        "Ids in the settings that are not those of one worker who answered here: "
        f"{of['ids']}{more}."
    )


def _format_no_rewording(of: Mapping[str, Any]) -> str:
    """Return the sentences on rewordings that cannot be used; older runs only have the count."""
    reasons, silent = _get_counts(of, "reasons"), _get_counts(of, "silent")
    parts = [f"The rewriter gave no usable rewording: 0 of {of['rewordings']:,} kept."]
    if reasons:
        told = (f"{count:,} ({describe_reason(reason)})" for reason, count in reasons.items())
        parts.append(f"Rejected: {', '.join(told)}.")
    if silent:
        told = (f"{count:,} ({_STATUSES.get(status, status)})" for status, count in silent.items())
        parts.append(f"Replies without a rewording: {', '.join(told)}.")
    if "cut_off" in silent:
        parts.append(f"Raise {of['option']['rewriter_tokens']}.")
    if reasons:
        parts += [
            f"For example, question {one['question']}: “{one['text']}” "
            f"({describe_reason(one['reason'])})."
            for one in of["examples"]
        ]
    parts.append(
        "Start it again: the rewriter is asked anew. Or choose another rewriter, or type other "
        "wordings."
    )
    return " ".join(parts)


def _get_counts(of: Mapping[str, Any], name: str) -> Mapping[str, int]:
    """Return a failure's counts stored under a name; empty for older runs."""
    found = of.get(name)
    return found if isinstance(found, Mapping) else {}


_STATUSES = {
    "cut_off": "cut off before an answer came",
    "refused": "refused",
    "refused_prompt": "refused",
    "refused_generation": "refused",
    "empty": "empty",
    "error": "failed",
}


FAILURES: Mapping[str, Sentence] = {
    "run.unknown_parameters": "unknown parameters: {names}",
    "run.no_answer": "There is no answer: import answers, or wait for some to be submitted.",
    "run.no_answer_to_grade": "There is no answer to grade: import answers, or wait for some to be "
    "submitted.",
    "run.all_answers_rejected": "There is no answer to grade: {rejected} were rejected where they "
    "were collected.",
    "run.unknown_workers": _format_unknown_workers,
    "run.too_few_workers": "Fewer than {fewest} workers answered: there are no smaller crowds to "
    "try.",
    "run.no_question_with_text": "No question of the set has a text.",
    "run.no_problem_with_text": "The version has no question with a text: upload the questions "
    "first.",
    "run.no_two_wordings": "No question has two wordings in one language: upload prompts that ask "
    "for the same in other words, or add variants to the questions.",
    "run.changed_prompts_do_not_fit": "The changed prompts do not fit: {reason}.",
    "run.judge_instructions_do_not_fit": "The instructions to judges do not fit: {reason}.",
    "run.no_model_to_ask": "Choose a model to ask.",
    "run.no_models_to_ask": "Choose the models to ask.",
    "run.no_model_that_answers": "Choose a model that answers.",
    "run.no_model_to_compare": "Choose a model whose replies are compared.",
    "run.models_missing": "{missing} of the {what}s are not there, or not yours to ask.",
    "run.model_named_as_people": "A model is called “{name}”, as the row of people would be: give "
    "it another name.",
    "run.no_model_replied": _format_no_reply,
    "run.no_answer_of_a_model": "No language model has answered a question with a text: upload "
    "answers of models first.",
    "run.budget_used_up": "The budget is used up: {left} requests were not sent. Start the run "
    "again with a higher budget: stored replies are not requested again.",
    "run.no_prices": "A budget needs prices: without them nobody knows what {model} costs.",
    "run.rewriter_not_asked": "The rewriter could not be asked: {reason}",
    "run.no_usable_rewording": _format_no_rewording,
    "run.judge_not_asked": "The judge could not be asked: {reason}",
    "run.judge_not_registered": "The judge is no registered model of yours.",
    "run.nothing_to_view": "No run of this version has results about a model's answers: grade "
    "it with models' answers, or start another kind of run that compares models.",
    "run.no_graded_answers": "There are no graded answers: upload a file of them.",
}
"""By the code of a `RunInputError`; those of remedies are in `evaluation.grading.remedies`."""
