"""Who is better than whom, as codes with values for a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.grading.results.messages import listed
from evaluation.grading.results.report.comparisons import ModelPair
from evaluation.grading.results.report.models import ModelRow
from evaluation.words.message import Message


def leader_verdict(models: Sequence[ModelRow], pairs: Sequence[ModelPair]) -> Message:
    """Return what there is to say of the model with the highest score.

    Parameters
    ----------
    models : by score, best first. pairs : every pair that was compared.
    """
    ranked = [model for model in models if model.rank is not None and model.score.value is not None]
    if not models:
        return Message("comparison.no_models")
    if not ranked:
        return Message("comparison.no_rank", {"models": len(models)})
    leader = ranked[0]
    own = [
        pair if pair.first == leader.model else pair.turned()
        for pair in pairs
        if leader.model in (pair.first, pair.second) and pair.adjusted_p_value is not None
    ]
    if len(ranked) > 1 and not pairs:
        return Message("comparison.not_recorded", {"models": len(models)})
    if not own:
        return Message(
            "comparison.only_model", {"leader": leader.name, "score": leader.score.value}
        )
    place = {model.model: at for at, model in enumerate(ranked)}
    own.sort(key=lambda pair: place.get(pair.second, len(place)))
    values: dict[str, Any] = {"leader": leader.name}
    behind = [pair for pair in own if pair.better and (pair.difference.value or 0) > 0]
    alike = [pair for pair in own if not pair.better]
    if len(behind) + len(alike) < len(own):
        # Means over different questions may put a model first that pairs do not.
        ahead = [pair.second_name for pair in own if pair not in behind and pair not in alike]
        return Message("comparison.led_in_pairs", values | {"ahead": listed(ahead)})
    if alike:
        values["alike"] = listed([pair.second_name for pair in alike])
        values["smallest"] = max(pair.smallest_detectable or 0.0 for pair in alike)
    if not behind:
        return Message("comparison.leads_none", values)
    values |= {"behind": listed([pair.second_name for pair in behind]), **_difference(behind[0])}
    return Message("comparison.leads_some" if alike else "comparison.leads_all", values)


def pair_verdict(pair: ModelPair) -> Message:
    """Return what there is to say of two models."""
    value = pair.difference.value
    if value is None or pair.adjusted_p_value is None:
        return Message(
            "comparison.pair_undefined",
            {"first": pair.first_name, "second": pair.second_name, "reason": pair.reason},
        )
    better = pair if value >= 0 else pair.turned()
    values = {
        "first": better.first_name,
        "second": better.second_name,
        "n": pair.n,
        "p": pair.adjusted_p_value,
        "smallest": pair.smallest_detectable,
        **_difference(better),
    }
    return Message("comparison.pair_apart" if pair.better else "comparison.pair_alike", values)


def _difference(pair: ModelPair) -> dict[str, Any]:
    found = pair.difference
    return {
        "next": pair.second_name,
        "difference": found.value,
        "low": found.low,
        "high": found.high,
    }
