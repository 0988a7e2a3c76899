"""Reasons in words, shared by all interfaces: missing values, failed replies, excluded workers.

Reasons of failed replies also state what the requester can do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

WHY_EMPTY: Mapping[str, str] = {
    "fewer_than_3_workers": "fewer than 3 workers answered, which is too few to compare",
    "no_text_by_both_prompts": "the model gave no text by one of the two prompts",
    "fewer_than_3_models": "fewer than 3 models have a score by both prompts",
    "disconnected": "some workers share no question with the others, so there is no common scale",
    "no_answers": "there are no answers",
    "too_few": "too few answers to questions that others answered too",
    "no_shared_question": "no question was answered by anybody else",
    "no_discriminating_question": "no question separates good workers from others",
    "contrast_needs_5_questions": "question contrast needs 5 questions or more",
    "contrast_needs_cosine": "question contrast is defined for the cosine only",
    "contrast_needs_mean_vote": "question contrast needs one weighted mean of answers a question",
    "contrast_needs_vectors": "the answers' vectors were not stored",
    "fewer_than_5_judged": "an interval needs 5 graded answers or more",
    "not_drawn_at_random": "the graded answers were not drawn at random",
    "no_spread": "the interval could not be computed from these answers",
    "no_draws": "intervals were switched off for this run",
    "no_interval": "the interval could not be computed from these answers",
    "no_estimate": "the number itself is undefined",
    "no_standard_error": "the answers do not vary enough to compute an interval",
    "estimate_at_bound": "the number is at the end of its range, where no interval can be computed",
    "fewer_than_2_draws": "too few repetitions were possible to compute an interval",
    "fewer_than_2_questions": "an interval needs answers to 2 questions or more",
    "fewer_than_2_common_questions": "fewer than 2 questions in common",
    "no_pairs": "no question in common",
    "fewer_than_2_clusters": "fewer than 2 questions in common",
    "no_scores": "no question of the group has a score",
    "cost_not_told": "the answers came without it",
    "no_comparison": "there is no other model to compare with",
    "fewer_than_10_supported_workers": "fewer than 10 workers have enough answers to be ranked",
    "no_supported_worker": "no worker has enough answers to be ranked",
    "no_exemplar": "no worker answered the question",
    "no_text_answers": "there is no answer with a text",
    "no_text": "there is no text",
    "replies_cut_off": "replies were cut off before an answer came; the model is ranked once it is "
    "asked again with a longer reply",
    "missing_answers": "an answer could not be fetched; the model is ranked once it is asked again",
    "nothing_to_compare": "there is nothing to compare",
    "no_correlation": "all numbers of one side are the same",
    "no_agreement": "the agreement of the whole crowd is not above chance",
    "asked_once": "the judge was asked only once about each answer",
    "fewer_than_5_workers": "there are fewer than 5 workers",
    "fewer_than_5_judged_workers": "experts judged answers of fewer than 5 workers",
    "no_judgements": "no expert judged an answer",
    "fewer_than_2_judged": "an interval needs judged answers to 2 questions or more",
    "no_number": "the reply holds no number",
    "several_numbers": "the reply holds several numbers",
    "out_of_range": "the number is not from 0 to 5",
    "no_verdict": "the reply names neither answer",
    "several_verdicts": "the reply names both answers",
    "only_answer_to_its_question": "no other worker answered the question",
    "empty": "the answer is empty",
    "refused": "the model refused to answer",
    "refused_prompt": "the question was refused by a content filter",
    "refused_generation": "the answer was stopped by a content filter",
    "withdrawn": "the nearest answer was withdrawn after the run",
    "not_computed": "the run is from a version of Crowdgrade that did not compute them",
    "fewer_than_6_answers": "the search for camps needs 6 answers",
    "no_shared_slot": "fewer than 60% of the answers state a fact of the same kind",
    "long_answers": "answers are explanations rather than facts: half of them are longer than 20 "
    "words",
    "fewer_than_5_facts": "fewer than 5 facts of the answers agree with the crowd or contradict it",
    "not_asked_for": "it was switched off for this run",
    "undivided": "the answers do not fall into two camps",
    "error": "the answer could not be fetched",
    "cut_off": "the reply was cut off before an answer came",
    "excluded": "the worker is excluded",
    "no_grade": "the worker has no grade",
    "no_rank": "the worker has no rank",
    "fewer_than_2_workers": "fewer than 2 workers have both",
    "fewer_than_2_items": "an interval needs 2 items or more",
    "fewer_than_2_variants": "the item has fewer than 2 wordings in the language",
    "judgement_of_fewer_than_2_variants": "a judgement of an item that has fewer than 2 wordings "
    "in the language",
    "fewer_than_2_replies": "there are fewer than 2 replies to compare",
    "fewer_than_2_answers": "fewer than 2 of the replies are answers",
    "no_reply": "there is no reply to the prompt",
    "not_judged": "no judge was asked",
    "not_judged_twice": "no judge was asked more than once",
    "no_score": "no judge gave a score",
    "no_score_line": "the judge's reply has no line with a score",
    "score_is_no_number": "the judge's score is no number",
    "score_is_a_range": "the judge repeated a range in place of a score",
    "score_above_5": "the judge's score is above 5",
    "score_below_0": "the judge's score is below 0",
    "judge_error": "the judge could not be asked",
    "judge_refused": "the judge refused",
    "no_judge_reply": "the judge gave no reply and no score",
    "no_common_sets": "the two judges scored nothing in common",
    "different_counts": "the sums are of different numbers of scores, so they cannot be compared",
    "different_sets": "the sums are of different items or languages, so they cannot be compared",
    "one_system": "there is no other system to rank with",
    "one_language": "no item has replies or scores in two languages",
    "unknown_item": "there is no such item",
    "unknown_language": "the item has no prompt in the language",
    "unknown_variant": "the item has no such wording",
    "language_missing": "no language is given, and the item has several",
    "repeated": "it is in the file twice; the first one counts",
    "no_items": "there is no item",
    "no_votes": "every reply was refused or is empty",
    "fewer_than_2_votes": "fewer than 2 replies have a text",
    "one_possible_answer": "only one answer is possible",
    "one_answer_each": "the item was asked once only",
    "one_category": "all replies are the same, so agreement beyond chance is undefined",
    "zero_variance": "all sums are the same",
    "no_choices": "there are no choices to guess among",
    "fewer_answers": "the item has fewer replies than most",
    "no_text_to_the_original": "no original wording got a reply with a text",
    "no_accepted_answer": "the item has no accepted answer",
    "no_replies": "the item got no reply",
    "no_reply_to_the_original": "the original wording got no reply",
    "repeated_reply": "rows that repeat an earlier reply",
    "letter_out_of_range": "replies with a letter that no choice has",
    "no_choice": "replies that name no choice",
    "no_right_answer": "the question has no right answer in the file",
    "reply_to_question_without_right_answer": "the question replied to has no right answer",
    "no_cases": "there is nothing to count",
    "all_right": "all of it is right, so there is nothing to compare",
    "none_right": "none of it is right, so there is nothing to compare",
    "of_the_file": "it is a share of what is in the file, and no estimate",
    "no_distribution": "the probability of the reply's first token is not known",
    "confidence_out_of_range": "a confidence is not between 0 and 100",
    "confidence_unreadable": "a confidence is no number",
    "probability_above_1": "probabilities are above 1",
    "not_finite": "the probabilities of a reply's first word hold what is no number",
    "no_numbers": "the probabilities of a reply's first word are empty",
    "vocabulary_too_small": "fewer first words are given than their probabilities need",
    "first_token_without_answer": "probabilities of a first word belong to no answer of the reply",
    "logprobs_not_finite": "probabilities of a reply's tokens hold what is no number",
    "logprobs_above_1": "probabilities of a reply's tokens are above 1",
    "distribution_of_another_place": "a server did not continue an interrupted reply; the "
    "likeliest tokens of the reply count",
    "tokens_of_another_text": "the tokens of a reply are not those of its text",
    "answer_not_in_the_reply": "an answer is not part of its reply",
    "asked_fewer_than_twice": "the question has fewer than two replies",
    "forms_are_not_pooled": "the system was asked in several forms, which are not taken together",
    "nothing_taken_for_unanswerable": "no problem was taken for unanswerable",
    "no_unanswerable_problem": "none of the problems is unanswerable",
    "no_answerable_problem": "none of the problems has an answer",
    "no_unanswerable_problem_and_none_taken_for_one": "no problem is unanswerable, and none was "
    "taken for it",
    "partner_missing": "the problem that it was made of is not in the file",
    "partner_without_reply": "one problem of the pair has no reply",
    "text_with_both_labels": "the text is in the file with both labels (left out of pairs only)",
    "answerable_unknown": "whether the question has an answer is not recorded",
    "no_number_to_compare": "the question has an answer, but none of its accepted answers is a "
    "number: it does not count where numbers are compared",
    "size_unknown": "how large the model is, is not known",
    "fewer_than_3_sizes": "a trend needs models of 3 sizes",
    "adds_nothing": "all that it finds is found without it too",
    "not_precise_as_a_template": "replies that give an answer often contain it too",
    "without_text": "there is no reply with a text",
    "first_token_repeated": "an answer has its probabilities twice; the first ones count",
    "no_labels": "no such reply has a label",
    "fewer_than_2_annotators": "no reply was labelled by two people",
    "one_label_throughout": "all labels are the same, so agreement beyond chance is undefined",
    "no_majority": "people's labels have no majority for yes or no",
    "label_of_refused_reply": "the labelled reply was refused",
    "label_of_failed_reply": "the labelled reply could not be fetched",
    "label_of_reply_to_unknown_item": "the labelled reply is to a problem that is not in the file",
    "not_answered_by_worker": "a worker left the problem without an answer",
    "rejected_answer": "the answer was refused where it was collected",
    "no_crowd": "too few workers answered these items",
    "crowd_answer_to_unknown_item": "people's answers to what is no item",
    "same_words": "the words of the question or of another rewording",
    "other_numbers": "other numbers than the question has",
    "other_names": "other names than the question has",
    "other_meaning": "its meaning is different from the question's",
    "not_entailed": "the model that compares meanings found that the rewording does not ask for "
    "the same",
    "too_long": "too long for a question",
    "more_than_asked_for": "more rewordings than were asked for",
    "unanswerable": "the question has no answer",
    "wording_in_another_language": "translations: replies in another language cannot be compared "
    "with the accepted answers",
    "question_without_text": "only the question's id is known",
    "fewer_rewordings": "fewer rewordings than wanted are usable",
    "no_reply_of_the_rewriter": "the rewriter gave no rewordings",
    "no_number_told": "it was not computed",
    "over_all_questions": "it is a number of all questions together, as its run reports it",
    "told_again": "rows that repeat an earlier row",
    "not_looked_at": "no run has evaluated this",
    "no_model_with_both": "no model has both for 3 questions or more on which they vary",
}
"""Of a cell of a table, and of an answer that is not there."""

WHY_UNCHECKED: Mapping[str, str] = {
    "fewer_than_5_questions": "fewer than 5 questions have two answers",
    "fewer_than_6_workers": "fewer than 6 workers answered",
    "no_question_with_6_answers": "no question has 6 answers",
    "graded_by_words_already": "the run itself compares by words, so there is no second ranking "
    "to compare",
    "no_other_grader": "answers were not graded a second time by their words alone",
    "no_words": "the answers have no words",
    "no_draws": "the run did not try other choices of questions (its bootstrap draws are 0)",
    "no_pair_shares_10_questions": "no two workers answered 10 questions in common",
    "no_pair_shares_3_questions": "no two workers answered 3 questions in common",
    "no_worker_with_3_answers": "no worker gave 3 answers",
    "no_worker_shares_5_with_a_model": "no worker answered 5 questions in common with a model and "
    "with another worker",
    "no_model_answers": "no language model answered these questions",
    "no_two_camps": "no two camps were found",
    "copies_were_checked": "the full copy check could be made, and it covers identical texts",
    "not_recorded": "the run was made before this check existed; grade again",
    "too_few_ranked_workers": "too few workers are ranked",
    "nobody_outweighs_others": "no vote has much more weight than the others",
    "no_spread": "the scores are all the same, or nearly so",
    "no_weights": "no worker is graded",
}
"""Of a statistic of the alarms."""

WHY_NOT_CHOSEN: Mapping[str, str] = {
    "fewer_than_2_anchors": "one grade cannot be compared: grade more answers",
    "equal_grades": "all grades are equal: grade more answers, better and worse ones",
    "no_scores": "the graded answers do not separate the candidates: grade others",
    "no_camps": "the crowd does not fall into camps, so there is nothing to choose",
    "one_ranking": "the camps lead to one ranking, so there is nothing to choose",
    "fewer_than_6_workers": "camps need 6 or more workers",
    "fewer_than_5_questions": "camps need 5 or more questions",
}
"""Of anchors that chose no ranking, or cannot be suggested."""


def describe_reason(code: str | None) -> str:
    """Return the text on why a number is missing, by reason code; "" without a code."""
    return _find_text(WHY_EMPTY, code)


class RecordWithReason:
    """Mixin of records whose number may be missing; `reason` is the code of the cause."""

    __slots__ = ()

    reason: str | None

    @property
    def why(self) -> str:
        """The reason for the missing number in words; "" without one."""
        return describe_reason(self.reason)


def describe_missing_statistic(code: str | None) -> str:
    """Return the text on why an alarm's statistic is undefined, by code; "" without a code."""
    return _find_text(WHY_UNCHECKED, code)


