"""Texts of alarms for readers without statistics: evidence, meaning and advice.

No message names a worker or a question: the page lists them beside it, and they may be erased.
Every message has the values `workers` and `questions` (numbers), `statistic` and `threshold`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from evaluation.core.messages.message import Sentence, ThresholdNumber, format_count
from evaluation.core.messages.reasons import describe_missing_statistic
from evaluation.grading.methods.check_results import Result, find_needed_count


def _format_alike_clause(values: Mapping[str, Any]) -> str:
    """Return the clause on how many answers of a group of workers are nearly identical."""
    if values.get("n_pairs") is None:  # of a run from before they were counted
        return "their answers to the same questions are nearly the same"
    rest = "" if values["mostly_alike"] else ", and the rest are closer than being good explains"
    if values["workers"] == 2:
        return (
            f"{values['n_alike']} of the {values['n_pairs']} answers that they gave to the same "
            "questions "
            f"are nearly identical{rest}"
        )
    return (
        f"compared two by two, {values['n_alike']} of {format_count(values['n_pairs'], 'pair')} "
        "of their "
        f"answers to the same question are nearly identical{rest}"
    )


def _format_worker_count(values: Mapping[str, Any]) -> str:
    """Return the number of workers with its noun, such as "3 workers"."""
    return str(values["people"])


def _format_proven_copies(values: Mapping[str, Any]) -> str:
    """Return the text of a `copies` alarm for a group whose answers' texts prove copying."""
    people, alike = _format_worker_count(values), _format_alike_clause(values)
    return (
        f"{people} gave the same answers but for light edits: {alike}. Agreement counts "
        "as quality here, so copies lift each other's grades and can outvote the rest. Read their "
        "answers side by side; if they were copied, grade again with the group as one voter "
        f"({values['option']['collapse_copies']})."
    )


def _format_likely_copies(values: Mapping[str, Any]) -> str:
    """Return the text of a `copies` alarm for workers whose answers are suspiciously alike."""
    people, alike = _format_worker_count(values), _format_alike_clause(values)
    return (
        f"{people} answer much more alike than other workers who are as good: {alike}. "
        "Copying from each other or from one source is the usual reason, and it lifts each other's "
        "grades. Read their answers side by side; if they were copied, grade again with the group "
        f"as one voter ({values['option']['collapse_copies']})."
    )


def _format_identical_texts(values: Mapping[str, Any]) -> str:
    """Return the text of a `copies` alarm in a run with too few questions for the full check."""
    people, alike = _format_worker_count(values), _format_alike_clause(values)
    return (
        f"{people} gave the same texts: {alike}. There are too few questions for the "
        "full copy check, and long texts are hardly the same by chance. Read their answers side by "
        "side before you decide anything."
    )


def _format_similar_workers(values: Mapping[str, Any]) -> str:
    """Return the text of a `clique` alarm: similar workers who may share an honest opinion."""
    people, alike = _format_worker_count(values), _format_alike_clause(values)
    option = values["option"]
    return (
        f"{people} answer much more alike than other workers who are as good: {alike}. "
        "That does not prove that they copied or are wrong: in a crowd of two camps, honest "
        "workers can look like this too. Do not exclude them on this alone; let an "
        "expert grade some answers that separate the camps "
        f"({option['suggest_anchors']}, then {option['anchors']})."
    )


def _format_two_camps(values: Mapping[str, Any]) -> str:
    """Return the text of the alarm that the workers form two camps, each of one opinion."""
    people = _format_worker_count(values)
    option, sampled = values["option"], values["sampled"]
    effect = (
        "Which of them ends on top depends on where the grading starts: the ranking cannot be "
        "known from the answers alone."
        if values["open"]
        else "The grades follow the camp that agrees more, which need not be the one that is "
        "right; started from either camp, the ranking stays much the same."
    )
    sample = "" if sampled is None else f" (seen in a sample of {format_count(sampled, 'worker')})"
    return (
        f"The crowd falls into two camps{sample}: these {people} agree with each "
        f"other clearly more than with the {values['other']} of the other camp, who do likewise. "
        f"{effect} It may be a shared error, collusion, or two honest ways to answer. Do not pay "
        "or reject by these grades before an expert has graded some answers that separate the "
        "camps "
        f"({option['suggest_anchors']}, then {option['anchors']})."
    )


