"""Alarms in words, for people without statistics: titles, and a statistic against its threshold.

What an alarm means and what to do about it stands in its message, which was written with it.
"""

from __future__ import annotations

from collections.abc import Callable

# Of questions, not of workers.
OF_QUESTIONS = "two_camps_of_questions"
# A part of the answers, not all of them.
IN_PART = "copies_in_part"

TITLES = {
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
SEVERITIES = {"alarm": "Alarm", "notice": "Notice", "info": "Information"}


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


def measured(case: str, statistic: float | None, threshold: float | None) -> str:
    """Return a statistic against its threshold; "" without a number."""
    if statistic is None or threshold is None or case not in _MEASURED:
        return ""
    return _MEASURED[case](statistic, threshold)


_MEASURED: dict[str, Callable[[float, float], str]] = {
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