def describe_missing_choice(code: str | None) -> str:
    """Return the text on why experts' grades chose no camp's ranking, by code; "" without one."""
    return _find_text(WHY_NOT_CHOSEN, code)


def _find_text(words: Mapping[str, str], code: str | None) -> str:
    """Return a code's text; an unknown code with spaces for underscores; "" for None."""
    return words.get(code, code.replace("_", " ")) if code else ""


# Ends what a worker reads whose answers were rejected, by triage or at the payment desk.
CLOSING = (
    "A person compared your answers with those of the other participants before this was decided; "
    "write to us if you think that it is wrong."
)


@dataclass(frozen=True)
class FaultTexts:
    """Texts on a fault of a model's reply: its name in tables, and what to do about it."""

    what: str
    remedy: str


FAULTS = {
    "connection": FaultTexts(
        "no connection", "Check the address, and that the server is running; then ask again."
    ),
    "timeout": FaultTexts(
        "no answer in time",
        "The server is slow or does not respond. Ask again with fewer requests at once.",
    ),
    "cut": FaultTexts(
        "connection cut off", "Ask again. If the error repeats, read the server's log."
    ),
    "rate_limited": FaultTexts(
        "too many requests", "Ask again later, with fewer requests at once or a minute."
    ),
    "server_error": FaultTexts("the server failed", "Ask again later; it is the server's fault."),
    "no_quota": FaultTexts(
        "the account has no credit left", "Add credit at the provider, then ask again."
    ),
    "unauthorized": FaultTexts(
        "the key was not accepted",
        "Check on the model's page which variable holds the key, and its value with the "
        "operator of this installation.",
    ),
    "not_found": FaultTexts(
        "no such model or address",
        "Check on the model's page the address (it mostly ends in /v1) and what the server calls "
        "the model.",
    ),
    "bad_request": FaultTexts(
        "the request was refused",
        "Read the server's message. Often the server does not support a parameter.",
    ),
    "prompt_too_long": FaultTexts(
        "longer than the model can read", "Use shorter passages or a model with a longer context."
    ),
    "redirect": FaultTexts(
        "the address redirects to another one", "Write the final address on the model's page."
    ),
    "not_json": FaultTexts(
        "no OpenAI-compatible answer",
        "Something else answers at this address: check it, up to /v1, on the model's page.",
    ),
    "wrong_charset": FaultTexts("unreadable bytes", "Check the server's output: it must be UTF-8."),
    "no_reply": FaultTexts(
        "an answer without a reply", "Check that it is a chat model, and read the server's message."
    ),
    "error_in_reply": FaultTexts(
        "an error in place of an answer", "It is the server's fault, or its provider's. Ask again."
    ),
    "too_large": FaultTexts("an answer far too long", "Ask for fewer tokens."),
    "answer_too_long": FaultTexts("an answer far too long", "Ask for fewer tokens."),
    "unsendable": FaultTexts(
        "it cannot be sent",
        "Check the address and the texts for characters that do not belong there.",
    ),
    "address_refused": FaultTexts(
        "the address is not allowed here",
        "Choose a public address, or ask the operator of this installation to allow this one.",
    ),
    "key": FaultTexts(
        "the key is broken", "Ask the operator of this installation to set the variable again."
    ),
    "not_asked": FaultTexts(
        "not asked",
        "The run stopped asking this model after repeated errors. Fix them and ask again.",
    ),
}
UNKNOWN = FaultTexts("error", "Read the error message, then ask again.")