def _format_vote_concentration(values: Mapping[str, Any]) -> str:
    """Return the text of the notice that a few workers hold most of the voting weight."""
    voters = values["statistic"] * values["n_workers"]
    return (
        f"Few workers decide: the votes of all {values['n_workers']} have no more weight than "
        f"those of about {_format_rounded_count(voters, 'person')} would if every vote counted the "
        "same. The workers named carry half of the weight. That is right if they are the good "
        "ones, and dangerous if they agree for another reason. Compare with a grading that caps "
        f"each vote ({values['option']['weight_cap']})."
    )


def _format_rounded_count(n: Any, noun: str) -> str:
    """Return a number rounded to a whole with its noun, such as "3 workers"."""
    whole: Any = n if isinstance(n, str) else round(n)
    return format_count(whole, noun)


ALARMS: Mapping[str, Sentence] = {
    "copies.proven": _format_proven_copies,
    "copies.alike": _format_likely_copies,
    "copies.identical": _format_identical_texts,
    "copies.partly": "{people} share a part of their answers almost word for word: {statistic:.0%} "
    "of them more than other workers do on the same questions. It may be a common source or some "
    "copied answers; the rest of their work is their own. The grade is little changed by it. Read "
    "these answers side by side before you decide anything.",
    "clique.clique": _format_similar_workers,
    "two_camps.crowd": _format_two_camps,
    "two_camps.questions": "The answers to {questions} of {n_tested:question} fall into two camps "
    "that agree with themselves but not with each other. A misconception that many share, or a "
    "question that can be read in two ways, looks like this; the larger camp decides what counts "
    "as right. Read the answers of both camps; correct or drop the question, or grade against the "
    "nearest camp ({option[camps]}).",
    "leverage.worker": "The ranking depends on one worker: without this worker, the order of "
    "the others changes clearly. Read this worker's answers, ask more people, or cap the weight "
    "of one vote ({option[weight_cap]}).",
    "grader_disagreement.crowd": "Two ways to compare texts rank the workers differently: compared "
    "by their words alone, the workers come in quite another order than by meaning. One of the two "
    "does not see what makes an answer good here. Read some answers of those at the top, and check "
    "that the model that compares texts knows the language and the subject.",
    "repeated.workers": "{people} gave the same or nearly the same text to different questions "
    "(up to {statistic:.0%} of the pairs of a worker's answers). Such answers do not answer the "
    "question; workers who gave mostly such answers are left out of the tests for camps and "
    "copies. Read their answers; if they are empty of content, exclude their votes "
    "({option[exclude_workers]}) and check the ranking again.",
    "dont_know.workers": "{people} often answered no more than that they do not know (up to "
    "{statistic:.0%} of a worker's answers). Such answers are alike, so they can agree with each "
    "other and gain votes. If they are many, treat them as unanswered or exclude these workers' "
    "votes ({option[exclude_workers]}).",
    "model_like.model": "The answers of {people} are nearer to those of the language model {model} "
    "than to any other worker's. They may have been written with such a model; people who answer "
    "in the same style look alike too. It is no proof: read the answers side by side.",
    "concentrated_weight.crowd": _format_vote_concentration,
    "unstable_ranking.crowd": "With other questions of the same kind many workers would have "
    "another rank. Do not rely on close ranks: two people are clearly apart only where their "
    "intervals do not overlap. Ask more questions to make the order steadier.",
    "no_convergence.crowd": "Grades are computed in rounds until they no longer change, and after "
    "{n_iterations:round} they still changed. Allow more iterations ({option[max_iterations]}), "
    "and do not rely on close ranks.",
    "too_few.crowd": lambda values: (
        f"Only {_format_rounded_count(values['statistic'], 'worker')} answered: grades and ranks "
        "need at least 3, because the quality of one is judged by the others. Ask more people."
    ),
    "too_few.workers": "{people} without a rank: fewer than 5 of their answers are to questions "
    "that at least 3 workers answered. Their grades rest on too little to be compared; ask them "
    "more questions, or leave them out of decisions.",
}
"""By kind and case of a finding."""

# Of questions, not of workers.
OF_QUESTIONS = "two_camps_of_questions"
# A part of the answers, not all of them.
IN_PART = "copies_in_part"

