"""Messages of remedies: why one cannot be applied, and the outcome of an alarm after one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.core.messages.message import Sentence, format_count
from evaluation.core.messages.reasons import describe_missing_statistic

REMEDIES: Mapping[str, str] = {
    "cap_too_low": "a weight cap of {cap:g} is below 1/{voters}: the weights of {voters} voters "
    "could not sum to 1; give at least {lowest:g}",
    "few_outside_groups": "only {outside} of the workers would be left outside the groups of "
    "copies, and {fewest} are needed to grade by: grade without {option[collapse_copies]}, or "
    "exclude the workers you do not trust",
    "nobody_left": "all workers are excluded: no worker is left for a grading",
}
"""A part of a sentence, by the code of a `RemedyError`."""


def _build_sentence(words: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that formats the clause `words` with values as a whole sentence."""

    def format_sentence(values: Mapping[str, Any]) -> str:
        """Return the clause with its values, as a sentence."""
        sentence = words.format_map(values)
        return f"{sentence[:1].upper()}{sentence[1:]}."

    return format_sentence


FAILED: Mapping[str, Sentence] = {
    f"run.{code}": _build_sentence(words) for code, words in REMEDIES.items()
}
"""The same as a sentence, where it ended a run."""


def _format_graded_count(values: Mapping[str, Any]) -> str:
    """Return the number of answers graded by experts with its noun, such as "6 answers"."""
    return format_count(values["graded"], "answer")


def _format_agreement(values: Mapping[str, Any]) -> str:
    """Return a clause on how the ranking agrees with those of both camps; "" if undefined.

    A camp is a group of workers with one opinion.
    """
    mine, other = values.get("agreement"), values.get("other_agreement")
    if mine is None or other is None:
        return ""
    return (
        f" (its order agrees with that of a grading by this camp alone by {mine:.2f}, by the other "
        f"camp alone by {other:.2f}; 1 is the same order)"
    )


def _format_confirmed_camp(values: Mapping[str, Any]) -> str:
    """Return the text that experts' grades confirmed the camp of workers that an alarm names."""
    return (
        f"Settled by experts: they graded {_format_graded_count(values)}, "
        "and the ranking that agrees best with "
        f"them follows this camp{_format_agreement(values)}."
    )


def _format_refuted_camp(values: Mapping[str, Any]) -> str:
    """Return the text that experts' grades did not confirm the camp that an alarm names."""
    return (
        f"Settled by experts: they graded {_format_graded_count(values)}, "
        "and the ranking that agrees best with "
        f"them follows the other camp{_format_agreement(values)}."
    )


def _format_undecided_camp(values: Mapping[str, Any]) -> str:
    """Return the text that it is undecided which of the two camps of workers is right."""
    follows = "follows this camp" if values["follows"] else "does not follow this camp"
    return (
        f"Still there: it is not settled which camp is right. The ranking {follows}"
        f"{_format_agreement(values)}."
    )


def _format_order_agreement(values: Mapping[str, Any]) -> str:
    """Return a clause with the rank correlation of two rankings; "" if it is undefined."""
    value = values["agreement"]
    return "" if value is None else f"; the two orders agreed by {value:.2f} (1 is the same order)"


def _format_expert_correlations(values: Mapping[str, Any]) -> str:
    """Return a clause on how experts' grades correlate with the scores of both runs."""
    return (
        f"grades of {format_count(values['count'], 'answer')} agree by "
        f"{_format_correlation(values['correlation'])} "
        "with "
        f"this run's scores, and by {_format_correlation(values['before'])} "
        "with those of the run before (1 is "
        "full agreement)"
    )


def _explain_unsure(values: Mapping[str, Any]) -> str:
    """Return the text on why experts' grades do not settle an alarm, and what to do."""
    mine, other = values["correlation"], values["before"]
    if values["count"] < values["fewest"]:
        return f"That is too few: have {values['fewest']} answers graded or more."
    if mine is not None and other is not None and other >= mine:
        return (
            "The run before agrees as well or better: go by that one, or have more answers graded."
        )
    return "That is hardly any agreement, or may be chance: have more answers graded."


def _format_correlation(value: Any) -> str:
    """Return a correlation with two decimals, or "an unknown number" for None."""
    return "an unknown number" if value is None else f"{value:.2f}"


OUTCOMES: Mapping[str, Sentence] = {
    "outcome.excluded": lambda values: (
        "Resolved: the worker named is left out."
        if values["workers"] == 1
        else f"Resolved: all {values['workers']:,} workers named are left out."
    ),
    "outcome.some_excluded": lambda values: (
        f"Resolved: {values['excluded']:,} of the {values['workers']:,} named "
        f"{'is' if values['excluded'] == 1 else 'are'} left out, and the alarm is not raised for "
        f"the others."
    ),
    "outcome.silent_without": "Resolved: the alarm is not raised without those who are left out.",
    "outcome.collapsed": "Answered: the {workers} of them count as one voter, with the answers in "
    "the middle of theirs.",
    "outcome.collapsed_first": "Answered: the {workers} of them count as one voter, with the "
    "answers of the one who was first by the times of the answers.",
    "outcome.settled": lambda values: (
        f"Settled by experts: they graded {_format_graded_count(values)}, "
        "and the ranking that agrees best with "
        "them was taken."
    ),
    "outcome.settled_won": _format_confirmed_camp,
    "outcome.settled_lost": _format_refuted_camp,
    "outcome.settled_questions": lambda values: (
        f"Settled by experts: they graded {_format_graded_count(values)}, "
        "and the camps on these questions are "
        "the "
        "two camps of the crowd between which that decided."
    ),
    "outcome.nearest_camp": "Answered: on these questions each answer is compared with the nearer "
    "of the two camps, so that no camp loses for being the smaller one.",
    "outcome.silent": "Answered: it was looked for again among those who vote now, as they vote "
    "now, and it is not seen any more.",
    "outcome.still": "Still there: it was looked for again after the remedy.",
    "outcome.still_camp": _format_undecided_camp,
    "outcome.unchecked": lambda values: (
        "Still open: after the remedy it could not be looked for again, because "
        f"{describe_missing_statistic(values['reason'])}."
    ),
    "outcome.by_words": lambda values: (
        "Not settled: this run takes the other of the two sides. It is graded by words, so "
        f"there is no second ranking to compare with{_format_order_agreement(values)}. Which of "
        "the two sees what makes an answer good, only people can decide: let an expert grade some "
        "answers, and both runs are compared with the same grades."
    ),
    "outcome.by_words_agree": lambda values: (
        f"Settled by experts: their {_format_expert_correlations(values)}."
    ),
    "outcome.by_words_unsure": lambda values: (
        f"Not settled yet: experts' {_format_expert_correlations(values)}. "
        f"{_explain_unsure(values)}"
    ),
    "outcome.settings": "Gone: with the settings of this run it is not seen any more.",
    "outcome.new": "New: it came with the remedy, and was not there before.",
}


NOT_AT_ONCE: Mapping[str, str] = {
    "out_already": "This run left the worker out already.",
    "large": "There are too many answers to show it at once: a run shows it.",
    "changed": "People's answers were added, changed or withdrawn since this run, so the result "
    "of this run for them is not known: grade again.",
    "slow_settings": "With the settings of this run it takes too long to show it at once: a run "
    "shows it.",
    "no_vectors": "The vectors of this run are not stored, so the preview is not available: "
    "start a run.",
    "nobody_left": "Without this worker too few are left to grade by.",
}