def get_fault_texts(code: str) -> FaultTexts:
    """Return the texts on a fault of a reply, by fault code; general ones for an unknown code."""
    return FAULTS.get(code, UNKNOWN)


@dataclass(frozen=True)
class ExclusionReason:
    """Reason for excluding a worker: labels, message to the worker, category on Prolific.

    Attributes
    ----------
    words : label in a form. briefly : text after "Excluded: ".
    prolific : the category of a rejection on Prolific.
    told : message to the worker; "" where the requester has to write one.
    rejects : whether panels accept it as a reason to reject the work.
    """

    words: str
    briefly: str
    prolific: str = "OTHER"
    told: str = ""
    rejects: bool = True


OWN = "own"


REASONS: Mapping[str, ExclusionReason] = {
    "copied": ExclusionReason(
        "Copied from others",
        "copied from others",
        told="Your answers are, but for light edits, the same as another participant's answers to "
        "the same questions.",
    ),
    "low_effort": ExclusionReason(
        "Clear low effort",
        "clear low effort",
        "LOW_EFFORT",
        "Your answers show clear low effort.",
    ),
    "instructions": ExclusionReason(
        "Failed the instructions",
        "failed the instructions",
        "FAILED_INSTRUCTIONS",
        "Your answers do not follow the instructions of the task.",
    ),
    "skipped": ExclusionReason(
        "Skipped required questions",
        "skipped required questions",
        "FAILED_INSTRUCTIONS",
        "You left questions without an answer that the task asks everybody to answer.",
    ),
    "attention": ExclusionReason(
        "Failed an attention check",
        "failed an attention check",
        "FAILED_CHECK",
        "You failed an attention check of the task.",
    ),
    "too_fast": ExclusionReason(
        "Far too fast",
        "far too fast",
        "TOO_QUICKLY",
        "You finished the task far too fast to have read what it asks.",
    ),
    "machine": ExclusionReason(
        "Looks written by a language model",
        "looks written by a language model",
        rejects=False,
    ),
    OWN: ExclusionReason("Another reason, in my own words", "another reason"),
}
"""By code, in the order in which they are offered."""