TITLES: Mapping[str, str] = {
    "copies": "Copied or nearly copied answers",
    IN_PART: "A part of the answers is shared word for word",
    "clique": "A camp of very similar answers",
    "two_camps": "Two camps in the crowd",
    OF_QUESTIONS: "Two camps on single questions",
    "leverage": "The ranking depends on one worker",
    "grader_disagreement": "Grading by words alone ranks otherwise",
    "repeated": "The same text to different questions",
    "dont_know": "“I don't know”, again and again",
    "model_like": "Answers near to a language model's",
    "concentrated_weight": "Few workers decide",
    "unstable_ranking": "Other questions would give another ranking",
    "no_convergence": "The grades did not settle",
    "too_few": "Too few answers to compare",
    "identical_answers": "The same text from two workers",
    "agreement_of_starts": "Where the grading starts decides who wins",
}
BRIEFLY: Mapping[str, str] = {
    "copies": "answers copied or nearly copied",
    IN_PART: "shares some answers word for word",
    "clique": "in a camp of very similar answers",
    "leverage": "the whole ranking depends on this person",
    "repeated": "the same text to different questions",
    "dont_know": "often answers “I don't know”",
    "model_like": "answers near to a language model's",
}
"""Of alarms about single people: what a mark beside a name says."""
SEVERITIES: Mapping[str, str] = {"alarm": "Alarm", "notice": "Notice", "info": "Information"}


def _format_similarity(statistic: float, threshold: float) -> str:
    """Return the sentence on the similarity of copied answers and the alarm's threshold."""
    return (
        f"Similarity {statistic:.0%}, from 0% (workers of equal quality) to 100% (identical "
        f"answers); alarm above {threshold:.0%}."
    )


MEASURED: Mapping[str, Callable[[float, float], str]] = {
    "copies": _format_similarity,
    IN_PART: lambda s, t: (
        f"{s:.0%} more shared answers than chance; notice from {t:.0%} on."
        if s > 0
        else f"No two workers share more answers than chance explains; notice from {t:.0%} more on."
    ),
    "clique": _format_similarity,
    "two_camps": lambda s, t: (
        f"The two most different halves differ no more than chance does; alarm above {t:g} times."
        if s <= 0
        else f"The camps differ by {s:.1f} times what chance does; alarm above {t:g}."
    ),
    OF_QUESTIONS: lambda s, t: f"{s:.0%} of the questions have two camps; alarm from {t:.0%} on.",
    "leverage": lambda s, t: (
        f"Rank correlation with and without this worker: {s:.2f}; alarm below {t:.2f}."
    ),
    "grader_disagreement": lambda s, t: (
        f"Rank correlation of the two rankings: {s:.2f}; alarm below {t:.2f}."
    ),
    "repeated": lambda s, t: (
        "No worker gave 3 or more answers that are alike; alarm from "
        f"{t:.0%} of the pairs of a worker's answers on."
        if s <= 0
        else f"Up to {s:.0%} of the pairs of a worker's own answers are the same or nearly the "
        f"same text; alarm from {t:.0%} on."
    ),
    "dont_know": lambda s, t: (
        f"Up to {s:.0%} of a worker's answers; notice from {t:.0%} on."
        if s > 0
        else f"No worker gave 3 or more such answers; notice from {t:.0%} of a worker's answers on."
    ),
    "model_like": lambda s, t: (
        f"No worker is nearer to a model than to every person; notice above {t:g}."
        if s <= 0
        else f"Nearer to the model than to any person by {s:.1f} times what chance does; notice "
        f"above {t:g}."
    ),
    "concentrated_weight": lambda s, t: (
        f"Effective share of voters: {s:.0%}; notice below {t:.0%}."
    ),
    "unstable_ranking": lambda s, t: (
        f"Rank correlation with other questions: {s:.2f}; notice below {t:.2f}."
    ),
    "no_convergence": lambda s, t: f"The last change was {s:.1g}; the limit is {t:.1g}.",
    "too_few": lambda s, t: (
        f"Workers without a rank: {s:.0f}; information from 1 on."
        if t <= 0
        else f"Workers: {s:.0f}; notice below {t:.0f}."
    ),
    "identical_answers": lambda s, t: (
        f"{s:.0%} of the answers of two workers are the same text; alarm above {t:.0%}."
    ),
    "agreement_of_starts": lambda s, t: (
        f"Started from either camp, the orders agree by {s:.2f}; below {t:.2f} they contradict "
        "each other."
    ),
}
"""A statistic against its threshold."""


