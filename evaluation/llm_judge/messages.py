"""Messages about a judge by message code, and labels of its metrics.

A function of a sentence gets the values of its message, `v`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.core.messages.message import Sentence, format_count


def _format_interval(v: Mapping[str, Any]) -> str:
    """Return the 95% interval from `low` to `high` as a phrase, or "no interval"."""
    if v["low"] is None:
        return "no interval"
    return f"95% interval {v['low']:.2f} to {v['high']:.2f}"


def _format_order_effect(v: Mapping[str, Any]) -> str:
    """Return the sentence on how often the judge keeps its verdict when the order is swapped."""
    sentence = (
        f"Shown two answers in the other order, it keeps its verdict in {v['same']:.0%} of pairs"
    )
    if not v["place"]:
        return f"{sentence}, and prefers no place."
    return f"{sentence}: it prefers what is shown {v['place']} ({v['share']:.0%} of verdicts)."


def _format_corrected_mean(v: Mapping[str, Any]) -> str:
    """Return the sentences on the judge's mean error, and on the mean grade corrected by it."""
    return (
        f"It is {v['kind']} by {v['error']:.2f} on average. Corrected by that, workers' answers "
        f"have a mean grade of {v['mean']:.2f} ({_format_interval(v)}). The judge's mean is "
        f"{v['judge']:.2f}; the experts' mean of their graded answers is {v['graded']:.2f}."
    )


def _format_expert_correlation(v: Mapping[str, Any]) -> str:
    """Return the sentence on the correlation of the judge's scores with experts' grades."""
    return (
        f"Its scores and the experts' grades of {format_count(v['n'], 'answer')} correlate "
        f"{v['r']:.2f} ({_format_interval(v)}; 1 is perfect, 0 no relation)."
    )


JUDGE: Mapping[str, Sentence] = {
    "judge.unread": "The judge gave no score for {count:answer} ({share:.0%}), asked twice each "
    "time: the scored ones may not be representative",
    "judge.no_judgements": "No expert has judged an answer, so the judge's error is not known: "
    "agreement with itself and with AQER does not show that it is right. Let an expert "
    "judge some answers",
    "judge.chosen": "Some of the answers that experts judged were picked because opinions differ "
    "on them. The corrected means hold only for answers picked at random: have some of these "
    "judged, too",
    "judge.itself": lambda v: (
        f"Asked again about the same answer, it gives the same score in {v['same']:.0%} of cases."
    ),
    "judge.order": _format_order_effect,
    "judge.experts": _format_expert_correlation,
    "judge.gain_unknown": lambda v: (
        "These answers do not show whether the judge or AQER agrees better with the experts: "
        "the judge's correlation with "
        f"them minus that of AQER is {v['gain']:.2f} ({_format_interval(v)}), which may be chance."
    ),
    "judge.gain_judge": lambda v: (
        "It agrees better with the experts than AQER does: its correlation with them is higher "
        f"by {v['gain']:.2f} ({_format_interval(v)})."
    ),
    "judge.gain_aqer": lambda v: (
        "AQER agrees better with the experts than it does: its correlation with them minus "
        f"that of AQER is {v['gain']:.2f} ({_format_interval(v)})."
    ),
    "judge.corrected": _format_corrected_mean,
    "judge.no_wording": "Questions of which only the id is known, so that the judge was shown the "
    "id in place of the question: {count}",
}

METRICS: Mapping[str, str] = {
    "repetition_same": "asked again, the same score",
    "repetition_difference": "asked again, mean difference of the scores",
    "repetition_kappa": "asked again, kappa",
    "order_same": "order swapped, the same verdict",
    "order_first": "verdicts for what is shown first (.5 is fair)",
    "order_as_scored": "verdicts in line with its own scores",
    "order_as_graded": "verdicts in line with the experts",
    "experts_pearson": "with experts, correlation",
    "experts_spearman": "with experts, correlation of ranks",
    "experts_pearson_workers": "with experts, correlation of workers' means",
    "experts_kappa": "with experts, kappa",
    "experts_error": "mean error: score minus grade",
    "experts_distance": "mean distance from the grade",
    "aqer_pearson": "with AQER, correlation",
    "aqer_spearman": "with AQER, correlation of ranks",
    "aqer_pearson_workers": "with AQER, correlation of workers' means",
    "against_aqer_aqer_pearson": "AQER with experts, correlation on the same answers",
    "against_aqer_gain": "judge minus AQER, correlation with experts",
}
