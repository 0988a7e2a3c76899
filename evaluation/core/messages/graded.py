"""Build the sentences on which scoring method agrees best with graded answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.core.messages.message import Sentence, format_count


def _format_number(value: float) -> str:
    """Return a number with two decimals, without a minus sign for 0.00."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text


def _format_interval(
    value: float | None, low: float | None, high: float | None, most: str = ""
) -> str:
    """Return a number with its interval, and with the upper limit `most` if one is given."""
    if value is None:
        return "undefined"
    if low is None or high is None:
        return f"{_format_number(value)}{most}, without an interval"
    return f"{_format_number(value)}{most} (95% {_format_number(low)} to {_format_number(high)})"


def _format_agreement(of: Mapping[str, Any]) -> str:
    """Return a method's correlation with the grades and its interval as text."""
    return _format_interval(of["r"], of["low"], of["high"], " of at most 1")


def _format_lead(of: Mapping[str, Any]) -> str:
    """Return a method's lead over another one and its interval as text."""
    return _format_interval(of["lead"], of["lead_low"], of["lead_high"])


def format_better(of: Mapping[str, Any]) -> str:
    """Return the sentence that a method agrees better with the grades than the default."""
    return (
        f"Trust {of['method']} here: on the {format_count(of['held'], 'question')} that it was not "
        f"chosen by, its scores of workers agree with their grades at {_format_agreement(of)}, "
        f"and its lead over {of['default']}, the default, is {_format_lead(of)}."
    )


def format_default(of: Mapping[str, Any]) -> str:
    """Return the sentence that the default method agrees better than the others."""
    return (
        f"Trust {of['method']}, the default, here: on the {format_count(of['held'], 'question')} "
        "held "
        f"out its scores of workers agree with their grades at {_format_agreement(of)}, and its "
        f"lead over {of['rival']}, the next best, is {_format_lead(of)}."
    )


def format_inconclusive(of: Mapping[str, Any]) -> str:
    """Return the sentence that the methods do not differ significantly."""
    stay = (
        f"stay with {of['default']}, the default, whose scores of workers agree with their grades"
    )
    if of["best"] == of["default"]:
        why = f"its lead over {of['rival']}, the next best, is {_format_lead(of)}"
        return (
            f"The methods do not differ significantly here, so {stay} at {_format_agreement(of)} "
            f"on the "
            f"{format_count(of['held'], 'question')} held out: {why}."
        )
    return (
        f"The methods do not differ significantly here, so {stay} at {_format_agreement(of)} on "
        f"the "
        f"{format_count(of['held'], 'question')} held out: {of['best']} was best on the others, "
        f"but its lead there is {_format_lead(of)}."
    )


def format_too_small(of: Mapping[str, Any]) -> str:
    """Return the sentence that there are too few workers or questions to compare methods."""
    return (
        f"The methods do not differ significantly here: with fewer than 5 workers to compare, or "
        f"fewer "
        f"than 4 questions, nothing is shown to be better than {of['default']}, the default, whose "
        f"scores of workers agree with their grades at {_format_agreement(of)}."
    )


_DEALT = (
    "Nobody knows who gave these {answers:answer} to {questions:question}, so crowds of {workers} "
    "were dealt from them {repetitions} times, "
)

GRADED: Mapping[str, Sentence] = {
    "graded.better": format_better,
    "graded.default": format_default,
    "graded.apart": format_inconclusive,
    "graded.small": format_too_small,
    "graded.run": "A run computes {method} with these settings: {options}.",
    "graded.no_run": "No run of the site computes {method}: it stands in the table for comparison.",
    "graded.best_run": lambda of: (
        f"Of those that a run computes {of['method']} was best on the questions that were chosen "
        f"by: {_format_agreement(of)} on the others, with these settings: {of['options']}."
    ),
    "graded.by_workers": "It rests on {answers:answer} of {workers:worker} to {questions:question} "
    "that the file names and grades: each worker's score beside the mean of their grades, for the "
    "{compared:worker} with enough of them. The intervals speak of other workers at the same kind "
    "of questions, not of other domains.",
    "graded.by_best": _DEALT + "from the best answer to each question downwards. Dealt crowds are "
    "more orderly than people: numbers of real workers are lower.",
    "graded.by_random": _DEALT + "of answers drawn at random, from the best one downwards. Dealt "
    "crowds are more orderly than people: numbers of real workers are lower.",
    "graded.one_grade": "all answers have the same grade, so the methods cannot be compared: "
    "grade answers of different quality",
    "graded.few_workers": "{count:worker} of the file have {fewest} graded answers or more, and it "
    "takes 3 to compare any: grade more of them, or take out the column of the worker, so that "
    "workers are dealt from the answers",
    "graded.few_answers": "too few questions have {fewest} graded answers or more, from which "
    "workers could be dealt: grade more answers to each question, or say whose they are in a "
    "column worker",
    "graded.no_spread": "all workers have the same mean grade, so no method can be told from "
    "another",
    "graded.sampled_workers": "Of {all:worker} {workers:worker} were drawn at random, so that no "
    "question has more than {most:answer} to compare with each other.",
    "graded.sampled_answers": "At most {most:answer} of each question were drawn at random.",
    "graded.left_out_questions": "Left out, with fewer than {crowd:answer}: {count:question}.",
}
