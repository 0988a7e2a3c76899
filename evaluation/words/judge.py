"""What to know of a judge: the words that all doors share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.words.message import Sentence, counted


def _interval(of: Mapping[str, Any]) -> str:
    if of["low"] is None:
        return "no interval"
    return f"95% interval {of['low']:.2f} to {of['high']:.2f}"


def _order(of: Mapping[str, Any]) -> str:
    said = (
        f"Shown two answers in the other order, it keeps its verdict in {of['same']:.0%} of pairs"
    )
    if not of["place"]:
        return f"{said}, and prefers no place."
    return f"{said}: it prefers what is shown {of['place']} ({of['share']:.0%} of verdicts)."


def _corrected(of: Mapping[str, Any]) -> str:
    return (
        f"It is {of['kind']} by {of['error']:.2f} on average. Corrected by that, workers' answers "
        f"have a mean grade of {of['mean']:.2f} ({_interval(of)}). The judge alone says "
        f"{of['judge']:.2f}; the experts, of what they graded, {of['graded']:.2f}."
    )


def _experts(of: Mapping[str, Any]) -> str:
    return (
        f"Its scores and the experts' grades of {counted(of['n'], 'answer')} correlate "
        f"{of['r']:.2f} ({_interval(of)}; 1 is perfect, 0 no relation)."
    )


JUDGE: Mapping[str, Sentence] = {
    "judge.unread": "The judge gave no score for {count:answer} ({share:.0%}), asked twice each "
    "time: those that it scored may not stand for all",
    "judge.no_judgements": "No expert has judged an answer, so nobody knows how far the judge is "
    "wrong: that it agrees with itself and with AQER does not say that it is right. Let an expert "
    "judge some answers",
    "judge.chosen": "Some of the answers that experts judged were picked because opinions differ "
    "on them. The corrected means hold only for answers picked at random: have some of these "
    "judged, too",
    "judge.itself": lambda of: (
        f"Asked again about the same answer, it gives the same score in {of['same']:.0%} of cases."
    ),
    "judge.order": _order,
    "judge.experts": _experts,
    "judge.gain_unknown": lambda of: (
        "Whether it or AQER agrees better with the experts cannot be told: its correlation with "
        f"them minus that of AQER is {of['gain']:.2f} ({_interval(of)}), which may be chance."
    ),
    "judge.gain_judge": lambda of: (
        "It agrees better with the experts than AQER does: its correlation with them is higher "
        f"by {of['gain']:.2f} ({_interval(of)})."
    ),
    "judge.gain_aqer": lambda of: (
        "AQER agrees better with the experts than it does: its correlation with them minus "
        f"that of AQER is {of['gain']:.2f} ({_interval(of)})."
    ),
    "judge.corrected": _corrected,
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
