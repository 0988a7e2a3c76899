"""What to know of a judge: the words that all doors share."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.words.sentences import Sentence

JUDGE: Mapping[str, Sentence] = {
    "judge.unread": "The judge gave no score {count} times ({share:.0%}), asked twice each time: "
    "what it says of the rest may be another choice of answers",
    "judge.no_judgements": "No expert has judged an answer, so the error of the judge is unknown: "
    "its agreement with itself and with AQER does not say that it is right",
    "judge.no_wording": "Questions whose wording is not known, so that the judge was shown their "
    "id: {count}",
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
    "experts_error": "mean error: score less grade",
    "experts_distance": "mean distance from the grade",
    "aqer_pearson": "with AQER, correlation",
    "aqer_spearman": "with AQER, correlation of ranks",
    "aqer_pearson_workers": "with AQER, correlation of workers' means",
    "against_aqer_aqer_pearson": "AQER with experts, correlation on the same answers",
    "against_aqer_gain": "judge less AQER, correlation with experts",
}
