"""What alarms say: the evidence, what it means, what to do, for people without statistics.

No message names a worker or a question: these stand beside it, and may be erased. Every message has
the values `workers` and `questions` (how many it is about), `statistic` and `threshold`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.words.message import Sentence


def _camps(of: Mapping[str, Any]) -> str:
    agreement, sampled, option = of["start_agreement"], of["sampled"], of["option"]
    known = "" if agreement is None else f" ({agreement:.2f} on a scale from -1 to 1)"
    hangs = (
        f"Which of them ends on top hangs on where the grading starts{known}: the ranking cannot "
        "be known from the answers alone."
        if of["open"]
        else "The grades follow the camp that agrees more, which need not be the one that is right"
        f"; started from either camp, the ranking stays much the same{known}."
    )
    some = "" if sampled is None else f" (seen in a sample of {sampled:,} workers)"
    return (
        f"The crowd falls into two camps{some}: these {of['workers']} workers agree with each "
        f"other by {of['surplus']:.2f} more (mean cosine) than with the {of['other']} of the other "
        f"camp, who do likewise. {hangs} It may be a shared error, collusion, or two honest ways "
        "to answer. Do not pay or reject by these grades before an expert has graded some answers "
        f"that tell the camps apart ({option['suggest_anchors']}, then {option['anchors']})."
    )


def _concentrated(of: Mapping[str, Any]) -> str:
    voters = of["statistic"] * of["n_workers"]
    return (
        f"Few workers decide: the votes weigh as much as those of {voters:.1f} equal voters "
        f"among {of['n_workers']}. The workers named carry half of the weight. That is right if "
        "they are the good ones, and dangerous if they agree for another reason. Compare with a "
        f"grading that caps each vote ({of['option']['weight_cap']})."
    )


ALARMS: Mapping[str, Sentence] = {
    "copies.proven": "{people} gave the same answers but for light edits: the mean cosine of their "
    "answers to the same question is {mean_cosine:.2f}, and they close {statistic:.0%} of the gap "
    "that workers of their quality leave between each other. AQER counts agreement as quality, so "
    "copies lift each other's grades and can outvote the rest. Read their answers side by side; if "
    "they were copied, grade again with the group as one voter ({option[collapse_copies]}).",
    "copies.alike": "The answers of {people} are much nearer to each other than their quality "
    "explains: they close {statistic:.0%} of the gap to identity that workers like them leave. "
    "Copying from each other or from one source is the usual reason, and it lifts each other's "
    "grades. Read their answers side by side; if they were copied, grade again with the group as "
    "one voter ({option[collapse_copies]}).",
    "copies.partly": "{people} share a part of their answers almost word for word: {statistic:.0%} "
    "of them more than other workers do on the same questions. It may be a common source or some "
    "copied answers; the rest of their work is their own. The grade is little changed by it. Read "
    "these answers side by side before you decide anything.",
    "clique.clique": "{people} are a camp of very similar answers: they close {statistic:.0%} of "
    "the gap to identity that workers of their quality leave. That does not say that they copied, "
    "nor that they are wrong: in a crowd of two camps the honest ones can look like this too. Do "
    "not exclude them on this alone; let an expert grade some answers that tell the camps apart "
    "({option[suggest_anchors]}, then {option[anchors]}).",
    "two_camps.crowd": _camps,
    "two_camps.questions": "The answers to {questions} of {n_tested} questions fall into two camps "
    "that agree with themselves but not with each other, more than {threshold:.0%} of the "
    "questions. A misconception that many share, or a question that can be read in two ways, looks "
    "like this; the larger camp decides what counts as right. Read the answers of both camps; "
    "correct or drop the question, or grade against the nearest camp ({option[camps]}).",
    "leverage.worker": "The ranking hangs on one worker: without this one, the others' order "
    "changes so much that it agrees with the present one by only {statistic:.2f} (1 is the same "
    "order). Read this worker's answers, ask more people, or cap what one vote may weigh "
    "({option[weight_cap]}).",
    "grader_disagreement.crowd": "Two ways to compare texts rank the workers differently: graded "
    "by their words alone, their order agrees with this one by only {statistic:.2f} (1 is the same "
    "order, 0 no agreement). One of the two does not see what makes an answer good here. Check "
    "some answers by hand, and that the embedding model knows the language and the subject.",
    "dont_know.workers": "{people} often answered no more than that they do not know (up to "
    "{statistic:.0%} of a worker's answers). Such answers are alike, so they can agree with each "
    "other and gain votes. If they are many, treat them as unanswered or exclude these workers' "
    "votes ({option[exclude_workers]}).",
    "model_like.model": "The answers of {people} are nearer to those of the language model {model} "
    "than to any other worker's. They may have been written with such a model; people who answer "
    "in the same style look alike too. It is no proof: read the answers side by side.",
    "concentrated_weight.crowd": _concentrated,
    "unstable_ranking.crowd": "With other questions of the same kind the ranking would be another "
    "one: in the typical draw of questions it agrees with this one by {statistic:.2f} (1 is the "
    "same order). Do not rely on close ranks; ask more questions, and look at the intervals.",
    "no_convergence.crowd": "The weights did not settle in {n_iterations} iterations: the last one "
    "still changed them by {statistic:.1g}, more than {threshold:.1g}. Allow more iterations "
    "({option[max_iterations]}), and do not rely on close ranks.",
    "too_few.crowd": "Only {statistic:.0f} workers answered: grades and ranks need at least 3, "
    "because the quality of one is judged by the others. Ask more people.",
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
    "leverage": "The ranking hangs on one worker",
    "grader_disagreement": "Grading by words alone ranks otherwise",
    "dont_know": "“I don't know”, again and again",
    "model_like": "Answers near to a language model's",
    "concentrated_weight": "Few workers decide",
    "unstable_ranking": "Other questions would give another ranking",
    "no_convergence": "The weights did not settle",
    "too_few": "Too few answers to compare",
    "agreement_of_starts": "Where the grading starts decides who wins",
}
BRIEFLY: Mapping[str, str] = {
    "copies": "answers copied or nearly copied",
    IN_PART: "shares some answers word for word",
    "clique": "in a camp of very similar answers",
    "leverage": "the whole ranking hangs on this person",
    "dont_know": "often answers “I don't know”",
    "model_like": "answers near to a language model's",
}
"""Of alarms about single people: what a mark beside a name says."""
SEVERITIES: Mapping[str, str] = {"alarm": "Alarm", "notice": "Notice", "info": "Information"}
MEASURED: Mapping[str, Callable[[float, float], str]] = {
    "copies": lambda s, t: (
        f"They close {s:.0%} of the gap between answers of such quality; it rings above {t:.0%}."
    ),
    IN_PART: lambda s, t: f"{s:.0%} more shared answers than chance; told from {t:.0%} on.",
    "clique": lambda s, t: (
        f"They close {s:.0%} of the gap between answers of such quality; it rings above {t:.0%}."
    ),
    "two_camps": lambda s, t: (
        f"By chance this is as good as impossible: z is {s:.1f}, it rings above {t:g}."
        if s > t
        else f"z is {s:.1f}, it rings above {t:g}."
    ),
    OF_QUESTIONS: lambda s, t: f"{s:.0%} of the questions; it rings from {t:.0%} on.",
    "leverage": lambda s, t: (
        f"Without this worker the order agrees by {s:.2f} with the present one; it rings below "
        f"{t:.2f}."
    ),
    "grader_disagreement": lambda s, t: f"The two orders agree by {s:.2f}; it rings below {t:.2f}.",
    "dont_know": lambda s, t: f"Up to {s:.0%} of a worker's answers; told from {t:.0%} on.",
    "model_like": lambda s, t: (
        f"Nearer to the model than to any person by {s:.1f} standard errors; told above {t:g}."
    ),
    "concentrated_weight": lambda s, t: (
        f"The votes weigh as those of {s:.0%} of the workers would; told below {t:.0%}."
    ),
    "unstable_ranking": lambda s, t: (
        f"In the typical draw the order agrees by {s:.2f}; told below {t:.2f}."
    ),
    "no_convergence": lambda s, t: f"The last change was {s:.1g}; wanted was {t:.1g} or less.",
    "agreement_of_starts": lambda s, t: (
        f"Started from either camp, the orders agree by {s:.2f}; below {t:.2f} they contradict "
        "each other."
    ),
}
"""A statistic against its threshold."""


def case_of(kind: str, severity: str, has_workers: bool) -> str:
    """Return which of a kind's wordings fits an alarm."""
    if kind == "two_camps" and not has_workers:
        return OF_QUESTIONS
    if kind == "copies" and severity == "notice":
        return IN_PART
    return kind


def title_of(case: str) -> str:
    """Return the title of a kind or case; the name itself of one that is not known here."""
    return TITLES.get(case, case.replace("_", " ").capitalize())


def brief(case: str) -> str:
    """Return what a mark says of a person; the title of a case that has no shorter words."""
    return BRIEFLY.get(case) or title_of(case)


def measured(case: str, statistic: float | None, threshold: float | None) -> str:
    """Return a statistic against its threshold; "" without a number."""
    if statistic is None or threshold is None or case not in MEASURED:
        return ""
    return MEASURED[case](statistic, threshold)