def choose_alarm_case(kind: str, severity: str, has_workers: bool) -> str:
    """Return the key of an alarm's title and texts: its kind, or a variant of the kind.

    Variants are two camps on single questions, and copied parts.
    """
    if kind == "two_camps" and not has_workers:
        return OF_QUESTIONS
    if kind == "copies" and severity == "notice":
        return IN_PART
    return kind


def get_alarm_title(case: str) -> str:
    """Return the title of an alarm by its case; for an unknown case, the case in words."""
    return TITLES.get(case, case.replace("_", " ").capitalize())


def get_short_statement(case: str) -> str:
    """Return the short statement about a worker in an alarm of this case.

    Without one, the alarm's title.
    """
    return BRIEFLY.get(case) or get_alarm_title(case)


def format_statistic(case: str, statistic: float | None, threshold: float | None) -> str:
    """Return the sentence that compares an alarm's statistic with its threshold; "" if none.

    Empty if the statistic or the threshold is None, or if this kind of alarm has no such sentence.
    """
    if statistic is None or threshold is None or case not in MEASURED:
        return ""
    return MEASURED[case](ThresholdNumber(statistic, threshold), threshold)


RESULTS: Mapping[Result, str] = {
    "good": "Good",
    "problem": "Problem",
    "not_enough_data": "Not enough data",
    "not_applicable": "Not applicable",
}
UNITS: Mapping[str, str] = {
    "fewer_than_5_questions": "questions with two answers",
    "fewer_than_6_workers": "workers",
    "no_question_with_6_answers": "answers to one question",
    "no_pair_shares_10_questions": "questions that the same two workers answered",
    "no_pair_shares_3_questions": "questions that the same two workers answered",
    "no_worker_with_3_answers": "answers of one worker",
    "no_worker_shares_5_with_a_model": "questions that a model and two workers answered",
    "no_weights": "workers",
    "too_few_ranked_workers": "workers with a rank",
}


def format_needed_data(check: str, reason: str | None) -> str:
    """Return the data that a skipped check needs, such as "needs 6 workers"; "" if unknown."""
    n = find_needed_count(check, reason)
    return "" if n is None or reason is None else f"needs {n} {UNITS[reason]}"


def format_skipped_checks(checks: Iterable[tuple[str, str | None]]) -> str:
    """Return a sentence that lists skipped checks and the data they need; "" without any.

    `checks` holds (name of the check, reason code) pairs.
    """
    parts = [
        f"{get_alarm_title(check)} "
        f"({format_needed_data(check, reason) or describe_missing_statistic(reason)})"
        for check, reason in checks
    ]
    return f"Not enough data for: {'; '.join(parts)}." if parts else ""


# A crowd that was taken whole, once, says nothing of how often.
ONE_GROUP = 1
NOT_LOOKED = "too few answers to look"
CROWDS = {
    "beetle": "students",
    "crowdwsa T1": "translators",
    "crowdwsa T2": "other translators",
    "mohler": "students' answers dealt to workers",
}
"""The crowds that groups were drawn from."""


def format_false_alarm_rate(
    n_groups: int, n_alarms: int, share: float | None, low: float | None, high: float | None
) -> str:
    """Return a false-alarm rate with its 95% interval, as "38.4% (34.7 to 42.2) of 643".

    `n_groups` is the number of tested groups of workers, `n_alarms` the number of these in which
    the alarm was raised.
    """
    if share is None or low is None or high is None:
        return NOT_LOOKED
    if not n_alarms:
        return f"none of {n_groups:,} (at most {100 * high:.1f}%)"
    return f"{100 * share:.1f}% ({100 * low:.1f} to {100 * high:.1f}) of {n_groups:,}"


def format_false_alarm_rates(size: int, rates: Sequence[tuple[str, str]], *, often: bool) -> str:
    """Return sentences on how often an alarm was raised in crowds without a known problem.

    `rates` holds (name of the crowd, rate as text) pairs; `often` adds that the alarm is only a
    hint.
    """
    rate_list = "; ".join(f"{name}: {rate}" for name, rate in rates)
    meaning = "So this alarm is seldom false in a crowd of this size."
    if often:
        meaning = (
            "So this alarm is often false in a crowd of this size: use it only as a reason to read "
            "the answers."
        )
    elif all(rate == NOT_LOOKED for _, rate in rates):
        meaning = "So the rate of false alarms in a crowd of this size is not known."
    return (
        f"False alarms in random groups of {size} workers of crowds without known faults (95% "
        f"interval in brackets): {rate_list}. {meaning}"
    )
